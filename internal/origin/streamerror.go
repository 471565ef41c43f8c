package origin

import (
	"errors"
	"strings"

	"golang.org/x/net/http2"
)

// endedError is the end of the context of a request.
type endedError struct{ err error }

func (e *endedError) Error() string { return e.err.Error() }
func (e *endedError) Unwrap() error { return e.err }

// unsendableError is of a request that HTTP/2, or this server, has no place for.
type unsendableError struct{ err error }

func (e *unsendableError) Error() string { return e.err.Error() }
func (e *unsendableError) Unwrap() error { return e.err }

// The library has no types for the other ones. Its tests hold it to some of the texts, ours to all.
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
	if e, ok := errors.AsType[http2.StreamError](err); ok {
		return e.Code == http2.ErrCodeRefusedStream && fromPeer(e)
	}
	return !s.wrote.Load() || err.Error() == textGoAway
}

func fromPeer(e http2.StreamError) bool { return e.Cause != nil && e.Cause.Error() == textFromPeer }

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
	e, ok := errors.AsType[http2.StreamError](err)
	if ok && !fromPeer(e) || strings.HasPrefix(err.Error(), textBroken) || strings.HasPrefix(err.Error(), textTooMuch) {
		return malformedError(err.Error())
	}
	return cutAt(err)
}
