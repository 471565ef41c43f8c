package wire_test

import (
	"bytes"
	"testing"

	"edgeproxy/internal/http/wire"
)

func TestSearchKeyIsNoOtherKey(t *testing.T) {
	seen := map[string]string{}
	add := func(what string, key []byte) {
		t.Helper()
		if other, ok := seen[string(key)]; ok {
			t.Errorf("%s has the key of %s", what, other)
		}
		seen[string(key)] = what
	}
	add("a target", wire.AppendKey(nil, "http", []byte("a"), []byte("/b?c=")))
	for _, parts := range [][2]string{{"/b", "c="}, {"/bc=", ""}, {"/b", ""}, {"/", "bc="}, {"/b", "c=&d="}} {
		for rule := range uint64(2) {
			add(parts[0]+"?"+parts[1], wire.AppendSearchKey(nil, "http", []byte("a"), []byte(parts[0]), rule, []byte(parts[1])))
		}
	}
}

func TestSearchKeyIsFoundInWhatBeginsWithIt(t *testing.T) {
	path := wire.AppendSearchPath(nil, "http", []byte("a.example:8080"), []byte("/b/c"))
	whole := wire.AppendSearchKey(nil, "http", []byte("a.example:8080"), []byte("/b/c"), 1<<40, []byte("d=e"))
	for _, rest := range []string{"", "\x00selectors", "\x06Accept"} {
		gotPath, gotWhole := wire.SearchKey(append(bytes.Clone(whole), rest...))
		if !bytes.Equal(gotPath, path) || !bytes.Equal(gotWhole, whole) {
			t.Errorf("before %q: got %q and %q, want %q and %q", rest, gotPath, gotWhole, path, whole)
		}
	}
	for n := range whole {
		if gotPath, gotWhole := wire.SearchKey(whole[:n]); gotPath != nil || gotWhole != nil {
			t.Errorf("of the first %d bytes: got %q and %q, want nothing", n, gotPath, gotWhole)
		}
	}
	if _, got := wire.SearchKey(wire.AppendKey(nil, "http", []byte("a"), []byte("/b"))); got != nil {
		t.Errorf("in the key of a target: got %q, want nothing", got)
	}
}
