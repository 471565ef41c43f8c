package message

import (
	"io"
	"net"

	"edgeproxy/internal/http/field"
)

// Answer is the answer to a request. The engine fills it; the front sends it and then calls
// Close. It may be used again after Reset, and must not be copied.
type Answer struct {
	// Status is the status code: at least 200, or 101 with TakeOver.
	Status int
	// The header is Stored, then Fields, then Lines. Stored has the fields of a stored
	// response, which owns them. Fields has those of a response that is being fetched. Lines
	// has further fields, each "Name: value\r\n", names in canonical form. None of them has
	// Content-Length, Transfer-Encoding or Connection.
	Stored field.Lines
	Fields field.List
	Lines  []byte
	// Length is the announced length of the content, which a HEAD or a 304 does not
	// send; -1 if none is announced.
	Length int64
	// Content is the content; nil if there is none.
	Content Content
	// Last says that the connection ends after the answer.
	Last bool
	// Silent says that nothing of the answer is sent, not even its head: the connection ends, or with HTTP/2 the stream. Last is set,
	// too, and there is no content.
	Silent bool
	// TakeOver is called by the front for a 101, with the connection and the head of the
	// answer. It sends the head. When it returns, the connection is closed.
	TakeOver func(conn net.Conn, head []byte)
	// Held, if not nil, is closed when the answer is closed.
	Held io.Closer

	memory memory
}

// Content is the content of an answer. One goroutine uses it.
//
// A Content that is also an io.Reader can write into a buffer of the front. The front then calls
// Read instead of Next, from the first piece to the last.
type Content interface {
	// Bytes returns all of the content, in one piece or several, if it is in memory now;
	// otherwise nil, and the front calls Next. The front may consume the list, as net.Buffers
	// does in WriteTo. It only reads the bytes, and not after Close of the answer.
	Bytes() net.Buffers
	// Next returns the next piece, and after the last one io.EOF without a piece. A call says that
	// the previous piece was written. The front only reads a piece, and not after the next call.
	// Another error says that the content is incomplete: the client must be able to see that.
	Next() ([]byte, error)
	// Trailers returns the trailer fields. They are known after io.EOF.
	Trailers() field.List
	// Close ends the content, sent or not.
	Close() error
}

// FileContent is content in files. If Request.SendsFiles is set, the front may send it from there. It then calls NextFile
// instead of Next and Read, from the first part to the last.
type FileContent interface {
	Content
	// NextFile returns the next part: length bytes of f from offset on. After the last part it returns io.EOF without a part. A
	// call says that the previous part was sent. The part does not change until the next call or Close. Errors are as those of
	// Next.
	NextFile() (f File, offset, length int64, err error)
}

// Close releases what the answer is sent from, and ends the request. The front calls it once,
// after sending, even if that failed.
func (a *Answer) Close() {
	a.memory.release()
	if a.Content != nil {
		_ = a.Content.Close()
	}
	if a.Held != nil {
		_ = a.Held.Close()
	}
}

// Reset empties a for another request, and keeps the buffer of Lines. It releases a File
// that was not sent.
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

// SayFile makes b the content, which is also in f, from offset on. f is released when a is closed or gets
// other content.
func (a *Answer) SayFile(b []byte, f File, offset int64) {
	a.Say(b)
	a.memory.file, a.memory.offset = f, offset
}

// File returns the file and offset given to SayFile; f is nil if there is none.
func (a *Answer) File() (f File, offset int64) { return a.memory.file, a.memory.offset }

// SayAll makes the pieces the content, one after the other.
func (a *Answer) SayAll(pieces net.Buffers) {
	a.memory.release()
	a.memory.pieces = pieces
	a.Content = &a.memory
}

// memory is content in memory. It is a field of Answer, so that a hit allocates nothing.
type memory struct {
	pieces net.Buffers
	one    [1][]byte // the array of pieces for Say
	file   File      // also has the content, from offset on; nil if no file has it
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
