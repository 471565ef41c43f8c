package field

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCanonical(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Canonical(in); got != want {
			t.Errorf("Canonical(%q): got %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("host", "Host")
	f("CONTENT-TYPE", "Content-Type")
	f("x--y", "X--Y")
	f("eTag", "Etag")
	f("Cache-Control", "Cache-Control")
}

func TestCanonicalOfCanonicalDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Canonical("Cache-Control") }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestListKeepsOrderAndRepeats(t *testing.T) {
	var l List
	l.Add("Vary", "Accept")
	l.Add("Etag", `"a"`)
	l.Add("Vary", "Cookie")
	if got, want := l.Values("Vary"), []string{"Accept", "Cookie"}; !cmp.Equal(got, want) {
		t.Errorf("Values: got %q, want %q", got, want)
	}
	if v, ok := l.Get("Vary"); !ok || v != "Accept" {
		t.Errorf("Get: got %q %v, want the first line", v, ok)
	}
	if l.Has("Age") {
		t.Error("Has(Age): got true, want false")
	}
	got := l.Without(func(n string) bool { return n == "Vary" })
	if want := (List{{"Etag", `"a"`}}); !cmp.Equal(got, want) {
		t.Errorf("Without: got %v, want %v", got, want)
	}
	if got, want := l.Size(), int64(len("Vary: Accept\r\nEtag: \"a\"\r\nVary: Cookie\r\n")); got != want {
		t.Errorf("Size: got %d, want %d", got, want)
	}
}

func TestValid(t *testing.T) {
	for _, n := range []string{"a", "X-Y", "!#$%&'*+-.^_`|~0"} {
		if !ValidName(n) {
			t.Errorf("ValidName(%q): got false, want true", n)
		}
	}
	for _, n := range []string{"", "a b", "a:", "\x80", "a\t", "(a)"} {
		if ValidName(n) {
			t.Errorf("ValidName(%q): got true, want false", n)
		}
	}
	if !ValidValue("a\tb \x80") || ValidValue("a\x00") || ValidValue([]byte("a\r")) || ValidValue("\x7f") {
		t.Error("ValidValue: wrong verdict")
	}
}

func TestHyphenated(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "Accept": "Accept", "x-B2": "X-B2", "Accept_Language": "Accept-Language", "X.y": "X-Y", "x!": "X-", "X-A~b": "X-A-B",
	} {
		if got := Hyphenated(name); got != want {
			t.Errorf("Hyphenated(%q): got %q, want %q", name, got, want)
		}
		if usual := Usual(name); usual != (Canonical(name) == want) {
			t.Errorf("Usual(%q): got %v", name, usual)
		}
	}
}

// TestValidValueLooksAtEachByte: ValidValue tests eight bytes together.
func TestValidValueLooksAtEachByte(t *testing.T) {
	for length := 1; length <= 20; length++ {
		for at := range length {
			for c := range 256 {
				value := []byte("aaaaaaaaaaaaaaaaaaaa")[:length]
				value[at] = byte(c)
				want := c >= ' ' && c != 0x7f || c == '\t'
				if got := ValidValue(value); got != want {
					t.Fatalf("byte %#x at %d of %d: got %v, want %v", c, at, length, got, want)
				}
			}
		}
	}
	if ValidValue("\t2345678\x00") || ValidValue("1234567\t\x7f") || !ValidValue("\t\x80 \xff~\t!\t") {
		t.Error("beside a tab: wrong verdict")
	}
}
