package origin

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// readOnly is a connection that only reads.
type readOnly struct {
	net.Conn
	r io.Reader
}

func (c readOnly) Read(p []byte) (int, error) { return c.r.Read(p) }

// framesOf returns what say writes.
func framesOf(say func(f *framer)) []byte {
	var b bytes.Buffer
	f := &framer{Framer: http2.NewFramer(&b, nil), out: new(writes)}
	f.enc = hpack.NewEncoder(f.out)
	say(f)
	return b.Bytes()
}

// What is in order is read as it came, in whatever pieces.
func TestFramesInOrderAreReadAsTheyCame(t *testing.T) {
	sent := framesOf(func(f *framer) {
		_ = f.WriteSettings()
		f.head(1, false, ":status", "103", "link", "</a>")
		f.head(1, false, ":status", "200", "content-length", "20000", "x-long", strings.Repeat("x", 5000))
		_ = f.WriteData(1, false, bytes.Repeat([]byte("d"), 10_000))
		_ = f.WriteData(1, false, bytes.Repeat([]byte{frameHeaders}, 10_000))
		f.head(1, true, "x-sum", "1", "content-length", "+1")
		_ = f.WritePing(true, [8]byte{1})
		block := f.block(":status", "200", "content-length", "0")
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: block, PadLength: 200})
		_ = f.WriteContinuation(3, true, nil)
		_ = f.WriteGoAway(3, http2.ErrCodeNo, nil)
	})
	for name, r := range map[string]func(io.Reader) io.Reader{
		"at once":      func(r io.Reader) io.Reader { return r },
		"byte by byte": iotest.OneByteReader,
		"in halves":    iotest.HalfReader,
	} {
		for _, size := range []int{1, 7, 4096, 1 << 16} {
			c := newHeadChecker(readOnly{r: r(bytes.NewReader(sent))}, 1<<16)
			var got bytes.Buffer
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{c}, make([]byte, size))
			if err != nil || !bytes.Equal(got.Bytes(), sent) {
				t.Errorf("%s, %d bytes at a time: got %d bytes and %v, want the %d that were sent", name, size, got.Len(), err, len(sent))
			}
		}
	}
}

// Behind a header block that cannot be read nothing can be: the tables of both ends differ.
func TestBehindABrokenHeaderBlockNothingIsRead(t *testing.T) {
	f := func(name string, broken []byte) {
		t.Helper()
		sent := append(bytes.Clone(broken), framesOf(func(f *framer) { f.head(3, true, ":status", "200") })...)
		got, err := io.ReadAll(newHeadChecker(readOnly{r: bytes.NewReader(sent)}, 1<<16))
		if !errors.Is(err, errHeaderBlock) || !bytes.Equal(got, broken) {
			t.Errorf("%s: got %d bytes and %v, want %d and the end", name, len(got), err, len(broken))
		}
	}
	f("an index that is none", []byte{0, 0, 1, frameHeaders, flagEndHeaders, 0, 0, 0, 1, 0xff - 0x40})
	f("the end within a field", []byte{0, 0, 2, frameHeaders, flagEndHeaders, 0, 0, 0, 1, 0, 5})
	f("more padding than bytes", []byte{0, 0, 2, frameHeaders, flagEndHeaders | flagPadded, 0, 0, 0, 1, 9, 0x88})
	f("no room for the priority", []byte{0, 0, 2, frameHeaders, flagEndHeaders | flagPriority, 0, 0, 0, 1, 0, 0})
}

// A connection that ends within a frame ends there.
func TestAConnectionOfHTTP2ThatEndsWithinAFrame(t *testing.T) {
	sent := framesOf(func(f *framer) { f.head(1, true, ":status", "200", "x-a", "b") })
	for n := 1; n < len(sent); n++ {
		_, err := io.ReadAll(newHeadChecker(readOnly{r: bytes.NewReader(sent[:n])}, 1<<16))
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d of %d bytes: got %v", n, len(sent), err)
		}
	}
}
