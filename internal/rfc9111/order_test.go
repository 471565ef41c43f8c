package rfc9111

import (
	"strings"
	"testing"
)

func TestOrderThatMeansNothingSelectsNothing(t *testing.T) {
	f := func(o Variants, name, a, b string, same bool) {
		t.Helper()
		x := o.AppendField([]byte("before"), name, [][]byte{[]byte(a)})
		y := o.AppendField([]byte("before"), name, [][]byte{[]byte(b)})
		if (string(x) == string(y)) != same {
			t.Errorf("%s: %q and %q: got %q and %q, want the same: %v", name, a, b, x, y, same)
		}
	}
	var plain Variants
	f(plain, "Accept-Encoding", "gzip, br", "br, gzip", true)
	f(plain, "Accept-Encoding", "gzip, br;q=0.5", "BR;q=0.5,gzip", true)
	f(plain, "Accept-Encoding", "gzip, br", "gzip, br;q=0.5", false)
	f(plain, "Accept-Encoding", "gzip", "gzip, gzip", false)
	f(plain, "Accept-Encoding", "", "gzip", false)
	f(plain, "Accept-Language", "en, de", "de, en", false)
	f(Variants{AnyLanguageOrder: true}, "Accept-Language", "en, de", "de, en", true)
	f(Variants{AnyLanguageOrder: true}, "X-Other", "a, b", "b, a", false)
	long := strings.Repeat("a, ", maxSorted)
	f(plain, "Accept-Encoding", long+"b", "b, "+long[:len(long)-2], false) // too long to be sorted
	f(plain, "Accept-Encoding", long[3:]+"b", "b, "+long[3:len(long)-2], true)
}

func TestSortingMembersAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 1024)
	values := [][]byte{[]byte("zstd, gzip;q=0.8, deflate, br")}
	if n := testing.AllocsPerRun(100, func() { dst = AppendVariantField(dst[:0], "Accept-Encoding", values) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
