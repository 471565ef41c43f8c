package proxy

import (
	"errors"
	"io"
	"sync"
)

// An upload is read ahead before a connection to the origin is taken, or a place in its
// queue: who sends slowly takes neither from others until Options.RequestBuffer bytes of
// the body are here, or all of it.

// smallUpload is the first buffer of an upload: many bodies fit, and who sends no more has
// no more memory.
const smallUpload = 4 << 10

// uploadBuffers are of two sizes, smallUpload and Options.RequestBuffer.
type uploadBuffers struct {
	size         int // of a large one; 0 is no reading ahead
	small, large sync.Pool
}

func newUploadBuffers(size int64) *uploadBuffers {
	b := &uploadBuffers{size: int(size)}
	b.small.New = func() any { return pooled(min(smallUpload, b.size)) }
	b.large.New = func() any { return pooled(b.size) }
	return b
}

func pooled(size int) *[]byte {
	buffer := make([]byte, 0, size)
	return &buffer
}

// put takes back a buffer that nobody reads any more.
func (b *uploadBuffers) put(buffer *[]byte) {
	if cap(*buffer) == b.size {
		b.large.Put(buffer)
		return
	}
	b.small.Put(buffer)
}

// readAhead reads the beginning of x's body, if it has one, and reports whether the
// origin may be asked. If not, x has its answer.
func (p *Proxy) readAhead(x *exchange) bool {
	u := x.upload
	if u == nil || p.uploads.size == 0 {
		return true
	}
	err := u.readAhead(p.uploads)
	if err == nil {
		return true
	}
	status, why := uploadFailure(err)
	p.refuse(x, status, why)
	p.Log.Debug("request failed", "route", x.route.Name, "status", status, "reason", why.String(), "error", err)
	return false
}

// readAhead fills ahead: with all of the body, or as much as there is room for.
func (u *upload) readAhead(from *uploadBuffers) error {
	u.buffer = from.small.Get().(*[]byte)
	for {
		b := (*u.buffer)[:cap(*u.buffer)]
		n, err := u.receive(b[len(u.ahead):])
		u.ahead = b[:len(u.ahead)+n]
		switch {
		case errors.Is(err, io.EOF):
			if u.length >= 0 && int64(len(u.ahead)) < u.length {
				u.whole = false
				return io.ErrUnexpectedEOF
			}
			u.complete = true
			return nil
		case err != nil:
			return err
		case len(u.ahead) == from.size:
			return nil
		case len(u.ahead) == len(b):
			large := from.large.Get().(*[]byte)
			copy((*large)[:len(u.ahead)], u.ahead)
			u.ahead = (*large)[:len(u.ahead)]
			from.put(u.buffer)
			u.buffer = large
		}
	}
}

// release gives the buffer back. Nobody may read u after that.
func (u *upload) release(to *uploadBuffers) {
	if u != nil && u.buffer != nil {
		to.put(u.buffer)
		u.ahead, u.buffer = nil, nil
	}
}
