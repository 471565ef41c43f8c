package rfc9111

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFirstOf(t *testing.T) {
	f := func(value string, first int64, several bool) {
		t.Helper()
		if got, gotSeveral := FirstOf([]byte(value)); got != first || gotSeveral != several {
			t.Errorf("%q: got %d, %v; want %d, %v", value, got, gotSeveral, first, several)
		}
	}
	f("bytes=0-", 0, false)
	f("bytes=7-", 7, false)
	f(" Bytes=7-9 ", 7, false)
	f("bytes=9223372036854775806-", math.MaxInt64-1, false)
	// Nothing is known, or nothing counts.
	f("bytes=-7", 0, false)
	f("bytes=7", 0, false)
	f("bytes=9-7", 0, false)
	f("bytes=99999999999999999999-", 0, false)
	f("pages=7-", 0, false)
	f("pages=7-,8-", 0, false)
	f("bytes=", 0, false)
	f("", 0, false)
	f("bytes=7-8,9-", 0, true)
	f("bytes=7-,", 0, true)
}

func TestAskedOf(t *testing.T) {
	f := func(value string, size, asked int64, ok bool) {
		t.Helper()
		if got, gotOK := AskedOf([]byte(value), size); got != asked || gotOK != ok {
			t.Errorf("%q of %d: got %d, %v; want %d, %v", value, size, got, gotOK, asked, ok)
		}
	}
	f("bytes=0-0", 10, 1, true)
	f("bytes=3-", 10, 7, true)
	f("bytes=-2", 10, 2, true)
	f("bytes=-20", 10, 10, true)
	f("bytes=8-99", 10, 2, true)
	f("bytes=10-", 10, 0, true)
	f("bytes=0-0,2-3", 10, 3, true)
	f("bytes=0-0,,99-", 10, 1, true)
	f("bytes=0-,0-,0-", 10, 10, true)
	// The size is not known.
	f("bytes=7-9", math.MaxInt64, 3, true)
	f("bytes=-9", math.MaxInt64, 9, true)
	f("bytes=7-", math.MaxInt64, math.MaxInt64-7, true)
	f("bytes=7-,7-", math.MaxInt64, math.MaxInt64, true)
	// The whole is sent.
	f("bytes=", 10, 0, false)
	f("bytes=,", 10, 0, false)
	f("bytes=0-0,x", 10, 0, false)
	f("pages=0-0", 10, 0, false)
	f("", 10, 0, false)
}

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

// RFC 9110 sections 14.1.2, 14.2 and 17.15.
func TestAppendRanges(t *testing.T) {
	const size, limit = 100, 4
	f := func(kind RangeKind, value string, want ...Range) {
		t.Helper()
		before := Range{7, 8}
		got, gotKind := AppendRanges([]Range{before}, []byte(value), size, limit)
		if gotKind != kind || got[0] != before || !slices.Equal(got[1:], want) {
			t.Errorf("%q: got %v %v, want %v %v", value, got[1:], gotKind, want, kind)
		}
	}
	f(RangeSatisfiable, "bytes=0-4", Range{0, 4})
	f(RangeSatisfiable, "bytes=0-4,10-14", Range{0, 4}, Range{10, 14})
	f(RangeSatisfiable, "Bytes=10-14 ,\t0-4 , -1", Range{10, 14}, Range{0, 4}, Range{99, 99})
	f(RangeSatisfiable, "bytes=,,0-4,,", Range{0, 4})
	f(RangeSatisfiable, "bytes=0-4,100-,-0", Range{0, 4})
	f(RangeUnsatisfiable, "bytes=100-,200-300")
	f(RangeUnsatisfiable, "bytes=-0")
	f(RangeSatisfiable, "bytes=0-0,1-1,2-2,3-3", Range{0, 0}, Range{1, 1}, Range{2, 2}, Range{3, 3})
	// Two overlaps are borne; more, or more bytes than there are, is not.
	f(RangeSatisfiable, "bytes=0-9,5-14,10-19", Range{0, 9}, Range{5, 14}, Range{10, 19})
	f(RangeNone, "bytes=0-9,0-9,0-9")
	f(RangeNone, "bytes=0-,0-")
	f(RangeNone, "bytes=0-59,40-99")
	f(RangeSatisfiable, "bytes=0-49,50-99", Range{0, 49}, Range{50, 99})
	// One bad range spoils all, and the limit counts what cannot be had too.
	f(RangeNone, "bytes=0-4,x")
	f(RangeNone, "bytes=0-4,4-2")
	f(RangeNone, "bytes=x,0-4")
	f(RangeNone, "bytes=0-0,1-1,2-2,3-3,4-4")
	f(RangeNone, "bytes=100-,101-,102-,103-,104-")
	f(RangeNone, "")
	f(RangeNone, "bytes=")
	f(RangeNone, "bytes=,, ,")
	f(RangeNone, "bytes= 0-4")
	f(RangeNone, "items=0-4")
	f(RangeNone, "bytes="+strings.Repeat("0-0,", 1000))
}

func TestAppendRangesAtTheLargestSize(t *testing.T) {
	got, kind := AppendRanges(nil, []byte("bytes=0-,-1"), math.MaxInt64, 16)
	if kind != RangeNone || len(got) != 0 {
		t.Errorf("more bytes than an int64 counts: got %v %v, want none", got, kind)
	}
	if _, kind := AppendRanges(nil, []byte("bytes=0-"), -1, 16); kind != RangeNone {
		t.Errorf("of unknown size: got %v, want none", kind)
	}
	if _, kind := AppendRanges(nil, []byte("bytes=-5,-6"), 0, 16); kind != RangeNone {
		t.Errorf("suffixes of nothing: got %v, want none", kind)
	}
}

// String returns the kind in one word, for logs and tests.
func (k RangeKind) String() string {
	switch k {
	case RangeNone:
		return "none"
	case RangeSatisfiable:
		return "satisfiable"
	case RangeUnsatisfiable:
		return "unsatisfiable"
	}
	return "unknown"
}
