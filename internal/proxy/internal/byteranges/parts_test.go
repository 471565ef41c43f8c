package byteranges

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

func entryOf(body, contentType string) *cache.Object {
	e := &cache.Entry{Status: 200, Content: cache.InMemory([]byte(body))}
	if contentType != "" {
		e.Header = field.List{{Name: "Content-Type", Value: contentType}}
	}
	return cache.NewObject(e)
}

func bytesOf(e *cache.Object) []byte {
	b, _ := e.Content().Bytes()
	return b
}

// checkParts reads p as a client does and holds it against what was asked for.
func checkParts(t *testing.T, p *Parts, e *cache.Object, ranges []rfc9111.Range) {
	t.Helper()
	var sent bytes.Buffer
	content := slices.Clone(p.Content) // writing uses it up
	if n, err := content.WriteTo(&sent); err != nil || n != p.Length {
		t.Fatalf("got %d bytes and %v, want %d", n, err, p.Length)
	}
	kind, typed := e.Header().Get("Content-Type")
	r := multipart.NewReader(&sent, p.Boundary)
	for _, want := range ranges {
		part, err := r.NextRawPart()
		if err != nil {
			t.Fatalf("part %v: %v", want, err)
		}
		place := fmt.Sprintf("bytes %d-%d/%d", want.First, want.Last, e.Content().Size())
		if got := part.Header.Get("Content-Range"); got != place {
			t.Errorf("got Content-Range %q, want %q", got, place)
		}
		if got := part.Header.Values("Content-Type"); typed && !slices.Equal(got, []string{kind}) || !typed && len(got) > 0 {
			t.Errorf("got Content-Type %q, want %q", got, kind)
		}
		got, err := io.ReadAll(part)
		if err != nil || !bytes.Equal(got, bytesOf(e)[want.First:want.Last+1]) {
			t.Errorf("part %v: got %q %v, want %q", want, got, err, bytesOf(e)[want.First:want.Last+1])
		}
	}
	if _, err := r.NextRawPart(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last part: got %v, want the end", err)
	}
}

func TestMultipartHasTheRequestedRanges(t *testing.T) {
	f := func(body, contentType string, ranges ...rfc9111.Range) {
		t.Helper()
		e := entryOf(body, contentType)
		p := New(e, ranges)
		if p == nil {
			t.Fatalf("%v of %q: got the whole, want parts", ranges, body)
		}
		checkParts(t, p, e, ranges)
	}
	two := []rfc9111.Range{{First: 0, Last: 1}, {First: 4, Last: 5}}
	f("0123456789", "text/plain; charset=utf-8", two...)
	f("0123456789", "", two...)
	f("0123456789", "text/plain", rfc9111.Range{First: 9, Last: 9}, rfc9111.Range{First: 0, Last: 8})
	// Ends of lines and hyphens around the delimiters.
	f("\r\n--\r\n--\r\n", "a/b", two...)
	f("--part-of-a-stored-body-", "a/b", rfc9111.Range{First: 0, Last: 23}, rfc9111.Range{First: 0, Last: 22})
	// A boundary of one part in another, whole and cut in two.
	f("--part-of-a-stored-body-0 and more", "a/b", rfc9111.Range{First: 30, Last: 30}, rfc9111.Range{First: 0, Last: 27})
	f("\r\n--part-of-a-stored-body-0--\r\n", "a/b", rfc9111.Range{First: 0, Last: 20}, rfc9111.Range{First: 21, Last: 30})
}

// A large body goes out from where it is.
func TestMultipartSharesTheStoredBody(t *testing.T) {
	e := entryOf(strings.Repeat("x", 1<<20), "a/b")
	ranges := []rfc9111.Range{{First: 1 << 19, Last: 1<<20 - 1}, {First: 0, Last: 99999}}
	p := New(e, ranges)
	if p == nil {
		t.Fatal("got the whole, want parts")
	}
	for i, r := range ranges {
		if got := p.Content[2*i+1]; &got[0] != &bytesOf(e)[r.First] || int64(len(got)) != r.Length() {
			t.Errorf("part %v is a copy, or not %d bytes", r, r.Length())
		}
	}
}

