package http1

import (
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
)

// errTrailer ends a body with a malformed trailer field.
var errTrailer = errors.New("malformed trailer field in the request")

// body is the body of a request, as fasthttp reads it from the connection.
type body struct {
	ctx      *fasthttp.RequestCtx
	length   int64   // -1: it comes in chunks
	chunks   *chunks // follows them; nil: there are none, or where they begin is not known
	read     int64
	end      error // why it has ended; nil: it has not
	trailers field.List
	faulty   error // what is wrong with the trailers
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
		if !b.complete() {
			err = io.ErrUnexpectedEOF
		}
		b.end = err
	}
	return n, err
}

// complete reports whether all of the body has come when fasthttp says io.EOF. fasthttp says so too
// when a client ends its side between two chunks or in the trailer section, which is no end (RFC 9112 section 8).
func (b *body) complete() bool {
	switch {
	case b.length >= 0:
		return b.read == b.length
	case b.chunks == nil:
		return false
	}
	b.trailers, b.faulty = b.chunks.trailers()
	return !errors.Is(b.faulty, io.ErrUnexpectedEOF)
}

// Announced implements message.Body.
func (b *body) Announced() (names []string) {
	for _, key := range b.ctx.Request.Header.PeekTrailerKeys() { // the announced ones, until the body was read
		names = append(names, string(key))
	}
	return names
}

// Trailers implements message.Body.
func (b *body) Trailers() (field.List, error) { return b.trailers, b.faulty }
