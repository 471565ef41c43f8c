package queryrules

import (
	"bytes"
	"testing"

	"edgeproxy/internal/http/wire"
)

// rule returns a new rule of a path, which ignores u.
func rule(t *testing.T, table *Table, path uint64) *Rule {
	t.Helper()
	said := table.Teach(path, []byte("/"), fields(`params=("u")`), at(0))
	if said.Rule == nil {
		t.Fatal("got no rule")
	}
	return said.Rule
}

func keyOf(r *Rule, target string) string {
	_, key := r.AppendKey([]byte("before"), "http", []byte("a.example"), []byte(target))
	return string(key)
}

func TestTargetsThatMeanTheSameShareAKey(t *testing.T) {
	table := New(0)
	r, other := rule(t, table, 1), rule(t, table, 2)
	f := func(a, b string, want bool) {
		t.Helper()
		if got := keyOf(r, a) == keyOf(r, b); got != want {
			t.Errorf("%s and %s: got %v, want %v", a, b, got, want)
		}
	}
	f("/b", "/b", true)
	f("/b?u=1", "/b", true)
	f("/b?u=1&a=2&u=3", "/b?a=2", true)
	f("/b?a=1", "/b?a=2", false)
	f("/b?a=1", "/c?a=1", false)
	if keyOf(r, "/b") == keyOf(other, "/b") {
		t.Error("two rules have one key")
	}
}

// The one target that stands for all has their key, and stands for itself.
func TestTargetOfAKeyHasThatKey(t *testing.T) {
	r := rule(t, New(0), 1)
	for _, target := range []string{"/b", "/b?", "/b?u", "/b?u=1", "/b?a=1&u=2", "/b?a=%31", "/b?a=1&&b", "/b?a+b=c"} {
		one := r.AppendTarget(nil, []byte(target))
		if keyOf(r, string(one)) != keyOf(r, target) {
			t.Errorf("%s: %s has another key", target, one)
		}
		if again := r.AppendTarget(nil, one); !bytes.Equal(again, one) {
			t.Errorf("%s: got %s and then %s", target, one, again)
		}
	}
}

func TestPathKeyBeginsTheKeysOfThePath(t *testing.T) {
	r := rule(t, New(0), 1)
	if _, ok := PathKey("http", []byte("a.example"), []byte("/b")); ok {
		t.Error("of a target that ends before the query: got one")
	}
	got, ok := PathKey("http", []byte("a.example"), []byte("/b?a"))
	path, whole := wire.SearchKey([]byte(keyOf(r, "/b?a=1")))
	if !ok || !bytes.Equal(got, path) {
		t.Errorf("got %q and %v, want %q", got, ok, path)
	}
	if string(whole) != keyOf(r, "/b?a=1") {
		t.Errorf("got the key %q in %q", whole, keyOf(r, "/b?a=1"))
	}
}
