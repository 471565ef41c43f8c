package http1

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"
	"sync"

	"edgeproxy/internal/http/chunked"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// upload is the content of a plain request while it arrives: first what the head says of it, then the message.Body that
// the engine reads. What reader has taken from the connection behind the content, goBack returns to it. One goroutine at a
// time uses an upload.
type upload struct {
	named     bool // the head has one of the fields aboutContent
	expects   bool // the client waits for 100 (Continue)
	announces bool // the head has Trailer
	chunked   bool
	length    int64 // announced; 0 with chunks

	turn   *turn // nil: there is no content, or its head is being read
	left   int64 // bytes of length not read yet
	chunks *chunked.Reader
	reader *bufio.Reader // reader of chunks
	end    error         // why nothing more is read; nil: it has not ended
}

var _ message.Body = (*upload)(nil)

// note notes a field aboutContent. It reports whether a plain request may have it. wire.Walker has checked what frames.
func (u *upload) note(name, value []byte) bool {
	u.named = true
	switch len(name) {
	case len("Content-Length"):
		n, err := strconv.ParseInt(string(value), 10, 64)
		u.length = n
		return err == nil
	case len("Transfer-Encoding"):
		u.chunked = true
	case len("Expect"):
		u.expects = u.expects || bytes.EqualFold(value, expectContinue)
		return field.ValidValue(value)
	default: // Trailer or Upgrade
		u.announces = sameName(name, nameTrailer) && plainTrailers(value)
		return u.announces
	}
	return true
}

var (
	expectContinue = []byte("100-continue")
	nameTrailer    = []byte("Trailer")
)

// plain is called at the end of a head. It reports whether the request is plain: what waits has content, and what announces
// trailers has chunks.
func (u *upload) plain() bool { return (!u.announces || u.chunked) && (!u.expects || u.hasContent()) }

// hasContent reports whether the head says that content follows.
func (u *upload) hasContent() bool { return u.chunked || u.length > 0 }

// beginUpload makes the content of the request its Body. The content has to come within HeaderTimeout, until the engine sets
// another deadline.
func (t *turn) beginUpload() {
	u, c := &t.upload, t.conn
	u.turn, u.left = t, u.length
	if u.chunked {
		u.reader = t.server.uploads.Get().(*bufio.Reader)
		u.reader.Reset((*uploadSource)(c))
		u.chunks = chunked.NewReader(u.reader, t.server.trailers)
	}
	t.request.Body = u
	c.bodyFollows(t.request.Received)
}

// newReaders returns a pool of readers with a buffer of size bytes, as the connections have: what is left in one fits there.
func newReaders(size int) *sync.Pool {
	return &sync.Pool{New: func() any { return bufio.NewReaderSize(nil, size) }}
}

// await waits for the first byte of content of known length: a client that sends none takes nothing from others. It returns why the byte
// has not come.
func (u *upload) await() *message.Fault {
	c := u.turn.conn
	if u.chunked || c.from < c.to || c.to == len(*c.buf) || c.fill() {
		return nil
	}
	return faultOf(c.failed)
}

// uploadSource reads from a connection what has come already, and then what comes.
type uploadSource conn

// Read implements io.Reader.
func (s *uploadSource) Read(p []byte) (int, error) {
	c := (*conn)(s)
	if c.from < c.to {
		n := copy(p, (*c.buf)[c.from:c.to])
		c.from += n
		return n, nil
	}
	return c.readBelow(p)
}

// Length implements message.Body.
func (u *upload) Length() int64 {
	if u.chunked {
		return -1
	}
	return u.length
}

// Read implements message.Body. It returns io.EOF with the last bytes.
func (u *upload) Read(p []byte) (n int, err error) {
	switch {
	case u.end != nil:
		return 0, u.end
	case len(p) == 0:
		return 0, nil
	case u.chunked:
		n, u.end = u.chunks.Read(p)
		return n, u.end
	}
	if !u.fetchEnd() {
		u.end = cutAt(u.turn.conn.failed)
		return 0, u.end
	}
	n, err = (*uploadSource)(u.turn.conn).Read(p[:min(int64(len(p)), u.left)])
	if u.left -= int64(n); u.left == 0 {
		u.end = io.EOF
	} else {
		u.end = cutAt(err)
	}
	return n, u.end
}

// fetchEnd reads the end of content of known length into the connection's buffer, where there is room for it. So what has come behind it is
// not left in the socket, from which the connection would be reset if it ends with the answer. It reports false if nothing has come.
func (u *upload) fetchEnd() bool {
	c := u.turn.conn
	return c.from < c.to || u.left >= int64(len(*c.buf)-c.to) || c.fill()
}

// cutAt turns io.EOF inside content into io.ErrUnexpectedEOF.
func cutAt(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// whole reports whether all of the content was read.
func (u *upload) whole() bool { return u.end == io.EOF } //nolint:errorlint // an error that wraps it is no end

// Announced implements message.Body.
func (u *upload) Announced() (names []string) {
	for _, line := range u.turn.request.Lines {
		if !sameName(line.Name, nameTrailer) {
			continue
		}
		for name := range bytes.SplitSeq(line.Value, []byte{','}) {
			names = append(names, string(bytes.Trim(name, " \t")))
		}
	}
	return names
}

// Trailers implements message.Body. A malformed trailer section has ended the content with an error.
func (u *upload) Trailers() (field.List, error) { return u.chunks.Trailers(), nil }

// maxDrain bounds the content that is read after an answer that did not need it, as fasthttp does.
const maxDrain = 256 << 10

// longToDrain reports whether more is left than drain would read.
func (u *upload) longToDrain() bool { return u.turn != nil && u.left > maxDrain }

// drain reads what is left of the content, after the answer, so that the next request can be read. It reports whether all of it came
// within HeaderTimeout and maxDrain.
func (u *upload) drain() bool {
	if u.whole() {
		return true
	}
	c := u.turn.conn
	c.setTimeout(cmp.Or(c.server.o.HeaderTimeout, lingerTime))
	b := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(b)
	for n := 0; n <= maxDrain && u.end == nil; {
		m, _ := u.Read(b[:])
		n += m
	}
	return u.whole()
}

// goBack gives back what was read behind the content to the connection, and the reader to its pool. The request is not used
// any more.
func (u *upload) goBack() {
	r := u.reader
	if r == nil {
		return
	}
	u.reader, u.chunks = nil, nil
	behind, _ := r.Peek(r.Buffered())
	u.turn.conn.takeBack(behind)
	r.Reset(nil)
	u.turn.server.uploads.Put(r)
}
