package rfc9111

import (
	"math"
	"testing"
	"time"
)

func part(first, last, size int64) Part {
	return Part{Range: Range{First: first, Last: last}, Size: size}
}

// RFC 9110 section 14.4.
func TestPartOf(t *testing.T) {
	f := func(want Part, ok bool, lines ...string) {
		t.Helper()
		got, gotOK := PartOf(head(t, lines...))
		if got != want || gotOK != ok {
			t.Errorf("%q: got %+v %v, want %+v %v", lines, got, gotOK, want, ok)
		}
	}
	none := func(value string) { t.Helper(); f(Part{}, false, "Content-Range: "+value) }
	f(part(0, 4, 10), true, "Content-Range: bytes 0-4/10")
	f(part(9, 9, 10), true, "Content-Range: BYTES 9-9/010")
	f(part(0, 0, 1), true, "Content-Range: bytes 0-0/1", "Content-Range: bytes 0-0/1")
	f(Part{}, false)
	f(Part{}, false, "Content-Range: bytes 0-4/10", "Content-Range: bytes 0-5/10")
	none("")
	none("bytes")
	none("bytes ")
	none("bytes 0-4")
	none("bytes 0-4/")
	none("bytes 0-4/*")
	none("bytes */10")
	none("bytes 0/10")
	none("bytes -4/10")
	none("bytes 0-/10")
	none("bytes /-10")
	none("bytes 10/4-5")
	none("bytes 5-4/10")
	none("bytes 0-10/10")
	none("bytes 0-4/10x")
	none("bytes  0-4/10")
	none("bytes=0-4/10")
	none("items 0-4/10")
	none("bytes 0-99999999999999999999/99999999999999999999")
	none("bytes 0-4/99999999999999999999")
}

// RFC 9110 section 15.3.7.
func TestAnswersRange(t *testing.T) {
	f := func(want bool, value string, lines ...string) {
		t.Helper()
		if got := AnswersRange([]byte(value), head(t, lines...)); got != want {
			t.Errorf("%q and %q: got %v, want %v", value, lines, got, want)
		}
	}
	is := func(want bool, value, part string) { t.Helper(); f(want, value, "Content-Range: "+part) }
	is(true, "bytes=0-4", "bytes 0-4/10")
	is(true, "bytes=0-4", "bytes 0-4/*")
	is(true, "bytes=0-4", "bytes 0-2/10") // less than was asked for
	is(true, "bytes=0-", "bytes 0-2/10")
	is(true, "bytes=5-", "bytes 5-9/10")
	is(true, "bytes=5-99", "bytes 5-9/10")
	is(true, "bytes=-3", "bytes 7-9/10")
	is(true, "bytes=-99", "bytes 0-9/10")
	is(true, "Bytes=5-6", "BYTES 5-6/10")
	is(true, "bytes=5-6", "bytes 0-9/10") // all there is
	is(false, "bytes=0-4", "bytes 5-9/10")
	is(false, "bytes=0-4", "bytes 5-9/*")
	is(false, "bytes=0-4", "bytes 0-5/10")
	is(false, "bytes=5-6", "bytes 4-6/10")
	is(false, "bytes=5-6", "bytes 6-6/10")
	is(false, "bytes=-3", "bytes 6-9/11")
	is(false, "bytes=10-", "bytes 5-9/10")
	is(false, "bytes=0-4", "bytes 4-0/10")
	is(false, "bytes=0-4", "bytes 0-4/3")
	is(false, "bytes=0-4", "bytes */10")
	is(false, "bytes=0-4", "bytes 0-")
	f(false, "bytes=0-4", "Content-Range: bytes 0-4/10", "Content-Range: bytes 5-9/10")
	// It cannot be told.
	f(true, "bytes=0-4")
	f(true, "bytes=0-4", "Content-Type: multipart/byteranges; boundary=x")
	is(true, "bytes=0-4", "items 5-9/10")
	is(true, "items=0-4", "bytes 5-9/10")
	is(true, "bytes=0-1,4-5", "bytes 0-5/10")
	is(true, "bytes=-3", "bytes 5-9/*")
	is(true, "", "bytes 5-9/10")
}

