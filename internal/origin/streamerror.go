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

// unsendableError says that a request cannot be expressed in HTTP/2, or is too large for this server.
type unsendableError struct{ err error }

func (e *unsendableError) Error() string { return e.err.Error() }
func (e *unsendableError) Unwrap() error { return e.err }

// The library has no types for its other errors, so they are told by their texts. Its tests check some of the texts, ours all.
const (
	textFromPeer    = "received from peer"
	textGoAway      = "http2: Transport received Server's graceful shutdown GOAWAY"
	textBroken      = "connection error: "
	textTooMuch     = "net/http: server replied with more than declared Content-Length"
	textHeadTooLong = "request header list larger than peer's advertised limit"
	textInvalid     = "http2: invalid " // something in the request
)

// notProcessed reports whether err says that the server has not processed the request (RFC 9113 sections 6.8 and 8.7).
func (s *stream) notProcessed(err error) bool {
	if e, ok := errors.AsType[http2.StreamError](err); ok {
		return e.Code == http2.ErrCodeRefusedStream && fromPeer(e)
	}
	return !s.wrote.Load() || err.Error() == textGoAway
}

func fromPeer(e http2.StreamError) bool { return e.Cause != nil && e.Cause.Error() == textFromPeer }

// localFault returns the Kind of an error that is not the origin's fault, and false for any other error.
func localFault(err error) (Kind, bool) {
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

// classifyStreamError turns an error of the library into one that kindOf knows. The library itself, and not the connection, may
// have found that the origin violates HTTP/2.
func classifyStreamError(err error) error {
	e, ok := errors.AsType[http2.StreamError](err)
	if ok && !fromPeer(e) || strings.HasPrefix(err.Error(), textBroken) || strings.HasPrefix(err.Error(), textTooMuch) {
		return malformedError(err.Error())
	}
	return cutAt(err)
}
