package proxy

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"edgeproxy/internal/http/message"
)

// silent is a source that would wait for the origin.
type silent struct{ t *testing.T }

func (s silent) Read([]byte) (int, error) {
	s.t.Error("read beyond the range")
	return 0, io.ErrUnexpectedEOF
}

func TestARangeDoesNotWaitForWhatFollowsIt(t *testing.T) {
	b := &streamed{&body{src: silent{t}, part: true}}
	if n, err := b.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d, %v, want the end", n, err)
	}
	b = &streamed{&body{p: &Proxy{}, x: &exchange{}, src: silent{t}, part: true}}
	if piece, err := b.Next(); len(piece) != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %q, %v, want the end", piece, err)
	}
}

// TestAStreamIsTheSameReadOrAskedForPieces: a front may do either.
func TestAStreamIsTheSameReadOrAskedForPieces(t *testing.T) {
	const text = "0123456789"
	f := func(name string, src func() io.Reader, skip, left int64, part bool, want string, whole bool, wantErr error) {
		t.Helper()
		begin := func() *streamed {
			x := &exchange{routed: routed{incoming: incoming{req: &message.Request{}}}}
			return &streamed{&body{p: &Proxy{}, x: x, src: src(), skip: skip, left: left, part: part}}
		}
		check := func(how string, b *streamed, got string, err error) {
			t.Helper()
			if got != want || !errors.Is(err, wantErr) || b.whole != whole {
				t.Errorf("%s, %s: got %q, %v, whole %v; want %q, %v, %v", name, how, got, err, b.whole, want, wantErr, whole)
			}
		}
		b := begin()
		read, err := io.ReadAll(b)
		check("read", b, string(read), err)
		b = begin()
		var pieces strings.Builder
		for err = nil; err == nil; {
			var piece []byte
			piece, err = b.Next()
			pieces.Write(piece)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		check("in pieces", b, pieces.String(), err)
	}
	once := func() io.Reader { return strings.NewReader(text) }
	with := func() io.Reader { return iotest.DataErrReader(strings.NewReader(text)) } // the end comes with the last bytes
	each := func() io.Reader { return iotest.OneByteReader(strings.NewReader(text)) }
	for name, src := range map[string]func() io.Reader{"at once": once, "with its end": with, "byte by byte": each} {
		f(name+", unknown length", src, 0, -1, false, text, true, nil)
		f(name+", whole", src, 0, 10, false, text, true, nil)
		f(name+", a range", src, 3, 4, true, "3456", false, nil)
		f(name+", the end", src, 6, 4, true, "6789", name == "with its end", nil)
		f(name+", too short", src, 0, 11, false, text, false, io.ErrUnexpectedEOF)
		f(name+", too long", src, 0, 9, false, text[:9], false, nil)
	}
}

// counted counts the reads of a source.
type counted struct {
	io.Reader
	reads int
}

func (c *counted) Read(p []byte) (int, error) {
	c.reads++
	return c.Reader.Read(p)
}

// TestASkipReadsWholeBuffers: the front asks for no more than the range has. What comes before it
// was read in pieces as short as that: a range of one byte cost a read for each byte before it.
func TestASkipReadsWholeBuffers(t *testing.T) {
	const before = 64 * streamBuffer
	src := &counted{Reader: strings.NewReader(strings.Repeat("a", before) + "b" + "c")}
	b := &streamed{&body{p: &Proxy{}, x: &exchange{routed: routed{incoming: incoming{req: &message.Request{}}}}, src: src, skip: before, left: 1, part: true}}
	var room [1]byte
	if n, err := b.Read(room[:]); n != 1 || room[0] != 'b' || err != nil {
		t.Errorf("got %q and error %v, want the byte", room[:n], err)
	}
	if want := before/streamBuffer + 1; src.reads > want {
		t.Errorf("got %d reads, want %d", src.reads, want)
	}
}
