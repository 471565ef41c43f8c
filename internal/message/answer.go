package message

import (
	"io"
	"net"

	"edgeproxy/internal/field"
)

// Answer is what a client gets. The engine fills it; its front sends it and then calls Close.
// It may be used again after Reset, and is never copied.
type Answer struct {
	// Status is the status code, from 200 on, or 101 with TakeOver.
	Status int
	// Stored, then Fields, then Lines, make the header. Stored are those of a stored response
	// and belong to it, Fields those of one on its way; Lines are further fields, each
	// "Name: value\r\n", names in canonical form. None of them has Content-Length,
	// Transfer-Encoding or Connection.
	Stored field.Lines
	Fields field.List
	Lines  []byte
	// Length is the announced length of the content: with a HEAD or a 304 of what is not
	// sent; -1 where none is announced.
	Length int64
	// Content is what follows the head; nil: nothing does.
	Content Content
	// Last says that the connection ends with the answer.
	Last bool
	// TakeOver, with 101, gets the connection from the front, and the head of the answer, which
	// it sends. The connection is closed when it returns.
	TakeOver func(conn net.Conn, head []byte)
	// Held is closed with the answer.
	Held io.Closer

	memory memory
}

// Content is the body of an answer on its way to the client. One goroutine uses it.
//
// A Content that is an io.Reader, too, can give its pieces into a buffer of the front's: Read is
// then called instead of Next, from the first piece to the last.
type Content interface {
	// Bytes returns all of the content where it is in memory now, in one piece or in several.
	// The front may consume the list, as net.Buffers do when they are written. The bytes are
	// only read, until Close of the answer. nil: ask Next.
	Bytes() net.Buffers
	// Next returns the next piece, and io.EOF, alone, behind the last. To ask for a piece says that
	// the one before was written. A piece is only read, and until the next call. Another
	// error says that the content has broken off: the client must not take what it got for
	// all of it.
	Next() ([]byte, error)
	// Trailers returns the fields that follow the content. They are known after io.EOF.
	Trailers() field.List
	// Close ends the content, sent or not.
	Close() error
}

// FileContent is Content that lies in files, whose front may send it from there where Request.SendsFiles is set. It calls
// NextFile instead of Next and Read then, from the first part to the last.
type FileContent interface {
	Content
	// NextFile returns the next part: length bytes of f from offset on, and io.EOF, alone, behind the last. To ask says that the part
	// before was sent. The part stays as it is until the next call or Close. An error is one of Next.
	NextFile() (f File, offset, length int64, err error)
}

// Close lets go of what the answer is sent from, and ends the request. It comes once, after the
// sending, whether it has failed or not.
func (a *Answer) Close() {
	a.memory.release()
	if a.Content != nil {
		_ = a.Content.Close()
	}
	if a.Held != nil {
		_ = a.Held.Close()
	}
}

// Reset makes a fit for another request, and keeps its buffer. It releases a File that was not sent.
func (a *Answer) Reset() {
	a.memory.release()
	*a = Answer{Lines: a.Lines[:0], Length: -1}
}

// Say makes b the content.
func (a *Answer) Say(b []byte) {
	a.memory.release()
	a.memory.one[0] = b
	a.memory.pieces = a.memory.one[:]
	a.Content = &a.memory
}

// File is an open file that the system can send by itself.
type File interface {
	// Descriptor is valid until Release. Nobody closes it or moves its offset.
	Descriptor() int
	Release()
}

// SayFile makes b the content, which is also in f, from offset on. f is released when a is closed, or has
// other content.
func (a *Answer) SayFile(b []byte, f File, offset int64) {
	a.Say(b)
	a.memory.file, a.memory.offset = f, offset
}

// File returns what SayFile was given; nil without.
func (a *Answer) File() (f File, offset int64) { return a.memory.file, a.memory.offset }

// SayAll makes the pieces the content, one after the other.
func (a *Answer) SayAll(pieces net.Buffers) {
	a.memory.release()
	a.memory.pieces = pieces
	a.Content = &a.memory
}

// memory is content that is in memory. It is a part of its Answer, so that a hit allocates
// nothing.
type memory struct {
	pieces net.Buffers
	one    [1][]byte
	file   File // has it, too, from offset on; nil: no file has
	offset int64
}

func (m *memory) release() {
	if f := m.file; f != nil {
		m.file = nil
		f.Release()
	}
}

func (m *memory) Bytes() net.Buffers { return m.pieces }

func (m *memory) Next() (piece []byte, err error) {
	if len(m.pieces) == 0 {
		return nil, io.EOF
	}
	piece, m.pieces = m.pieces[0], m.pieces[1:]
	return piece, nil
}

func (m *memory) Trailers() field.List { return nil }

func (m *memory) Close() error { return nil }
