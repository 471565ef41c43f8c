package rfc9111

import (
	"testing"

	"edgeproxy/internal/http/field"
)

func TestWeakened(t *testing.T) {
	f := func(want string, tags ...string) {
		t.Helper()
		var h field.List
		for _, tag := range tags {
			h.Add("Etag", tag)
		}
		if got, ok := Weakened(h); ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %s, %v, want %s", tags, got, ok, want)
		}
	}
	f(`W/"a"`, `"a"`)
	f(`W/"a"`, `W/"a"`)
	f("")
	f("", "a")
	f("", `"a"`, `"b"`)
}

func TestListsWeaklyAlone(t *testing.T) {
	f := func(want bool, tag string, lines ...string) {
		t.Helper()
		if got := ListsWeaklyAlone(lines, tag); got != want {
			t.Errorf("%s in %q: got %v, want %v", tag, lines, got, want)
		}
	}
	f(true, `"a"`, `W/"a"`)
	f(true, `"a"`, `"b", W/"a"`)
	f(true, `"a"`, `"b"`, ` , W/"a"`)
	f(false, `"a"`, `W/"a", "a"`)
	f(false, `"a"`, `"a"`)
	f(false, `"a"`, `W/"b"`)
	f(false, `W/"a"`, `W/"a"`)
	f(false, `a`, `W/a`)
	f(false, `"a"`, `*`)
	f(false, `"a"`)
}
