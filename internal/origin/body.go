package origin

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"

	"edgeproxy/internal/http/chunked"
	"edgeproxy/internal/http/field"
)

// maxTrailerBytes bounds the trailer section of a response.
const maxTrailerBytes = 16 << 10

// trailerSection is what the trailer section of a chunked response may be.
var trailerSection = &chunked.Section{Bytes: maxTrailerBytes, Fields: maxFields, Parse: parseField}

// Body is the body of a response. One goroutine reads it; Close may be called
// from any. It holds its connection until its end, an error or Close.
type Body struct {
	origin *Origin
	c      *conn       // nil by HTTP/2
	stream *streamBody // nil by HTTP/1.1
	src    io.Reader
	chunks *chunked.Reader // src, if the body comes in chunks
	status int
	framed bool
	keep   time.Duration // how long the connection is kept after a whole body; 0 without framing
	begun  time.Time     // the request that it answers
	trace  *Trace        // trace of the request; nil: there is none

	through io.ReadCloser // Read reads from it; nil: Read returns what the origin sends

	mu   sync.Mutex
	err  error         // why nothing more can be read; nil: not over
	took time.Duration // from begun to the end of the body; 0: not over, or not read to its end
}

// answer is a response and what belongs to it, in one piece of memory.
type answer struct {
	Response
	body     Body
	length   lengthReader // reader of body, where that has a length
	fieldBuf field.List   // memory for the fields of Response
}

// answerPool has the answers that were given back, all zero but for fieldBuf.
var answerPool = sync.Pool{New: func() any { return &answer{fieldBuf: make(field.List, 0, usualFields)} }}

// usualFields is for how many fields an answer has room.
const usualFields = 16

// answer returns the memory for the response of x, and takes it from the pool if x has none.
func (x *attempt) answer() *answer {
	if x.made == nil {
		x.made = answerPool.Get().(*answer)
	}
	return x.made
}

// Recycle gives the memory of r, of its Body and of the list of its fields back, for other responses. The owner may call it once,
// after Body has ended, when nobody uses any of them any more. The strings of the fields stay as they are.
func (r *Response) Recycle() {
	a := r.answer
	if a == nil {
		return
	}
	room := a.fieldBuf
	*a = answer{}
	clear(room[:cap(room)])
	a.fieldBuf = room
	answerPool.Put(a)
}

// begin makes the Body of a read the body that follows on c.
func (a *answer) begin(o *Origin, c *conn, f framing, keep time.Duration) {
	b := &a.body
	b.origin, b.c, b.status, b.framed, b.keep, b.begun = o, c, a.Status, f.end != byClose, keep, a.RequestTime
	c.deadlinePerRead = true
	switch f.end {
	case byNothing:
		_ = b.end(io.EOF)
	case byLength:
		a.length = lengthReader{r: c.br, left: f.length}
		b.src = &a.length
	case byChunks:
		b.chunks = chunked.NewReader(c.br, trailerSection)
		b.src = b.chunks
	case byClose:
		b.src = c.br
	}
}

// Framed reports whether framing says where the body ends. If it does not,
// io.EOF means that the origin closed the connection, and the body may be short.
func (b *Body) Framed() bool { return b.framed }

// Read reads the body into p, which stays the caller's. It returns io.EOF, also
// together with the last bytes, only at the end of the body, and an *Error
// otherwise: every cut matches io.ErrUnexpectedEOF. Each wait for the origin is
// bounded by Options.IdleTimeout.
func (b *Body) Read(p []byte) (int, error) {
	if b.through != nil {
		return b.through.Read(p)
	}
	return b.read(p)
}

// read is Read of what the origin sends.
func (b *Body) read(p []byte) (int, error) {
	if err := b.over(); err != nil || len(p) == 0 {
		return 0, err
	}
	n, err := b.src.Read(p)
	if n > 0 {
		b.origin.metrics.received(n)
	}
	if err != nil {
		err = b.end(err)
	}
	return n, err
}

// Trailers returns the fields of the trailer section (RFC 9112 section 7.1.2), in the
// order received and with canonical names, once Read has returned io.EOF; nil before
// that, and if there are none. They are not part of Response.Header, and none of them
// may be merged into it (RFC 9110 section 6.5.1). The caller owns the list.
func (b *Body) Trailers() field.List {
	switch {
	case b.over() != io.EOF: //nolint:errorlint // a failure that wraps io.EOF is no end
		return nil
	case b.stream != nil:
		return b.stream.trailers
	case b.chunks != nil:
		return b.chunks.Trailers()
	}
	return nil
}

// Close gives up what has not been read, and with it the connection. A Read
// that waits returns an error. After the end of the body it does nothing. It
// always returns nil.
func (b *Body) Close() error {
	_ = b.end(ErrBodyClosed)
	if b.through != nil {
		_ = b.through.Close()
	}
	return nil
}

// Trace returns that of the request that the body answers; nil: it had none.
func (b *Body) Trace() *Trace { return b.trace }

// Took returns the time from sending the request to the end of the body, 0 where that has not
// come. It may be called from any goroutine.
func (b *Body) Took() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.took
}

// TakeHere reads all of a body that came with its head (Response.Here) into p, which is as long as the body. It reports
// whether the body was there. It ends the body. A body that ended before, or has another length, is closed.
func (b *Body) TakeHere(p []byte) bool {
	if b.through != nil {
		return b.takeThrough(p)
	}
	l, sized := b.src.(*lengthReader)
	if b.over() != nil || !sized || l.left != int64(len(p)) || b.c.br.Buffered() < len(p) {
		_ = b.Close()
		return false
	}
	n, _ := b.c.br.Read(p) // bytes of its buffer, which it does not have to fill
	l.left -= int64(n)
	b.origin.metrics.received(n)
	_ = b.end(io.EOF)
	return n == len(p)
}

func (b *Body) over() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// end notes why the body is over and gives up the connection. The first call
// decides; all calls return its error.
func (b *Body) end(cause error) error {
	b.mu.Lock()
	if b.err != nil {
		defer b.mu.Unlock()
		return b.err
	}
	outcome, reuse, now := outcomeOf(b.status), false, time.Time{}
	switch {
	case cause == io.EOF: //nolint:errorlint // a failure that wraps io.EOF is no end
		now = time.Now()
		b.err, b.took = io.EOF, now.Sub(b.begun)
		reuse = b.stream == nil && b.c.br.Buffered() == 0
	case errors.Is(cause, ErrBodyClosed):
		b.err = b.origin.fail(Canceled, "read the response body", cause)
	default:
		e := b.origin.fail(kindOf(cause), "read the response body", cause)
		outcome, _ = e.Kind.failure()
		b.err = e
	}
	err := b.err
	b.mu.Unlock()

	b.trace.ended(err)
	b.origin.metrics.ended(outcome)
	if reuse {
		b.origin.pool.put(b.c, b.keep, now)
		return err
	}
	if b.stream != nil {
		b.stream.over(err)
		return err
	}
	defer b.origin.pool.free(b.c.server, b.c.client)
	if b.err == io.EOF { //nolint:errorlint // a failure that wraps io.EOF is no end
		b.c.retire()
	} else {
		b.c.close()
	}
	return err
}

// lengthReader reads a body of known length, above 0.
type lengthReader struct {
	r    *bufio.Reader
	left int64
}

// Read returns io.EOF together with the last bytes.
func (l *lengthReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if l.left == 0 {
		return n, io.EOF
	}
	return n, cutAt(err)
}
