package wire

import (
	"slices"
	"testing"
)

func TestKeyURLIsTheURLOfTheKey(t *testing.T) {
	f := func(key []byte, scheme, host, target string) {
		t.Helper()
		for _, more := range []string{"", "\x05selec", "G\x01x"} {
			s, h, u, ok := KeyURL(append(slices.Clone(key), more...))
			if !ok || string(s) != scheme || string(h) != host || string(u) != target {
				t.Errorf("%q: got %q %q %q %v, want %q %q %q", key, s, h, u, ok, scheme, host, target)
			}
		}
	}
	f(AppendKey(nil, "http", []byte("a.example:8080"), []byte("/b?c=d")), "http", "a.example:8080", "/b?c=d")
	f(AppendKey(nil, "https", []byte("a"), []byte("*")), "https", "a", "*")
	f(AppendSearchKey(nil, "http", []byte("a"), []byte("/b"), 7, []byte("c=d")), "http", "a", "/b?c=d")
	f(AppendSearchKey(nil, "http", []byte("a"), []byte("/b"), 1<<60, nil), "http", "a", "/b")

	for _, whole := range [][]byte{
		AppendKey(nil, "http", []byte("a.example"), []byte("/b")), AppendSearchKey(nil, "http", []byte("a"), []byte("/b"), 7, []byte("c=d")),
	} {
		for n := range whole {
			if _, _, _, ok := KeyURL(whole[:n]); ok {
				t.Errorf("%q: got a URL, want none", whole[:n])
			}
		}
	}
	if _, _, _, ok := KeyURL([]byte("X\x01a\x01b\x01c")); ok {
		t.Error("another class: got a URL, want none")
	}
}

// The target of a search key has bytes of its own.
func TestKeyURLWritesNoKey(t *testing.T) {
	key := AppendSearchKey(nil, "http", []byte("a"), []byte("/b"), 7, []byte("c=d"))
	before := slices.Clone(key)
	_, _, target, _ := KeyURL(key)
	target[0] = 'X'
	if !slices.Equal(key, before) {
		t.Errorf("got %q, want %q", key, before)
	}
}
