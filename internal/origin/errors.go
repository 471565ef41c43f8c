package origin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/chunked"
)

// Kind says what went wrong, as far as a proxy has to answer differently.
type Kind uint8

const (
	// Connect: no connection could be made. Error.Timeout tells a server that
	// did not answer from one that refused.
	Connect Kind = iota + 1
	// Overload: no connection became free, there was no descriptor, port or memory here
	// to make one with, or the Origin is closed. The request never left.
	Overload
	// Timeout: the origin went silent before the head was complete, in the body,
	// or while it should have taken the request.
	Timeout
	// Cut: the connection ended before the response did. Such an error matches
	// io.ErrUnexpectedEOF.
	Cut
	// Malformed: the response cannot be understood in one way only.
	Malformed
	// Canceled: the caller's context ended, or the Body was closed.
	Canceled
	// BadRequest: the request cannot be sent as given. Its parts would break the
	// framing, or its body failed, ended early or was longer than announced. The
	// origin is not at fault.
	BadRequest
	// Unsupported: the protocol that the origin is asked by has no such request. It never left.
	Unsupported
	// Fault: something panicked here. The cause is a *rescue.Error, and is noted.
	Fault
)

// String returns the kind as one word.
func (k Kind) String() string {
	switch k {
	case Connect:
		return "connect"
	case Overload:
		return "overload"
	case Timeout:
		return "timeout"
	case Cut:
		return "cut"
	case Malformed:
		return "malformed"
	case Canceled:
		return "canceled"
	case BadRequest:
		return "bad-request"
	case Unsupported:
		return "unsupported"
	case Fault:
		return "fault"
	}
	return "unknown"
}

// Error is the only type of error that RoundTrip and Body.Read return (but for
// io.EOF). It holds no bytes of the request.
type Error struct {
	Kind   Kind
	Origin string // Options.Name
	Server string // the address of the server that was asked; "": none was
	Op     string // what was being done: "connect", "read the body", ...
	Err    error  // the cause, never nil
}

// Error returns the origin, where one is named, the operation and the cause.
func (e *Error) Error() string {
	if e.Origin == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("origin %s: %s: %v", e.Origin, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes every cut match io.ErrUnexpectedEOF, also one that the system
// reports as a reset.
func (e *Error) Is(target error) bool { return e.Kind == Cut && target == io.ErrUnexpectedEOF }

// Queued reports whether the request waited for a connection for too long, or found the queue for one full.
func (e *Error) Queued() bool {
	return e.Kind == Overload && !local(e.Err) && !errors.Is(e.Err, ErrClosed) && !errors.Is(e.Err, ErrShare) && !errors.Is(e.Err, ErrAllOut)
}

// Cause returns in a few words why there was no answer: what the system says, such as connection refused, or what the origin did not do. It
// has no address and no bytes of the origin, so that equal failures have equal words.
func (e *Error) Cause() string {
	if no, ok := errors.AsType[syscall.Errno](e.Err); ok {
		return no.Error()
	}
	if dns, ok := errors.AsType[*net.DNSError](e.Err); ok && dns.IsNotFound {
		return "its name has no address"
	} else if ok {
		return "its name cannot be looked up"
	}
	switch {
	case untrusted(e):
		return "its certificate is not trusted"
	case e.Timeout() && e.Kind == Connect:
		return "no connection in time"
	case e.Timeout():
		return "no answer in time"
	case e.Kind == Connect:
		return "no connection"
	case e.Kind == Malformed:
		return "an answer that is not understood"
	case e.Kind == Cut:
		return "the connection ended before the answer"
	}
	return e.Kind.String()
}

// Timeout reports whether time ran out: the origin's, that of dialling, or the
// deadline of the caller's context.
func (e *Error) Timeout() bool {
	if e.Kind == Timeout {
		return true
	}
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.Err)
	return ok && t.Timeout()
}

// ErrClosed is the cause of an Overload after Close.
var ErrClosed = errors.New("the origin is closed")

// ErrShare is the cause of an Overload where connections are scarce and the client holds
// its share of them.
var ErrShare = errors.New("less than a quarter of the connections are free, and the client already holds its limits.origin_share")

// ErrAllOut is the cause of an Overload while all servers are drained; also while every server is out, and
// Options.Ejection says to refuse then.
var ErrAllOut = errors.New("all servers are out: ejected or drained, or their health checks fail")

// ErrBodyClosed is the cause of a Canceled read of a Body that was closed.
var ErrBodyClosed = errors.New("the response body was closed")

// local reports whether err is a shortage of this process or machine: nobody else failed.
func local(err error) bool {
	l, ok := errors.AsType[interface {
		error
		Local() bool
	}](err)
	return ok && l.Local()
}

// faulty reports whether err is a panic of this process.
func faulty(err error) bool {
	_, ok := errors.AsType[*rescue.Error](err)
	return ok
}

// malformedError says what in a response is not understood.
type malformedError string

func (e malformedError) Error() string { return string(e) }

func malformed(format string, args ...any) error {
	return malformedError(fmt.Sprintf(format, args...))
}

// kindOf classifies an error of reading or writing a connection.
func kindOf(err error) Kind {
	if _, ok := errors.AsType[malformedError](err); ok {
		return Malformed
	}
	if _, ok := errors.AsType[chunked.MalformedError](err); ok {
		return Malformed
	}
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && t.Timeout() {
		return Timeout
	}
	return Cut
}

// cutAt turns io.EOF inside a message into io.ErrUnexpectedEOF.
func cutAt(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
