package message

import (
	"net"
	"time"

	"edgeproxy/internal/http/field"
)

// Version is the HTTP version of a request.
type Version uint8

// The versions, in order.
const (
	HTTP10 Version = iota
	HTTP11
	HTTP2
)

// Line is a field line of a request: its name as received, in any case, and its value without
// the white space around it.
type Line struct{ Name, Value []byte }

// Request is a request as a front has read it: the head, the body and the connection. All byte
// slices belong to the front and do not change until the Answer is closed. A Request is used
// by one goroutine at a time.
type Request struct {
	// Received is when the head was complete.
	Received time.Time
	Version  Version
	// Method and Target are as received. Target is not checked.
	Method, Target []byte
	// Host is the Host field, or :authority; empty if there is neither.
	Host []byte
	// Lines are all field lines in order, including Host and those that frame the body, if
	// the version has them.
	Lines []Line
	// Fault is why the front refuses the request; nil if it does not. The engine makes the
	// answer, and the connection, or the stream, ends.
	Fault *Fault
	// Seen is what the log says of a request that the front could not read whole, in place of the fields above; nil for
	// those fields.
	Seen *Seen
	// Body is the content; nil if there is none.
	Body Body
	// Last says that this is the last request of the connection: bytes after it must not be
	// read as another one, whatever the answer is.
	Last bool
	// Conn is the connection in HTTP/1 and the stream in HTTP/2, whose Close resets the
	// stream. The engine reads or writes it only after a TakeOver.
	Conn net.Conn
	// Deadlines limits the reading of Body and the sending of the answer. It is Conn
	// itself if the server need not know the deadlines.
	Deadlines Deadlines
	// Interim sends an interim response (1xx) before the answer. The front writes fields as
	// they are. Interim is nil if the client cannot get one.
	Interim func(status int, fields field.List)
	// SendsFiles says that the front can send content from a file: from the File of
	// SayFile, and from a FileContent.
	SendsFiles bool
	// TakesTrailers says that the client accepts trailers even without TE.
	TakesTrailers bool
}

// Deadlines are the read and write deadlines of net.Conn.
type Deadlines interface {
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Fault is why a front refuses a request.
type Fault struct {
	// Status is the status code of the answer.
	Status int
	// TimedOut says that the client took too long.
	TimedOut bool
	// WithoutTLS says that the client sent the request without TLS to a TLS listener.
	WithoutTLS bool
}

// Seen is what has come of the head of a request that was not read whole, as it came. What has not come is empty.
type Seen struct {
	Method, Target, Host []byte
	Protocol             string    // a version as in a request line
	Began                time.Time // when the wait for the head began, if that took too long; zero: it is not known
}

// Body is the content of a request while it arrives. Read returns io.EOF after all of it, and
// another error if it is incomplete: a front never takes the end of the connection for the end
// of the content.
type Body interface {
	Read(p []byte) (n int, err error)
	// Length is the announced length in bytes, -1 if there is none.
	Length() int64
	// Announced returns the names that the head announces as trailers.
	Announced() []string
	// Trailers returns the trailer fields as received. They are known after io.EOF.
	Trailers() (field.List, error)
}
