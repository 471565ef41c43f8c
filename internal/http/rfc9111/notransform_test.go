package rfc9111

import (
	"testing"

	"edgeproxy/internal/http/field"
)

func TestNoTransform(t *testing.T) {
	f := func(want bool, name, value string) {
		t.Helper()
		if got := NoTransform(field.List{{Name: "Cache-Control", Value: "public"}, {Name: name, Value: value}}); got != want {
			t.Errorf("%s: %s: got %v, want %v", name, value, got, want)
		}
	}
	f(true, "Cache-Control", "max-age=60, No-Transform")
	f(true, "Cdn-Cache-Control", "no-transform")
	f(false, "Cache-Control", `private="no-transform", x-no-transform`)
	f(false, "X-Control", "no-transform")
}

func TestWithoutCodings(t *testing.T) {
	f := func(lines []string, want string) {
		t.Helper()
		var in [][]byte
		for _, l := range lines {
			in = append(in, []byte(l))
		}
		got := WithoutCodings(Codings(in))
		if string(got) != want || (got == nil) != (lines == nil) {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
	f(nil, "")
	f([]string{""}, "")
	f([]string{"gzip, br"}, "identity")
	f([]string{"identity"}, "identity")
	f([]string{"gzip, identity;q=0"}, "identity;q=0")
}
