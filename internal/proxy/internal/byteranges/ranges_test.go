package byteranges

import (
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/rfc9111"
)

func TestSeveralRanges(t *testing.T) {
	f := func(line string, size int64, most int, want rfc9111.RangeKind, ranges ...rfc9111.Range) {
		t.Helper()
		got, kind := Several([]byte(line), size, most)
		if kind != want || !slices.Equal(got, ranges) {
			t.Errorf("%.40q of %d bytes, at most %d: got %v of kind %d, want %v of kind %d", line, size, most, got, kind, ranges, want)
		}
	}
	f("bytes=0-1,4-5", 10, 2, rfc9111.RangeSatisfiable, rfc9111.Range{First: 0, Last: 1}, rfc9111.Range{First: 4, Last: 5})
	f("bytes=4-5, 0-1", 10, 2, rfc9111.RangeSatisfiable, rfc9111.Range{First: 4, Last: 5}, rfc9111.Range{First: 0, Last: 1})
	f("bytes=0-4,3-6", 10, 2, rfc9111.RangeSatisfiable, rfc9111.Range{First: 0, Last: 6}) // one together
	f("bytes=99-,0-1", 10, 2, rfc9111.RangeSatisfiable, rfc9111.Range{First: 0, Last: 1})
	f("bytes=10-,99-", 10, 2, rfc9111.RangeUnsatisfiable)
	// The whole is sent.
	f("bytes=0-1,4-5,7-8", 10, 2, rfc9111.RangeNone)
	f("bytes=0-1,4-5", 10, 0, rfc9111.RangeNone)
	f("bytes=0-1,4-5", 10, -1, rfc9111.RangeNone)
	f("bytes=0-1,x", 10, 2, rfc9111.RangeNone)
	f("bytes=0-,0-", 10, 2, rfc9111.RangeNone)
	f("lines=0-1,4-5", 10, 2, rfc9111.RangeNone)
	f("bytes="+strings.Repeat("0-0,", 1<<16), 10, 16, rfc9111.RangeNone)
	f(",,,", 10, 2, rfc9111.RangeNone)
	f("", 10, 2, rfc9111.RangeNone)
}

func TestContentRange(t *testing.T) {
	if got, want := string(AppendContentRange([]byte("A: b\r\n"), 0, 9, 1<<40)), "A: b\r\nContent-Range: bytes 0-9/1099511627776\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
