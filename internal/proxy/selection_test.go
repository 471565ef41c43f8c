package proxy

import (
	"strings"
	"testing"

	"edgeproxy/internal/cache"
)

// Whatever ranges are asked for, the answer is within the content, and says what it is.
func TestRangesBecomeAPartSeveralPartsOrTheWhole(t *testing.T) {
	const size, most = 100, 4
	e := cache.NewObject(&cache.Entry{Status: 200, Content: cache.InMemory([]byte(strings.Repeat("0123456789", size/10)))})
	f := func(line string, status int, first, length int64, parts bool) {
		t.Helper()
		c := severalRanges([]byte(line), size, most).asByteRanges(e)
		if c.status != status || (c.parts != nil) != parts {
			t.Errorf("%s: got status %d, several parts %v, want %d, %v", line, c.status, c.parts != nil, status, parts)
		}
		if !parts && (c.first != first || c.length != length) {
			t.Errorf("%s: got %d bytes from %d, want %d from %d", line, c.length, c.first, length, first)
		}
		if parts && c.length != c.parts.Length {
			t.Errorf("%s: got a length of %d, want that of the parts, %d", line, c.length, c.parts.Length)
		}
	}
	f("bytes=0-9", statusPartialContent, 0, 10, false)
	f("bytes=90-1000", statusPartialContent, 90, 10, false)
	f("bytes=-7", statusPartialContent, 93, 7, false)
	f("bytes=0-9,5-19", statusPartialContent, 0, 20, false) // merged into one
	f("bytes=0-9,200-300", statusPartialContent, 0, 10, false)
	f("bytes=0-9,20-29", statusPartialContent, 0, 0, true)
	f("bytes=100-", statusRequestedRangeNotSatisfiable, 0, 0, false)
	f("bytes=100-,200-", statusRequestedRangeNotSatisfiable, 0, 0, false)
	f("bytes=0-0,2-2,4-4,6-6,8-8", 0, 0, size, false) // more than most
	f("bytes=9-0", 0, 0, size, false)
	f("pages=1-2", 0, 0, size, false)
}
