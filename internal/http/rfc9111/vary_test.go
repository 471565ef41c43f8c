package rfc9111

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// RFC 9111 section 4.1, RFC 9110 section 12.5.5.
func TestVaryNames(t *testing.T) {
	f := func(want []string, star bool, values ...string) {
		t.Helper()
		lines := []string{"Cache-Control: max-age=60"}
		for _, v := range values {
			lines = append(lines, "Vary: "+v)
		}
		got, gotStar := VaryNames(head(t, lines...))
		if !cmp.Equal(got, want) || gotStar != star {
			t.Errorf("%q: got %q %v, want %q %v", values, got, gotStar, want, star)
		}
	}
	f(nil, false)
	f(nil, false, "", " , ,")
	f([]string{"Accept"}, false, "accept")
	f([]string{"Accept", "Foo"}, false, "FOO,accept", " Foo ,", "aCCEPT")
	f(nil, true, "*")
	f(nil, true, "*, *")
	f(nil, true, "*", "*")
	f(nil, true, ", *")
	f(nil, true, "", "*")
	f(nil, true, "*, Foo")
	f(nil, true, "Foo, *")
	f(nil, true, "Foo", "Bar , *")
	// What is not a name may stand for anything.
	f(nil, true, "Foo; Bar")
	f(nil, true, "Foo Bar")
	f(nil, true, `"Foo"`)
}

// What needs a dictionary is selected by the dictionary, whatever Vary says (RFC 9842 section 6).
func TestVaryNamesOfWhatNeedsADictionary(t *testing.T) {
	f := func(want []string, star bool, lines ...string) {
		t.Helper()
		got, gotStar := VaryNames(head(t, lines...))
		if !cmp.Equal(got, want) || gotStar != star {
			t.Errorf("%q: got %q %v, want %q %v", lines, got, gotStar, want, star)
		}
	}
	both := []string{"Accept-Encoding", "Available-Dictionary"}
	f(both, false, "Content-Encoding: dcb")
	f(both, false, "Content-Encoding: DCZ", "Vary: accept-encoding")
	f(both, false, "Vary: available-dictionary, accept-encoding", "Content-Encoding: dcb")
	f([]string{"Accept-Encoding", "Available-Dictionary", "Cookie"}, false, "Vary: Cookie", "Content-Encoding: gzip, dcz")
	f(nil, true, "Content-Encoding: dcb", "Vary: *")
	f(nil, false, "Content-Encoding: br")
	f([]string{"Accept-Encoding"}, false, "Content-Encoding: zstd", "Vary: Accept-Encoding")
}

func TestVaryNamesAreBounded(t *testing.T) {
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "x%d,", i)
		}
		return b.String()
	}
	if names, star := VaryNames(head(t, "Vary: "+list(maxVaryNames))); star || len(names) != maxVaryNames {
		t.Errorf("%d names: got %d %v, want all", maxVaryNames, len(names), star)
	}
	if names, star := VaryNames(head(t, "Vary: "+list(maxVaryNames+1))); !star || names != nil {
		t.Errorf("%d names: got %d %v, want star", maxVaryNames+1, len(names), star)
	}
}

func TestVariantMatches(t *testing.T) {
	f := func(same bool, a, b [][]byte) {
		t.Helper()
		ka, kb := AppendVariantField(nil, "Foo", a), AppendVariantField(nil, "Foo", b)
		if got := bytes.Equal(ka, kb); got != same {
			t.Errorf("%q and %q: got equal %v, want %v", a, b, got, same)
		}
	}
	f(true, nil, nil)
	f(true, lines("1"), lines("1"))
	f(false, lines("1", "2"), lines("1, 2")) // an origin may take one of two lines
	f(true, lines(" 1\t"), lines("1"))
	f(true, lines(" 1 ", "\t2"), lines("1", "2 "))
	f(false, lines("1"), lines("2"))
	f(false, lines("1"), nil)
	f(false, lines(""), nil)
	f(true, lines(""), lines(" "))
	f(false, lines("", ""), lines(""))
	f(false, lines("1", "2"), lines("2", "1"))
	f(false, lines("a"), lines("A"))
	f(false, lines("1,2"), lines("1, 2"))
	f(false, lines("gzip"), lines("GZIP")) // a field that nobody here knows
}

// A value must not be able to look like the end of itself and another field.
func TestVariantCannotBeForged(t *testing.T) {
	values := [][][]byte{nil, lines(""), lines("a"), lines("a", "b"), lines("\x01B\x00"), lines("\x00"), lines("\x01B\x01\x01a"), lines(strings.Repeat("a", 200))}
	names := [][]string{nil, {"A"}, {"B"}, {"A", "B"}, {"A\x00"}, {"AB"}}
	seen := map[string]string{}
	var each func(what string, dst []byte, names []string)
	each = func(what string, dst []byte, names []string) {
		if len(names) == 0 {
			if other, dup := seen[string(dst)]; dup {
				t.Errorf("%s and %s give the same bytes %q", what, other, dst)
			}
			seen[string(dst)] = what
			return
		}
		for _, v := range values {
			key := AppendVariantField(bytes.Clone(dst), names[0], v)
			each(fmt.Sprintf("%s %q=%q", what, names[0], v), key, names[1:])
		}
	}
	for _, n := range names {
		each(fmt.Sprintf("%q:", n), nil, n)
	}
}

func TestAppendVariantFieldAppends(t *testing.T) {
	dst := append(make([]byte, 0, 64), "key"...)
	got := AppendVariantField(dst, "Foo", lines(" a ", "b"))
	if want := "key\x03Foo\x02\x01a\x01b"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if &got[0] != &dst[0] {
		t.Error("got a new array, want the one of dst, which has room")
	}
}
