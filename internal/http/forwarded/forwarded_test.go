package forwarded

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// The peer is the first of the chain; 10.0.0.0/8 and 2001:db8:1::/48 are trusted.
var peer = netip.MustParseAddr("10.0.0.1")

func trusted() *Trusted {
	return New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")})
}

// room is a chain with the peer and places for three more.
func room() []netip.Addr { return append(make([]netip.Addr, 0, 4), peer) }

// split makes lines out of text, which "|" separates.
func split(text string) [][]byte {
	var lines [][]byte
	for l := range strings.SplitSeq(text, "|") {
		lines = append(lines, []byte(l))
	}
	return lines
}

func TestTrusted(t *testing.T) {
	if New(nil) != nil || New(nil).Holds(peer) {
		t.Error("no networks: want nobody to be trusted")
	}
	for a, want := range map[string]bool{"10.1.2.3": true, "11.0.0.1": false, "2001:db8:1::5": true, "2001:db8:2::5": false} {
		if got := trusted().Holds(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: got %v, want %v", a, got, want)
		}
	}
	if trusted().Holds(netip.Addr{}) {
		t.Error("the zero address is trusted")
	}
}

func TestXForwardedFor(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := fmt.Sprint(trusted().XForwardedFor(room(), split(text))); got != "[10.0.0.1"+want+"]" {
			t.Errorf("%q: got %s, want %s behind the peer", text, got, want)
		}
	}
	f("192.0.2.1", " 192.0.2.1")
	f("6.6.6.6, 192.0.2.1", " 192.0.2.1")
	f("6.6.6.6, 192.0.2.1, 10.0.0.2", " 10.0.0.2 192.0.2.1")
	f("6.6.6.6|192.0.2.1|10.0.0.2", " 10.0.0.2 192.0.2.1")
	f("10.0.0.3,10.0.0.2", " 10.0.0.2 10.0.0.3")
	f("192.0.2.1:4711", " 192.0.2.1")
	f("2001:db8::1", " 2001:db8::1")
	f("[2001:db8::1]", " 2001:db8::1")
	f("[2001:db8::1]:4711", " 2001:db8::1")
	f("192.0.2.1, 2001:db8:1::2", " 2001:db8:1::2 192.0.2.1")
	f("192.0.2.1, ::ffff:10.0.0.2", " 10.0.0.2 192.0.2.1")
	f("192.0.2.1, 10.0.0.5, 10.0.0.4, 10.0.0.3, 10.0.0.2", " 10.0.0.2 10.0.0.3 10.0.0.4") // no more room
	for _, bad := range []string{
		"", " ", ",", "unknown", "_hidden", "192.0.2.1:", "192.0.2.1:x", "192.0.2.1:123456", "192.0.2", "192.0.2.01", "[192.0.2.1]", "[::1", "::1]",
		"fe80::1%eth0", "[fe80::1%25eth0]", `"192.0.2.1"`, "192.0.2.1 x", "example.com", "for=192.0.2.1",
	} {
		f(bad, "")
		f("192.0.2.1, "+bad, "")
		f("192.0.2.1, "+bad+", 10.0.0.2", " 10.0.0.2")
	}
	if got := trusted().XForwardedFor(room(), nil); len(got) != 1 {
		t.Errorf("no lines: got %v", got)
	}
}

