package rfc9111

import "testing"

// RFC 9110 sections 14.1.1, 14.1.2 and 14.2.
func TestParseRange(t *testing.T) {
	f := func(value string, size, first, last int64, kind RangeKind) {
		t.Helper()
		gotFirst, gotLast, got := ParseRange([]byte(value), size)
		if gotFirst != first || gotLast != last || got != kind {
			t.Errorf("%q of %d: got %d-%d %v, want %d-%d %v", value, size, gotFirst, gotLast, got, first, last, kind)
		}
	}
	found := func(value string, size, first, last int64) { t.Helper(); f(value, size, first, last, RangeSatisfiable) }
	none := func(value string) { t.Helper(); f(value, 10, 0, 0, RangeNone) }
	beyond := func(value string, size int64) { t.Helper(); f(value, size, 0, 0, RangeUnsatisfiable) }

	found("bytes=0-0", 10, 0, 0)
	found("bytes=0-9", 10, 0, 9)
	found("bytes=2-4", 10, 2, 4)
	found("bytes=002-4", 10, 2, 4)
	found("bytes=2-", 10, 2, 9)
	found("bytes=9-", 10, 9, 9)
	found("bytes=2-99", 10, 2, 9)
	found("bytes=2-99999999999999999999999", 10, 2, 9)
	found("bytes=-1", 10, 9, 9)
	found("bytes=-10", 10, 0, 9)
	found("bytes=-11", 10, 0, 9)
	found("bytes=-99999999999999999999999", 10, 0, 9)
	found(" BYTES=0-1\t", 10, 0, 1)

	beyond("bytes=10-", 10)
	beyond("bytes=10-20", 10)
	beyond("bytes=99999999999999999999999-", 10)
	beyond("bytes=-0", 10)
	beyond("bytes=-0", 0)
	beyond("bytes=0-", 0)
	f("bytes=-5", 0, 0, 0, RangeNone)
	f("bytes=0-", -1, 0, 0, RangeNone)

	none("")
	none("bytes")
	none("bytes=")
	none("bytes=-")
	none("bytes=0")
	none("bytes=4-2")
	none("bytes=a-b")
	none("bytes=0-b")
	none("bytes=+0-1")
	none("bytes=0--1")
	none("bytes=--1")
	none("bytes=0 - 1")
	none("bytes= 0-1")
	none("bytes =0-1")
	none("bytes=0x0-1")
	none("items=0-1")
	none("0-1")
	// Several ranges are answered with the whole.
	none("bytes=0-1,3-4")
	none("bytes=0-1,")
	none("bytes=0-,-1")
	none("bytes=-1,0-")
}

func TestRangeKindHasAWord(t *testing.T) {
	f := func(k RangeKind, want string) {
		t.Helper()
		if got := k.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(RangeNone, "none")
	f(RangeSatisfiable, "satisfiable")
	f(RangeUnsatisfiable, "unsatisfiable")
	f(99, "unknown")
}
