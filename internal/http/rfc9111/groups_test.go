package rfc9111

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// RFC 9875 sections 2 and 3.
func TestGroups(t *testing.T) {
	f := func(want []string, values ...string) {
		t.Helper()
		var in, out []string
		for _, v := range values {
			in = append(in, "Cache-Groups: "+v)
			out = append(out, "Cache-Group-Invalidation: "+v)
		}
		if got := Groups(head(t, in...)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", values, got, want)
		}
		for method, want := range map[string][]string{"POST": want, "M-SEARCH": want, "GET": nil, "OPTIONS": nil, "QUERY": nil} {
			if got := InvalidatedGroups(method, head(t, out...)); !slices.Equal(got, want) {
				t.Errorf("%s %q: got %q, want %q", method, values, got, want)
			}
		}
	}
	f(nil)
	f([]string{"a"}, `"a"`)
	f([]string{"A", "a", "b"}, `"b", "a";x=1`, `"A", "a"`)
	f([]string{"", `\"`, "a, b"}, `"a, b", "\\\"", ""`)
	// What is no list of strings counts as absent, all of it.
	f(nil, "")
	f(nil, "a")
	f(nil, `"a", b`)
	f(nil, `"a", ("b")`)
	f(nil, `"a", 1`)
	f(nil, `"a",`)
	f(nil, `"a`)
	f(nil, `"é"`)
	f(nil, `"a"`, `b"`)
	f(nil, `"a"`+strings.Repeat(`, "a"`, maxStructuredParts))
}

// RFC 9875 sections 2 and 3: at least 32 groups of at least 32 characters.
func TestGroupsOfTheSizeThatMustBeSupported(t *testing.T) {
	var groups []string
	for i := range 64 {
		groups = append(groups, fmt.Sprintf(`"%032d"`, i))
	}
	if got := Groups(head(t, "Cache-Groups: "+strings.Join(groups, ", "))); len(got) != 64 {
		t.Errorf("got %d groups, want 64", len(got))
	}
}