// RFC 9111 section 3.4.
func TestPartJoin(t *testing.T) {
	f := func(p, q, want Part, ok bool) {
		t.Helper()
		for range 2 {
			if got, gotOK := p.Join(q); got != want || gotOK != ok {
				t.Errorf("%+v and %+v: got %+v %v, want %+v %v", p, q, got, gotOK, want, ok)
			}
			p, q = q, p
		}
	}
	f(part(0, 4, 10), part(5, 9, 10), part(0, 9, 10), true)
	f(part(0, 4, 10), part(2, 6, 10), part(0, 6, 10), true)
	f(part(0, 9, 10), part(2, 6, 10), part(0, 9, 10), true)
	f(part(0, 4, 10), part(0, 4, 10), part(0, 4, 10), true)
	f(part(0, 4, 10), part(6, 9, 10), Part{}, false)
	f(part(0, 4, 10), part(5, 9, 11), Part{}, false)
	top := int64(math.MaxInt64)
	f(part(0, top-2, top), part(top-1, top-1, top), part(0, top-1, top), true)

	if !part(0, 9, 10).Whole() || part(0, 8, 10).Whole() || part(1, 9, 10).Whole() {
		t.Error("Whole: got a part for the whole, or the whole for a part")
	}
	if got := part(2, 6, 10).Length(); got != 5 {
		t.Errorf("Length: got %d, want 5", got)
	}
}

// RFC 9111 section 3.3: a part answers what lies in it, and nothing else.
func TestPartHolds(t *testing.T) {
	f := func(want bool, p Part, ranges ...Range) {
		t.Helper()
		if got := p.Holds(ranges...); got != want {
			t.Errorf("%v in %+v: got %v, want %v", ranges, p, got, want)
		}
	}
	p := part(2, 6, 10)
	f(true, p, Range{2, 6})
	f(true, p, Range{4, 4})
	f(false, p, Range{1, 4})
	f(false, p, Range{4, 7})
	f(false, p, Range{0, 1})
	f(false, p, Range{7, 9})
	f(true, p, Range{2, 3}, Range{5, 6})
	f(false, p, Range{2, 3}, Range{7, 7})
	f(false, p, Range{0, 0}, Range{2, 3})
	// Without a range the whole is asked for.
	f(false, p)
	f(true, part(0, 9, 10))

	// A suffix, and a range without an end, mean the whole's last bytes.
	g := func(want bool, value string) {
		t.Helper()
		ranges, kind := AppendRanges(nil, []byte(value), p.Size, 4)
		if got := kind == RangeSatisfiable && p.Holds(ranges...); got != want {
			t.Errorf("%q in %+v: got %v, want %v", value, p, got, want)
		}
	}
	g(true, "bytes=2-6")
	g(true, "bytes=2-3, 4-4")
	g(false, "bytes=2-")
	g(false, "bytes=-1")
	g(false, "bytes=2-3, -1")
	g(false, "bytes=10-")
}

// RFC 9110 section 8.8.1.
func TestSameStrongly(t *testing.T) {
	strong, weak := Representation{ETag: `"a"`}, Representation{ETag: `W/"a"`}
	dated := Representation{LastModified: received, StrongDate: true}
	undated := Representation{LastModified: received}
	f := func(want bool, a, b Representation) {
		t.Helper()
		if got := SameStrongly(a, b); got != want || SameStrongly(b, a) != want {
			t.Errorf("%+v and %+v: got %v, want %v", a, b, got, want)
		}
	}
	f(true, strong, strong)
	f(true, dated, dated)
	f(false, weak, weak)
	f(false, strong, weak)
	f(false, strong, Representation{ETag: `"b"`})
	f(false, undated, undated)
	f(false, dated, undated)
	f(false, Representation{}, Representation{})
	f(false, dated, Representation{LastModified: received.Add(time.Second), StrongDate: true})
	// A tag on one side is a difference, whatever the dates say.
	f(false, dated, Representation{ETag: `"a"`, LastModified: received, StrongDate: true})
}
