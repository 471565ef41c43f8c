package rfc9111

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNoVarySearch(t *testing.T) {
	f := func(want NoVarySearch, values ...string) {
		t.Helper()
		var lines []string
		for _, v := range values {
			lines = append(lines, "No-Vary-Search: "+v)
		}
		got, ok := ParseNoVarySearch(head(t, lines...))
		if !ok || !cmp.Equal(got, want) {
			t.Errorf("%q: got %+v %v, want %+v", values, got, ok, want)
		}
	}
	names := func(n ...string) []string { return n }
	f(NoVarySearch{Unordered: true}, "key-order")
	f(NoVarySearch{Unordered: true}, "key-order=?1")
	f(NoVarySearch{Unordered: true}, "params=(), key-order")
	f(NoVarySearch{Names: names("a", "b")}, `params=("b" "a" "b")`)
	f(NoVarySearch{Names: names("a")}, `params=("a");x, future="x"`)
	f(NoVarySearch{Names: names("a"), Unordered: true}, `params=("a")`, "key-order")
	f(NoVarySearch{Except: true, Names: names("x")}, `except=("x")`)
	f(NoVarySearch{Except: true}, "except=()")
	f(NoVarySearch{Names: names("100%", "é 気")}, `params=("%C3%A9+%E6%B0%97" "100%")`)
	f(NoVarySearch{Names: names("a")}, `params=("a"), key-order=?0`)
}

// If the field is absent or invalid, every difference matters.
func TestInvalidNoVarySearch(t *testing.T) {
	f := func(values ...string) {
		t.Helper()
		var lines []string
		for _, v := range values {
			lines = append(lines, "No-Vary-Search: "+v)
		}
		if got, ok := ParseNoVarySearch(head(t, lines...)); ok || !cmp.Equal(got, NoVarySearch{}) {
			t.Errorf("%q: got %+v, want none", values, got)
		}
	}
	f()
	f("")
	f("future")
	f("params=()")
	f("key-order=?0")
	f(`key-order="not a boolean"`)
	f("key-order=1")
	f("key-order=(a)")
	f(`params="not an inner list"`)
	f("params")
	f("params=?0")
	f("params=(not-a-string)")
	f(`params=("a" 1)`)
	f(`except="not an inner list"`)
	f("except=(not-a-string)")
	f("except")
	f(`params, except=("x")`)
	f(`params=("a"), except=("x")`)
	f("params=(), except=()")
	f(`params=("a"), key-order="x"`)
	f(`params=("a"`)
	f(`params=("a"),`)
	f(`except=("%f6")`)
	f(`params=("a"` + strings.Repeat(` "a"`, maxStructuredParts) + ")")
}

func TestAppendQuery(t *testing.T) {
	f := func(v NoVarySearch, want string, queries ...string) {
		t.Helper()
		for _, q := range queries {
			if got := string(v.AppendQuery([]byte("key?"), []byte(q))); got != "key?"+want {
				t.Errorf("%+v, %q: got %q, want %q", v, q, got, "key?"+want)
			}
		}
	}
	// One parameter may be written in different ways.
	loose := NoVarySearch{Unordered: true}
	f(loose, "", "", "&", "&&&")
	f(loose, "a=x", "a=x", "%61=%78", "a=x&&&&", "&a=x")
	f(loose, "a=", "a=", "a", "a&")
	f(loose, "a=+", "a=%20", "a=+", "a= ")
	f(loose, "%C3%A9=%26", "é=%26", "%c3%A9=%26")
	f(loose, "=", "=")
	f(loose, "=a", "=a")
	f(loose, "a=b%3Dc", "a=b=c", "a=b%3dc")
	f(loose, "a=%25zz%252", "a=%zz%2")
	f(loose, "a=~-._*", "a=~-._*", "a=%7E%2D%2e%5f%2a") // the normal form of a URI

	// Order: by name, and for one name as it came.
	f(loose, "a=2&a=1&b=3", "b=3&a=2&a=1", "a=2&b=3&a=1", "a=2&a=1&b=3")
	f(loose, "a=1&a=2", "a=1&a=2")
	f(NoVarySearch{Names: []string{"x"}}, "b=3&a=2", "b=3&a=2")

	// Names.
	f(NoVarySearch{Names: []string{"utm", "x"}}, "a=1&b=2", "utm=5&a=1&x&b=2", "a=1&b=2", "a=1&%75tm=9&b=2&utm=8")
	f(NoVarySearch{Except: true, Names: []string{"id"}}, "id=1&id=2", "id=1&z=9&id=2", "id=1&id=2")
	f(NoVarySearch{Except: true, Names: []string{"id"}}, "", "z=9", "", "idx=1&i=2")
	f(NoVarySearch{Except: true}, "", "a", "b=2&c")

	// Bytes that are not UTF-8 may mean any name, so they always matter.
	f(NoVarySearch{Except: true}, "%F6=1", "%f6=1&a=2")
	f(NoVarySearch{Names: []string{"a"}}, "b=%FF", "a=1&b=%ff")
}

func TestQueryOfManyParametersIsComparedAsItStands(t *testing.T) {
	v := NoVarySearch{Except: true}
	q := strings.Repeat("a&", maxParameters)
	if got := string(v.AppendQuery(nil, []byte(q))); got != "" {
		t.Errorf("%d parameters: got %q, want nothing left", maxParameters, got)
	}
	q += "a"
	if got := string(v.AppendQuery(nil, []byte(q))); got != q {
		t.Errorf("%d parameters: got %q, want the query", maxParameters+1, got)
	}
}

func TestAppendQueryOfLongQuery(t *testing.T) {
	var parts []string
	for i := range 200 {
		parts = append(parts, fmt.Sprintf("name%03d=%s", i, strings.Repeat("v", 20)))
	}
	want := strings.Join(parts, "&")
	reversed := make([]string, 0, len(parts))
	for _, part := range slices.Backward(parts) {
		reversed = append(reversed, part)
	}
	v := NoVarySearch{Unordered: true}
	if got := string(v.AppendQuery(nil, []byte(strings.Join(reversed, "&")))); got != want {
		t.Errorf("got %.60q…, want %.60q…", got, want)
	}
}
