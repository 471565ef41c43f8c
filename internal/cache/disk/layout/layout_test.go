package layout

import (
	"bytes"
	"errors"
	"testing"
)

var header = Header{SegmentBytes: MaxSegment, Seed: 3, Secret: 0x5ec2e7}

func body(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// whole encodes a record as a segment has it.
func whole(t *testing.T, r *Record, segment uint64, offset int64) ([]byte, Shape) {
	t.Helper()
	s, err := ShapeOf(len(r.Key), len(r.Block), int64(len(r.Body)))
	if err != nil {
		t.Fatal(err)
	}
	b := header.AppendHead(nil, r, s, segment, offset)
	if int64(len(b)) != s.HeadBytes() {
		t.Fatalf("head: got %d bytes, want %d", len(b), s.HeadBytes())
	}
	b = append(b, make([]byte, s.Bytes-int64(len(b)))...)
	copy(b[s.BodyAt:], r.Body)
	return b, s
}

func TestARecordIsReadAsWritten(t *testing.T) {
	f := func(bodyBytes int, kind Kind, aligned bool) {
		t.Helper()
		r := &Record{Hash: 5, Serial: 9, Key: []byte("GET http://a/"), Block: []byte("head"), Body: body(bodyBytes)}
		b, s := whole(t, r, 7, 2*Page)
		h, err := header.ParseHead(b, 7, 2*Page)
		if err != nil {
			t.Fatalf("%d bytes: %v", bodyBytes, err)
		}
		if h.Hash != 5 || h.Serial != 9 || string(h.Key) != "GET http://a/" || string(h.Block) != "head" || h.Shape != s {
			t.Errorf("%d bytes: got %+v", bodyBytes, h)
		}
		if s.Kind() != kind || (s.BodyAt%Page == 0) != aligned {
			t.Errorf("%d bytes: got %v, body at %d", bodyBytes, s.Kind(), s.BodyAt)
		}
		if unit := map[Kind]int64{Small: Unit, Large: Page}[kind]; s.Bytes%unit != 0 {
			t.Errorf("%d bytes: record of %d bytes: want a multiple of %d", bodyBytes, s.Bytes, unit)
		}
		if !h.Check(b[s.BodyAt:][:bodyBytes], 0) {
			t.Errorf("%d bytes: the body is refused", bodyBytes)
		}
		if bodyBytes > ChunkBytes && !h.Check(b[s.BodyAt+ChunkBytes:][:bodyBytes-ChunkBytes], ChunkBytes) {
			t.Errorf("%d bytes: the end of the body is refused", bodyBytes)
		}
	}
	f(0, Small, false)
	f(1, Small, false)
	f(LargeFrom-1, Small, false)
	f(LargeFrom, Large, false)
	f(AlignFrom-1, Large, false)
	f(AlignFrom, Large, true)
	f(3*ChunkBytes+5, Large, true)
}

// A head that is written last has room before the body that was left before its length was known.
func TestABodyMayBeginFurtherBehind(t *testing.T) {
	content := body(3*ChunkBytes + 5)
	r := &Record{Hash: 5, Serial: 9, Key: []byte("k"), Block: []byte("head"), Sums: AppendSums(AppendSums(nil, content[:ChunkBytes]), content[ChunkBytes:])}
	s, err := ShapeOf(1, 4, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	at := HeadRoom(20_000, s.BodyBytes)
	if s, err = s.BodyFrom(at); err != nil || s.BodyAt != at || s.Bytes != Align(at+s.BodyBytes, Page) || at < 20_000 {
		t.Fatalf("got %+v, %v", s, err)
	}
	h, err := header.ParseHead(header.AppendHead(nil, r, s, 7, Page), 7, Page)
	if err != nil || h.Shape != s || !h.Check(content, 0) {
		t.Errorf("got %+v, %v", h.Shape, err)
	}
	for _, wrong := range []int64{0, at + 1, Align(maxBodyAt, Page) + Page} {
		if _, err := s.BodyFrom(wrong); !errors.Is(err, ErrTooLong) {
			t.Errorf("body at %d: got %v, want ErrTooLong", wrong, err)
		}
	}
	s.BodyBytes = AlignFrom - 1
	if _, err := s.BodyFrom(at); !errors.Is(err, ErrTooLong) {
		t.Errorf("a short body: got %v, want ErrTooLong", err)
	}
}

// Each flipped bit of a record is found: by its head or by the checksums of its body.
func TestAFlippedBitIsFound(t *testing.T) {
	r := &Record{Hash: 5, Serial: 9, Key: []byte("GET http://a/"), Block: []byte("head"), Body: body(300)}
	b, s := whole(t, r, 7, Page)
	for at := range s.BodyAt + s.BodyBytes {
		for bit := range 8 {
			b[at] ^= 1 << bit
			h, err := header.ParseHead(b, 7, Page)
			if err == nil && h.Check(b[s.BodyAt:][:s.BodyBytes], 0) {
				t.Fatalf("byte %d bit %d: not found", at, bit)
			}
			b[at] ^= 1 << bit
		}
	}
}

// A record is one in its place alone: a body that has the bytes of a record is none, nor is one of another directory.
func TestARecordInAnotherPlaceIsForeign(t *testing.T) {
	b, _ := whole(t, &Record{Key: []byte("k")}, 7, Page)
	other := header
	other.Secret++
	f := func(what string, h Header, segment uint64, offset int64) {
		t.Helper()
		if _, err := h.ParseHead(b, segment, offset); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: got %v, want ErrForeign", what, err)
		}
	}
	f("another offset", header, 7, 2*Page)
	f("another segment", header, 8, Page)
	f("another directory", other, 7, Page)
	if _, err := header.ParseHead(b, 7, Page); err != nil {
		t.Errorf("its own place: %v", err)
	}
}

func TestPartsAboveTheirBoundsAreRefused(t *testing.T) {
	f := func(key, block int, body int64) {
		t.Helper()
		if _, err := ShapeOf(key, block, body); !errors.Is(err, ErrTooLong) {
			t.Errorf("key %d, block %d, body %d: got %v, want ErrTooLong", key, block, body, err)
		}
	}
	f(MaxKey+1, 0, 0)
	f(0, MaxBlock+1, 0)
	f(0, 0, MaxBody+1)
}

func TestClassesCoverEachLength(t *testing.T) {
	for n := int64(1); n <= MaxSegment; n += 1 + n/50 {
		c := Class(n)
		if got := ClassBytes(c); got < n || (c > 0 && ClassBytes(c-1) >= n) || float64(got) > 1.35*float64(Align(n, Unit))+Unit {
			t.Errorf("%d bytes: class %d of up to %d bytes", n, c, got)
		}
	}
}

func TestASealedSegmentIsReadAsWritten(t *testing.T) {
	entries := []Entry{{Hash: 1 << 63, Offset: Page, Bytes: 192}, {Hash: 5, Offset: MaxSegment - Unit, Bytes: MaxBody}}
	var encoded []byte
	for _, e := range entries {
		encoded = AppendEntry(encoded, e)
	}
	want := Trailer{Number: 7, Kind: Large, Entries: 2, EntriesAt: 2 * Page, Sum: Sum(encoded), Serial: 99}
	b := header.AppendFooter(make([]byte, 2*Page), encoded, want)
	if int64(len(b)) != 2*Page+FooterBytes(2) {
		t.Fatalf("got %d bytes", len(b))
	}
	got, err := header.ParseTrailer(b[len(b)-TrailerBytes:], 7, int64(len(b)))
	if err != nil || got != want {
		t.Errorf("trailer: got %+v, %v, want %+v", got, err, want)
	}
	for i, e := range entries {
		if got := ParseEntry(b[2*Page+i*EntryBytes:]); got != e {
			t.Errorf("entry %d: got %+v, want %+v", i, got, e)
		}
	}
	for at := len(b) - TrailerBytes; at < len(b)-TrailerBytes+52; at++ {
		b[at]++
		if _, err := header.ParseTrailer(b[len(b)-TrailerBytes:], 7, int64(len(b))); err == nil {
			t.Errorf("changed byte %d is not found", at)
		}
		b[at]--
	}
	if _, err := header.ParseTrailer(b[len(b)-TrailerBytes:], 7, int64(len(b))+Page); !errors.Is(err, ErrDamaged) {
		t.Errorf("of a longer file: got %v, want ErrDamaged", err)
	}
}

func TestHeadsOfDirectoryAndSegment(t *testing.T) {
	b := header.Append(nil)
	if got, err := ParseHeader(b); err != nil || got != header {
		t.Errorf("got %+v, %v", got, err)
	}
	b[0]++
	var version *VersionError
	if _, err := ParseHeader(b); !errors.As(err, &version) || version.Got != Version+1 {
		t.Errorf("newer: got %v, want a VersionError", err)
	}
	page := header.AppendSegmentHead(nil, SegmentHead{Number: 3, Kind: Large})
	if len(page) != Page {
		t.Errorf("got %d bytes, want a page", len(page))
	}
	if got, err := header.ParseSegmentHead(page, 3); err != nil || got.Kind != Large {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := header.ParseSegmentHead(page, 4); !errors.Is(err, ErrForeign) {
		t.Errorf("under another name: got %v, want ErrForeign", err)
	}
	page[16] = 9
	if _, err := header.ParseSegmentHead(page, 3); !errors.Is(err, ErrDamaged) {
		t.Errorf("of no kind: got %v, want ErrDamaged", err)
	}
}

func TestARemovalIsReadAsWritten(t *testing.T) {
	want := Removed{Segment: 1 << 40, Offset: 5 * Unit}
	b := header.AppendRemoved(nil, want)
	if got, ok := header.ParseRemoved(b); !ok || got != want || len(b) != RemovedBytes {
		t.Errorf("got %+v, %v", got, ok)
	}
	for at := range b {
		b[at]++
		if _, ok := header.ParseRemoved(b); ok {
			t.Errorf("changed byte %d is not found", at)
		}
		b[at]--
	}
}

// FuzzParse: no bytes make a parser panic, and a head that is taken is within them.
func FuzzParse(f *testing.F) {
	s, _ := ShapeOf(1, 1, 300)
	f.Add(header.AppendHead(nil, &Record{Key: []byte("k"), Block: []byte("b"), Body: body(300)}, s, 7, Page), true)
	f.Add(header.AppendFooter(nil, AppendEntry(nil, Entry{1, Page, 64}), Trailer{Number: 7, Kind: Small, EntriesAt: Page}), false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, repair bool) {
		b = bytes.Clone(b)
		if repair && len(b) >= fixedBytes { // let it past the checksum
			if s, err := header.Need(b, 7, Page); err == nil && int64(len(b)) >= s.HeadBytes() {
				sum := headSum(b[:s.HeadBytes()])
				b[sumAt], b[sumAt+1], b[sumAt+2], b[sumAt+3] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
			}
		}
		if h, err := header.ParseHead(b, 7, Page); err == nil {
			if h.HeadBytes() > int64(len(b)) || h.BodyAt < h.HeadBytes() || h.Bytes < h.BodyAt+h.BodyBytes {
				t.Fatalf("a head beyond its bytes: %+v of %d", h.Shape, len(b))
			}
			if end := h.BodyAt + h.BodyBytes; end <= int64(len(b)) {
				h.Check(b[h.BodyAt:end], 0)
			}
		}
		_, _ = ParseHeader(b)
		_, _ = header.ParseSegmentHead(b, 7)
		if len(b) >= TrailerBytes {
			_, _ = header.ParseTrailer(b[len(b)-TrailerBytes:], 7, int64(len(b)))
		}
	})
}

// A program that knows no start of a log takes it for removals, of segments that no directory has.
func TestTheStartOfALog(t *testing.T) {
	h := Header{Secret: 5}
	for _, want := range []LogStart{{}, {Number: 1, Bytes: LogStartBytes}, {Number: 1<<32 - 1, Bytes: (1<<32 - 1) * RemovedBytes}} {
		b := h.AppendLogStart(nil, want)
		if got, ok := h.ParseLogStart(b); !ok || got != want || len(b) != LogStartBytes {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
		for i := range 2 {
			if r, ok := h.ParseRemoved(b[i*RemovedBytes:]); !ok || r.Segment < 1<<63 {
				t.Errorf("half %d: got %+v, %v, want a removal of a segment that is never there", i, r, ok)
			}
		}
		for i := range b {
			if _, ok := h.ParseLogStart(b[:i]); ok {
				t.Errorf("the first %d bytes pass for a start", i)
			}
			b[i]++
			if _, ok := h.ParseLogStart(b); ok {
				t.Errorf("with another byte %d it passes for a start", i)
			}
			b[i]--
		}
	}
	if _, ok := (Header{Secret: 6}).ParseLogStart(h.AppendLogStart(nil, LogStart{Number: 1})); ok {
		t.Error("the start of another directory passes for ours")
	}
}
