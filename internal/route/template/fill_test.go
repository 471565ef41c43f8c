package template

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// asker is a client for tests.
type asker struct {
	address netip.Addr
	id      string
}

func (a *asker) ClientAddress() netip.Addr { return a.address }
func (a *asker) RequestID() []byte         { return []byte(a.id) }

func mustParse(t testing.TB, text string, allowed Placeholders) Template {
	t.Helper()
	parsed, err := Parse(text, allowed)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestPlaceholdersOfAClient(t *testing.T) {
	text := mustParse(t, "<{client}> <{request_id}>", All)
	f := func(who Client, want string) {
		t.Helper()
		if got := string(text.Append([]byte("x "), URL{}, who)); got != "x "+want {
			t.Errorf("got %q, want %q behind what was there", got, want)
		}
	}
	f(&asker{netip.MustParseAddr("192.0.2.1"), "an-id"}, "<192.0.2.1> <an-id>")
	f(&asker{netip.MustParseAddr("2001:db8::1"), ""}, "<2001:db8::1> <>")
	f(&asker{}, "<> <>") // a client of a Unix socket has no address
	f(nil, "<> <>")
}

func TestWhatATemplateIsMadeOf(t *testing.T) {
	f := func(text string, open, ofClient, identifies bool) {
		t.Helper()
		got := mustParse(t, text, All)
		if got.HasPlaceholders() != open || got.OfClient() != ofClient || got.HasRequestID() != identifies {
			t.Errorf("%q: got open %v, of the client %v, with the id %v; want %v, %v, %v", text, got.HasPlaceholders(), got.OfClient(), got.HasRequestID(), open, ofClient, identifies)
		}
		if want := strings.NewReplacer("{{", "{", "}}", "}").Replace(text); !open && got.Text() != want {
			t.Errorf("%q: got %q", text, got.Text())
		}
	}
	f("", false, false, false)
	f("{{plain}}", false, false, false)
	f("{uri}", true, false, false)
	f("a {client}", true, true, false)
	f("{request_id}{host}", true, true, true)
}

func TestALocationIsFilledWithTheURL(t *testing.T) {
	f := func(text, scheme, host, target, want string) {
		t.Helper()
		l, err := ParseLocation(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(l.Append(nil, URL{Scheme: scheme, Host: []byte(host), Target: []byte(target)})); got != want {
			t.Errorf("%s for %s://%s%s: got %q, want %q", text, scheme, host, target, got, want)
		}
	}
	f("https://{host}{uri}", "http", "edge.test:8080", "/a?b", "https://edge.test/a?b")
	f("https://{hostport}{path}?x={query}", "http", "edge.test:8080", "/a?b", "https://edge.test:8080/a?x=b")
	f("{scheme}://www.{host}/{port}", "https", "edge.test", "/", "https://www.edge.test/443")
	f("https://{host}{uri}", "http", "edge.test", "*", "https://edge.test/")
	f("https://{host}{uri}", "http", "edge.test", "//evil.example/\\x?", "https://edge.test//evil.example/%5Cx?")
	if !(Location{}).IsZero() || (Location{url: mustParse(t, "/", OfURL)}).IsZero() {
		t.Error("want the zero Location alone to be none")
	}
}

func TestFillingAllocatesNothing(t *testing.T) {
	text, u := mustParse(t, "{scheme} {host} {port} {uri} {client} {request_id}", All), URL{Scheme: "http", Host: []byte("edge.test:8080"), Target: []byte("/a?b c")}
	var who Client = &asker{address: netip.MustParseAddr("192.0.2.1")}
	room := make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() { room = text.Append(room[:0], u, who) }); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

// FuzzLocation: whatever is asked for, the redirect of a host stays at it, and no line ends in it.
func FuzzLocation(f *testing.F) {
	for _, target := range []string{"/", "*", "", "//evil.example", "/\r\nSet-Cookie: a=b", "/\\evil.example", "/a?b#c", "/%", "/@evil.example", "/ä"} {
		f.Add(target)
	}
	to, err := ParseLocation("https://{host}{uri}")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, target string) {
		if target != "*" && !strings.HasPrefix(target, "/") {
			return // it is no target of a request (RFC 9112 section 3.2)
		}
		got := to.Append(nil, URL{Scheme: "http", Host: []byte("edge.test"), Target: []byte(target)})
		for _, c := range got {
			if c <= ' ' || c >= 0x7f {
				t.Fatalf("%q: got %q", target, got)
			}
		}
		if rest, ok := strings.CutPrefix(string(got), "https://edge.test/"); !ok {
			t.Fatalf("%q: got %q", target, got)
		} else if u, err := url.Parse("https://edge.test/" + rest); err == nil && u.Host != "edge.test" {
			t.Fatalf("%q: got %q, which is at %q", target, got, u.Host)
		}
	})
}