func TestLast(t *testing.T) {
	for text, want := range map[string]string{"https": "https", " https\t": "https", "evil, www": "www", "evil|www": "www", "evil,": "", "": ""} {
		if got := string(Last(split(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if Last(nil) != nil {
		t.Error("no lines: want nil")
	}
}

func TestForwarded(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		chain, proto, host := trusted().Forwarded(room(), split(text))
		if got := strings.TrimSuffix(fmt.Sprintf("%v %s %s", chain, proto, host)[len("[10.0.0.1"):], "  "); strings.TrimSuffix(got, " ") != strings.TrimSuffix(want, " ") {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	f("for=192.0.2.1", " 192.0.2.1]")
	f("for=192.0.2.1;proto=https;host=www.example.com;by=10.0.0.1", " 192.0.2.1] https www.example.com")
	f(`FOR="192.0.2.1:4711";Proto=https;Host="h:81"`, " 192.0.2.1] https h:81")
	f(`for="[2001:db8::1]:_port"; proto = https`, "]") // white space around the equals sign
	f(`for="[2001:db8::1]:_port" ; proto=https ; `, " 2001:db8::1] https ")
	f("for=6.6.6.6;host=evil, for=192.0.2.1;proto=https", " 192.0.2.1] https ")
	f("for=6.6.6.6;host=evil|for=192.0.2.1;proto=https", " 192.0.2.1] https ")
	f("for=6.6.6.6;host=evil, for=192.0.2.1;host=www;proto=https, for=10.0.0.2;proto=http", " 10.0.0.2 192.0.2.1] https www")
	f("for=192.0.2.1, for=10.0.0.2;proto=http", " 10.0.0.2 192.0.2.1] http ")
	f("for=6.6.6.6, for=unknown;proto=https, for=10.0.0.2", " 10.0.0.2] https ")
	f("for=6.6.6.6;host=evil, for=_SEVKISEK;host=www", "]  www")
	f("for=6.6.6.6, proto=https", "] https ")
	f("for=6.6.6.6, for=\"192.0.2.\\1\";proto=https", "] https ")
	f(", ,for=192.0.2.1,;,", " 192.0.2.1]")
	f("for=192.0.2.1;secret=x;secret=y", " 192.0.2.1]") // no name of ours
	f("for=192.0.2.1|", " 192.0.2.1]")
	f("for=192.0.2.1, for=10.0.0.5, for=10.0.0.4, for=10.0.0.3, for=10.0.0.2", " 10.0.0.2 10.0.0.3 10.0.0.4]")
	f(strings.Repeat("for=10.0.0.9, ", 100)+"for=192.0.2.1", " 192.0.2.1]")
	for _, bad := range []string{
		"for", "for=", "=x", "for=192.0.2.1:80", "for=[::1]", `for="192.0.2.1`, `for="192.0.2.1\`, `for="192.0.2.1"x`, "for=192.0.2.1 proto=https",
		"for=192.0.2.1;for=192.0.2.2", "for=192.0.2.1;proto=http;proto=https", "192.0.2.1", "for =192.0.2.1", "for= 192.0.2.1", "for=a/b",
	} {
		f(bad, "]")
		f("for=192.0.2.1, "+bad, "]")
		f(bad+", for=192.0.2.1", "]") // the end of the same line
		f(bad+"|for=192.0.2.1", " 192.0.2.1]")
		f(bad+"|for=10.0.0.2", " 10.0.0.2]")
	}
	f(`for="::1"`, "]")
	f(`for="[192.0.2.1]"`, "]")
	f(`for="192.0.2.1:x"`, "]")
}

// FuzzSpoof: whatever a client has written, behind it stands what the trusted peer
// wrote, in the same line or in one of its own. The client is the one that the peer
// names, or, where the line cannot be read, nobody is believed.
func FuzzSpoof(f *testing.F) {
	for _, s := range []string{"", "6.6.6.6", "for=6.6.6.6", `for=6.6.6.6;x="`, `for="\`, "x=", "for=10.0.0.2,", `for=6.6.6.6, for="10.0.0.2";proto="`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, spoof []byte) {
		trust, client, client6 := trusted(), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
		join := func(text string) [][]byte { return [][]byte{append(slices.Clone(spoof), text...)} }
		apart := func(text string) [][]byte { return [][]byte{spoof, []byte(text)} }
		for _, lines := range [][][]byte{join(", 192.0.2.1"), apart("192.0.2.1")} {
			if got := trust.XForwardedFor(room(), lines); !slices.Equal(got, []netip.Addr{peer, client}) {
				t.Fatalf("%q: got %v", lines, got)
			}
			if got := trust.XForwardedFor(room(), append(lines, []byte("10.0.0.2"))); len(got) != 3 || got[2] != client {
				t.Fatalf("%q and a trusted one: got %v", lines, got)
			}
		}
		told := func(lines [][]byte, want netip.Addr, certain bool) {
			chain, proto, host := trust.Forwarded(room(), lines)
			believed := slices.Equal(chain, []netip.Addr{peer, want}) && string(proto) == "https" && host == nil
			nobody := len(chain) == 1 && proto == nil && host == nil
			if !believed && (certain || !nobody) {
				t.Fatalf("%q: got %v, %q, %q", lines, chain, proto, host)
			}
		}
		told(join(", for=192.0.2.1;proto=https"), client, false)
		told(join(`, for="[2001:db8::1]:4711";proto=https`), client6, false)
		told(apart("for=192.0.2.1;proto=https"), client, true)
		told(apart(`for="[2001:db8::1]:4711";proto=https`), client6, true)
	})
}

func TestReadingAllocatesNothing(t *testing.T) {
	trust := trusted()
	x, fwd := split("6.6.6.6, 2001:db8::1, 10.0.0.2"), split(`for=6.6.6.6, for="[2001:db8::1]:1";proto=https;host=h, for=10.0.0.2`)
	n := testing.AllocsPerRun(100, func() {
		var places [4]netip.Addr
		if got := trust.XForwardedFor(append(places[:0], peer), x); len(got) != 3 {
			t.Fatal(len(got))
		}
		if got, _, _ := trust.Forwarded(append(places[:0], peer), fwd); len(got) != 3 {
			t.Fatal(len(got))
		}
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
