package http1

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// errLength says that content is not as long as announced.
var errLength = errors.New("the content does not match its Content-Length")

const closeLine = "Connection: close\r\n"

// sendPlain sends the answer to a plain request. After an error the connection cannot go on.
func (t *turn) sendPlain() error {
	a := &t.answer
	if a.TakeOver != nil {
		panic("http1: a plain request is answered by a switch of protocols")
	}
	if a.Content != nil {
		if content := a.Content.Bytes(); content == nil {
			return t.sendStreamed()
		} else if t.content = content; a.Length < 0 {
			a.Length = length(content)
		}
	}
	b := t.appendRest(t.appendStart())
	if t.last {
		b = append(b, closeLine...)
	}
	t.block = b
	t.setWriteDeadline()
	t.sent = true
	if f, offset := a.File(); f != nil {
		return t.sendFile(f, offset)
	}
	return t.write(t.conn.Conn, crlf)
}

// sendFile sends content that is also in f. What cannot be sent from the file it sends from memory.
func (t *turn) sendFile(f message.File, offset int64) error {
	t.block = append(t.block, crlf...)
	b := t.content[0]
	sent, head := t.conn.sendFile(t.block, f, offset, int64(len(b)), false)
	if sent == int64(len(b)) {
		return nil
	}
	t.vector = append(t.room[:0], head, b[sent:])
	_, err := t.vector.WriteTo(t.conn.Conn)
	clear(t.room[:])
	return err //nolint:wrapcheck // looked at by nobody
}

// crlf ends a head, a chunk and a line.
var crlf = []byte("\r\n")

// setWriteDeadline sets the deadline of the next write, unless the engine has set one.
func (t *turn) setWriteDeadline() {
	if d := t.server.o.WriteIdleTimeout; d > 0 && !t.conn.writeSet {
		_ = t.conn.Conn.SetWriteDeadline(now().Add(d))
	}
}

// sendStreamed sends content as it comes.
func (t *turn) sendStreamed() error {
	a := &t.answer
	b := t.appendRest(t.appendStart())
	if a.Length < 0 {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	if t.last {
		b = append(b, closeLine...)
	}
	t.block = append(b, '\r', '\n')
	t.setWriteDeadline()
	t.sent = true
	if c, ok := a.Content.(message.FileContent); ok && t.request.SendsFiles && a.Length >= 0 && string(t.request.Method) != "HEAD" {
		return t.sendFiles(c)
	}
	if _, err := t.conn.Conn.Write(t.block); err != nil {
		return err //nolint:wrapcheck // looked at by nobody
	}
	switch src, ok := a.Content.(io.Reader); {
	case string(t.request.Method) == "HEAD":
		return nil
	case a.Length < 0:
		return t.sendChunks()
	case ok:
		return t.sendSized(src)
	}
	return t.sendPieces()
}

// sendFiles sends the head, and content part by part from files.
func (t *turn) sendFiles(c message.FileContent) error {
	head := t.block
	for left := t.answer.Length; ; {
		f, offset, n, err := c.NextFile()
		switch {
		case errors.Is(err, io.EOF) && len(head) > 0:
			_, err = t.conn.Conn.Write(head)
			return errors.Join(err, checkLength(left))
		case errors.Is(err, io.EOF):
			return checkLength(left)
		case err != nil:
			return err //nolint:wrapcheck // looked at by nobody
		}
		if left -= n; left < 0 {
			return errLength
		}
		sent, rest := t.conn.sendFile(head, f, offset, n, true)
		if head = nil; sent < n {
			if err := t.copyFile(rest, f, offset+sent, n-sent); err != nil {
				return err
			}
		}
	}
}

// copyFile sends head, and then the part of f that sendFile could not send, by reading it.
func (t *turn) copyFile(head []byte, f message.File, offset, length int64) error {
	if len(head) > 0 {
		if _, err := t.conn.Conn.Write(head); err != nil {
			return err //nolint:wrapcheck // looked at by nobody
		}
	}
	buf := readBuffers.Get().(*[32 << 10]byte)
	defer readBuffers.Put(buf)
	for length > 0 {
		n, err := readFile(f, buf[:min(int64(len(buf)), length)], offset)
		if n <= 0 || err != nil {
			return errors.Join(errLength, err)
		}
		if _, err := t.conn.Conn.Write(buf[:n]); err != nil {
			return err //nolint:wrapcheck // looked at by nobody
		}
		offset, length = offset+int64(n), length-int64(n)
	}
	return nil
}

var readBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// sendSized sends content of known length by reading it into a buffer.
func (t *turn) sendSized(src io.Reader) error {
	buf := readBuffers.Get().(*[32 << 10]byte)
	defer readBuffers.Put(buf)
	for left := t.answer.Length; ; {
		// After the last byte it reads once more, to see that the content ends there.
		n, err := src.Read(buf[:min(int64(len(buf)), max(left, 1))])
		if left -= int64(n); left < 0 {
			return errLength
		}
		if n > 0 {
			if _, err := t.conn.Conn.Write(buf[:n]); err != nil {
				return err //nolint:wrapcheck // looked at by nobody
			}
		}
		switch {
		case err == io.EOF:
			return checkLength(left)
		case err != nil:
			return err //nolint:wrapcheck // looked at by nobody
		}
	}
}

// sendPieces sends content of known length piece by piece.
func (t *turn) sendPieces() error {
	w := limited{t.conn.Conn, t.answer.Length}
	if _, err := writePieces(&w, t.answer.Content); err != nil {
		return err
	}
	return checkLength(w.left)
}

// checkLength returns errLength if left is not 0.
func checkLength(left int64) error {
	if left != 0 {
		return errLength
	}
	return nil
}

// limited is a Writer that fails once more than left bytes were written.
type limited struct {
	io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errLength
	}
	return l.Writer.Write(p) //nolint:wrapcheck // looked at by nobody
}

// sendChunks sends each piece as one chunk, and the trailers behind the last (RFC 9112 section 7.1).
func (t *turn) sendChunks() error {
	if _, err := writePieces((*chunker)(t), t.answer.Content); err != nil {
		return err
	}
	b := append(t.block[:0], "0\r\n"...)
	b = field.AppendLines(b, t.answer.Content.Trailers())
	t.block = append(b, '\r', '\n')
	_, err := t.conn.Conn.Write(t.block)
	return err //nolint:wrapcheck // looked at by nobody
}

// chunker writes each piece as a chunk.
type chunker turn

// Write implements io.Writer. On TCP a large piece is written without a copy, by writev; any other
// connection would make several writes of that.
func (t *chunker) Write(piece []byte) (int, error) {
	b := strconv.AppendUint(t.block[:0], uint64(len(piece)), 16)
	b = append(b, '\r', '\n')
	conn := t.conn.Conn
	if _, tcp := conn.(*net.TCPConn); tcp && len(piece) > writeBuffer {
		t.block = b
		t.vector = append(t.room[:0], b, piece, crlf)
		_, err := t.vector.WriteTo(conn)
		clear(t.room[:])
		return len(piece), err //nolint:wrapcheck // looked at by nobody
	}
	t.block = append(append(b, piece...), crlf...)
	_, err := conn.Write(t.block)
	return len(piece), err //nolint:wrapcheck // looked at by nobody
}
