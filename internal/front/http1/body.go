package http1

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
)

// errTrailer ends a body with a malformed trailer field.
var errTrailer = errors.New("malformed trailer field in the request")

// body is the body of a request, as fasthttp reads it from the connection.
type body struct {
	ctx    *fasthttp.RequestCtx
	length int64 // -1: it comes in chunks
	read   int64
	end    error // why it has ended; nil: it has not
}

// Length implements message.Body.
func (b *body) Length() int64 { return b.length }

// Read implements message.Body.
func (b *body) Read(p []byte) (n int, err error) {
	src := b.ctx.RequestBodyStream()
	switch {
	case b.end != nil:
		return 0, b.end
	case src == nil:
		return 0, io.ErrUnexpectedEOF
	}
	n, err = src.Read(p)
	b.read += int64(n)
	if errors.Is(err, io.EOF) {
		err = io.EOF
		if !b.ended(src) {
			err = io.ErrUnexpectedEOF
		}
		b.end = err
	}
	return n, err
}

// ended reports whether io.EOF of src is the end of the body.
//
// fasthttp also returns io.EOF when a client leaves between two chunks, which is no end (RFC 9112
// section 8), and it does not tell the two apart. But after the last chunk it reads nothing more,
// and otherwise it reads on. Then a deadline that has passed fails the read. So the connection has
// to keep its deadline also after its end: see deadlineConn in internal/listen.
func (b *body) ended(src io.Reader) bool {
	if b.length >= 0 {
		return b.read == b.length
	}
	_ = b.ctx.SetReadDeadline(time.Unix(1, 0))
	_, err := src.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// Announced implements message.Body.
func (b *body) Announced() (names []string) {
	for _, key := range b.ctx.Request.Header.PeekTrailerKeys() { // the announced ones, until the body was read
		names = append(names, string(key))
	}
	return names
}

// Trailers implements message.Body.
func (b *body) Trailers() (field.List, error) {
	return copyTrailers(b.ctx.Request.Header.TrailerHeader())
}

// copyTrailers copies the fields of a trailer section as fasthttp returns it. fasthttp has joined
// folded lines, changed their ends to CRLF, and dropped a line that was cut off. It has not checked
// names and values, so copyTrailers does.
func copyTrailers(section []byte) (list field.List, err error) {
	for len(section) > 0 {
		var line []byte
		line, section, _ = bytes.Cut(section, []byte("\r\n"))
		k, v, ok := bytes.Cut(line, []byte(":"))
		switch {
		case !ok: // the empty line at the end
			return list, nil
		case !field.ValidName(k) || !field.ValidValue(v):
			return nil, errTrailer
		}
		list.Add(field.Canonical(string(k)), string(bytes.Trim(v, " \t")))
	}
	return list, nil
}
