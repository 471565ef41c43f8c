package origin

import (
	"fmt"
	"io"
	"strconv"

	"edgeproxy/internal/http/field"
)

const (
	uploadBufferBytes = 32 << 10
	// maxEmptyReads bounds reads of a request body that return nothing.
	maxEmptyReads = 100
)

// bodyError is a request body that failed or was not as announced.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "request body: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// sendLength sends a body of known length, above 0. The last piece goes only when the
// body is known to end there, so that one of another length is never taken for
// whole by the origin.
func (u *upload) sendLength() error {
	left := u.r.ContentLength
	u.buf = make([]byte, min(left, uploadBufferBytes)+1)
	for {
		piece, last, err := u.nextPiece(left)
		if err != nil {
			return err
		}
		left -= int64(len(piece))
		if last && left > 0 {
			return &bodyError{fmt.Errorf("%d bytes short of its Content-Length of %d bytes: %w", left, u.r.ContentLength, io.ErrUnexpectedEOF)}
		}
		if err := u.write(piece); err != nil || last {
			return err
		}
	}
}

// nextPiece reads on in a body of which that many bytes are left, and makes sure
// that it ends with the last of them.
func (u *upload) nextPiece(left int64) (piece []byte, last bool, err error) {
	n := 0
	if left > 0 {
		n, last, err = u.read(u.buf[:min(left, uploadBufferBytes)])
		if err != nil || last || int64(n) < left {
			return u.buf[:n], last, err
		}
	}
	excess, _, err := u.read(u.buf[n : n+1])
	if err == nil && excess > 0 {
		err = &bodyError{fmt.Errorf("longer than its Content-Length of %d bytes", u.r.ContentLength)}
	}
	return u.buf[:n], true, err
}

// sendChunked sends a body of unknown length, each piece read as one chunk in
// one write.
func (u *upload) sendChunked() error {
	const room = len("ffffffff\r\n") // before the data, for the size
	u.buf = make([]byte, room+uploadBufferBytes+len("\r\n0\r\n\r\n"))
	for {
		n, last, err := u.read(u.buf[room : room+uploadBufferBytes])
		if err != nil {
			return err
		}
		chunk := u.buf[room:room]
		if n > 0 {
			size := strconv.AppendInt(make([]byte, 0, room), int64(n), 16)
			size = append(size, "\r\n"...)
			start := room - len(size)
			copy(u.buf[start:], size)
			chunk = append(u.buf[start:room+n], "\r\n"...)
		}
		if last {
			chunk = append(chunk, "0\r\n"...)
			for i := range u.trailers {
				chunk = appendField(chunk, u.trailers[i].Name, u.trailers[i].Value)
			}
			chunk = append(chunk, "\r\n"...)
		}
		if err := u.write(chunk); err != nil || last {
			return err
		}
	}
}

// takeTrailers asks for the trailers of a body that has ended. It refuses a trailer that
// cannot be sent, or that would change the message for a server that merges it into the
// header. It does not rely on checks of the caller: see validate of Request.
func (r *Request) takeTrailers() (field.List, error) {
	if r.Trailers == nil || r.ContentLength >= 0 {
		return nil, nil
	}
	trailers := r.Trailers()
	for i := range trailers {
		f := &trailers[i]
		switch field.Canonical(f.Name) {
		case "Host", "Connection", "Te", "Trailer", "Upgrade", "Content-Length", "Transfer-Encoding":
			return nil, &bodyError{fmt.Errorf("trailer field %s is not allowed", f.Name)}
		}
		if !field.ValidName(f.Name) || !field.ValidValue(f.Value) {
			return nil, &bodyError{fmt.Errorf("invalid name or value of trailer field %.40q", f.Name)}
		}
	}
	return trailers, nil
}

// read reads the body into p, which is not empty: at least a byte unless it is
// the last read. The error is a bodyError or errStopped.
func (u *upload) read(p []byte) (n int, last bool, err error) {
	for range maxEmptyReads {
		if u.isStopped() {
			return 0, false, errStopped
		}
		n, err = u.r.Body.Read(p)
		switch {
		case err == io.EOF:
			trailers, failure := u.r.takeTrailers()
			u.trailers = trailers
			u.bodyDone()
			return n, true, failure
		case err != nil:
			return 0, false, &bodyError{err}
		case n > 0:
			return n, false, nil
		}
	}
	return 0, false, &bodyError{io.ErrNoProgress}
}