// However ranges are chosen, the answer is not much longer than the whole.
func TestMultipartIsNotMuchLongerThanTheWhole(t *testing.T) {
	bytewise := func(n int) (ranges []rfc9111.Range) {
		for i := range int64(n) {
			ranges = append(ranges, rfc9111.Range{First: 2 * i, Last: 2 * i})
		}
		return ranges
	}
	f := func(size int, contentType string, count int, want bool) {
		t.Helper()
		p := New(entryOf(strings.Repeat("x", size), contentType), bytewise(count))
		if (p != nil) != want {
			t.Errorf("%d ranges of %d bytes, type of %d: got parts %v, want %v", count, size, len(contentType), p != nil, want)
		}
		if p != nil && p.Length > int64(size)+spareBytes {
			t.Errorf("%d ranges of %d bytes: got %d bytes", count, size, p.Length)
		}
	}
	f(32, "text/html; charset=utf-8", 16, true)
	f(2000, "text/html; charset=utf-8", 1000, false)
	f(1<<20, "text/html; charset=utf-8", 1000, true)
	f(32, "text/html; x="+strings.Repeat("x", 4<<10), 2, false)
	f(1<<20, "text/html; x="+strings.Repeat("x", 4<<10), 16, true)
	f(1<<20, "text/html; x="+strings.Repeat("x", 16<<10), 1000, false)
}

// The room that is made for the framing is enough, or it would be made twice; and
// not much more, or answers would be refused that are short enough.
func TestMultipartFramingFitsItsBuffer(t *testing.T) {
	f := func(size int, contentType string, ranges ...rfc9111.Range) {
		t.Helper()
		p := New(entryOf(strings.Repeat("x", size), contentType), ranges)
		framing := p.Length
		for _, r := range ranges {
			framing -= r.Length()
		}
		line := ""
		if contentType != "" {
			line = "\r\nContent-Type: " + contentType
		}
		got := framingBytes(len(ranges), line, int64(size))
		if most := framing + 2 + int64(len(ranges)*3*len(fmt.Sprint(size))); got < framing+2 || got > most {
			t.Errorf("%v of %d bytes: got room for %d, want %d to %d", ranges, size, got, framing+2, most)
		}
	}
	f(10, "", rfc9111.Range{First: 0, Last: 0}, rfc9111.Range{First: 9, Last: 9})
	f(100000, "text/plain", rfc9111.Range{First: 90000, Last: 99999}, rfc9111.Range{First: 80000, Last: 80001}, rfc9111.Range{First: 0, Last: 9})
}

// Any Range of any body gives what was asked for, or the whole, and never much
// more than the whole.
func FuzzRangeOfAStoredBody(f *testing.F) {
	for _, value := range []string{"bytes=0-1,4-5", "bytes=-1,,5-", "bytes=0-0,2-2,4-4", "bytes=0-,0-", "bytes=99-,0-", "bytes=1-0,2-3", "bytes=3-9,0-4"} {
		f.Add(value, "0123456789", "text/plain", 16)
	}
	f.Add("bytes=0-25,30-", "--part-of-a-stored-body-0, --part-of-a-stored-body-1", "", 2)
	f.Fuzz(func(t *testing.T, value, body, contentType string, most int) {
		if !field.ValidValue(contentType) || contentType != strings.TrimSpace(contentType) {
			t.Skip("no value of a field")
		}
		most = max(0, min(most, 1000))
		e := entryOf(body, contentType)
		size := int64(len(body))
		ranges, kind := Several([]byte(value), size, most)
		if kind != rfc9111.RangeSatisfiable {
			if len(ranges) > 0 {
				t.Fatalf("%q: got %v of kind %d", value, ranges, kind)
			}
			return
		}
		for _, r := range ranges {
			if r.First < 0 || r.Last < r.First || r.Last >= size {
				t.Fatalf("%q: got %v of %d bytes", value, r, size)
			}
		}
		if len(ranges) == 0 || len(ranges) > most {
			t.Fatalf("%q: got %d ranges, want 1 to %d", value, len(ranges), most)
		}
		if p := New(e, ranges); p != nil && len(ranges) > 1 {
			if p.Length > size+spareBytes {
				t.Fatalf("%q: got %d parts in %d bytes of %d", value, len(ranges), p.Length, size)
			}
			checkParts(t, p, e, ranges)
		}
	})
}
