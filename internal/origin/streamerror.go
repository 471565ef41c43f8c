package origin

import (
	"errors"
	"fmt"
	"strings"
)

// endedError is the end of the context of a request.
type endedError struct{ err error }

func (e *endedError) Error() string { return e.err.Error() }
func (e *endedError) Unwrap() error { return e.err }

// unsendableError is of a request that HTTP/2, or this server, has no place for.
type unsendableError struct{ err error }

func (e *unsendableError) Error() string { return e.err.Error() }
func (e *unsendableError) Unwrap() error { return e.err }

// streamError is the error of a stream as the library gives it to those who ask for these fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string {
	return fmt.Sprintf("error %d of the stream: %v", e.Code, e.Cause)
}

// refusedStream is the code that says that nothing was done with the request (RFC 9113 section 8.7).
const refusedStream = 7

// The library has no types for these. Its tests hold it to some of the texts, ours to all.
const (
	textFromPeer    = "received from peer"
	textGoAway      = "http2: Transport received Server's graceful shutdown GOAWAY"
	textBroken      = "connection error: "
	textTooMuch     = "net/http: server replied with more than declared Content-Length"
	textHeadTooLong = "request header list larger than peer's advertised limit"
	textInvalid     = "http2: invalid " // something in the request
)

// unbegun reports whether err says that the server has not begun with the request (RFC 9113 sections 6.8 and 8.7).
func (s *stream) unbegun(err error) bool {
	if e, ok := errors.AsType[streamError](err); ok {
		return e.Code == refusedStream && fromPeer(e)
	}
	return !s.wrote.Load() || err.Error() == textGoAway
}

func fromPeer(e streamError) bool { return e.Cause != nil && e.Cause.Error() == textFromPeer }

// ours returns what an error is that is not of the origin.
func ours(err error) (Kind, bool) {
	_, unsendable := errors.AsType[*unsendableError](err)
	_, broken := errors.AsType[*bodyError](err)
	switch {
	case faulty(err):
		return Fault, true
	case unsendable, broken, strings.HasPrefix(err.Error(), textInvalid), strings.HasSuffix(err.Error(), textHeadTooLong):
		return BadRequest, true
	}
	return 0, false
}

// said turns an error that the library has returned into one that kindOf knows: it, and not the connection, may have
// found that the origin does not keep to HTTP/2.
func said(err error) error {
	e, ok := errors.AsType[streamError](err)
	if ok && !fromPeer(e) || strings.HasPrefix(err.Error(), textBroken) || strings.HasPrefix(err.Error(), textTooMuch) {
		return malformedError(err.Error())
	}
	return cutAt(err)
}
