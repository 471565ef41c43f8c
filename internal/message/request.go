package message

import (
	"net"
	"time"

	"edgeproxy/internal/field"
)

// Version is the version of HTTP that a request came by.
type Version uint8

// The versions, in order.
const (
	HTTP10 Version = iota
	HTTP11
	HTTP2
)

// Line is a field line of a request: its name as it came, in upper or lower case, and its value
// without the white space around it.
type Line struct{ Name, Value []byte }

// Request is a request as a front has read it: the head, and what is known of what follows and
// of the connection. All byte slices belong to the front. They stay as they are until the
// Answer is closed. A Request is used by one goroutine at a time.
type Request struct {
	// Received is when the head was complete.
	Received time.Time
	Version  Version
	// Method and Target are as they came. Target is not checked.
	Method, Target []byte
	// Host is the Host field, or :authority; empty where there is neither.
	Host []byte
	// Lines are all field lines in order, with Host and those that frame the body where the
	// version has them.
	Lines []Line
	// Fault is why the request cannot be read in one way only; nil where it can. The engine
	// refuses it, and the connection, or the stream, ends.
	Fault *Fault
	// Body is what follows the head; nil: nothing does.
	Body Body
	// Last says that what follows the request on its connection must not be read as another
	// one, whatever the answer is.
	Last bool
	// Conn carries this request and its answer: the connection in HTTP/1, the stream in
	// HTTP/2, whose Close resets it. The engine reads or writes it only after a TakeOver.
	Conn net.Conn
	// Deadlines are those of Body and of the sending of the answer: Conn itself, where no
	// server has to know of them.
	Deadlines Deadlines
	// Interim sends an interim response (1xx) before the answer. The front writes fields as
	// they are. It is nil where the client can have none.
	Interim func(status int, fields field.List)
	// SendsFiles says that the front sends from a File what it is given by SayFile.
	SendsFiles bool
	// TakesTrailers says that the client takes trailers without having said so by TE.
	TakesTrailers bool
}

// Deadlines end a read or a write that waits, as those of net.Conn do.
type Deadlines interface {
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Fault is why a request is refused by its front.
type Fault struct {
	// Status to refuse it with.
	Status int
	// TimedOut says that the client took too long.
	TimedOut bool
	// WithoutTLS says that the request came without TLS where that is spoken.
	WithoutTLS bool
}

// Body is the content of a request on its way. Read ends with io.EOF where all of it was read,
// and with another error where it broke off: a front never takes an end of the connection for
// an end of the content.
type Body interface {
	Read(p []byte) (n int, err error)
	// Length is the announced length in bytes, or -1.
	Length() int64
	// Announced are the names that the head has announced as trailers.
	Announced() []string
	// Trailers are the trailer fields as they came. They are known after io.EOF.
	Trailers() (field.List, error)
}
