package origin

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"edgeproxy/internal/conn/rescue"
)

// streamUpload is a request body that the library reads in a goroutine of its own. It keeps the laws of upload: a body that is
// not as announced never looks whole, stop ends it and waits, and the time is bounded in which the origin takes what was read.
type streamUpload struct {
	r         *Request
	trailers  http.Header // to be filled; nil: none may be sent
	idle      time.Duration
	waitLimit *waitLimit      // bounds the wait for the origin between two reads
	ended     <-chan struct{} // closed with the stream
	closed    chan struct{}   // closed when the library closes the body
	close     func()
	panics    *rescue.Counter

	mu       sync.Mutex
	readDone sync.Cond // reading has become false
	begun    bool      // r.Body was asked for
	reading  bool
	whole    bool // all of r.Body was read
	stopped  bool
	left     int64 // bytes left of the length that was announced; below 0: none was
	err      error // a bodyError
}

func newStreamUpload(s *stream) *streamUpload {
	u := &streamUpload{
		r: s.r, idle: s.idle, waitLimit: &s.waitLimit, ended: s.ctx.Done(), panics: s.origin.options.Panics, left: s.r.ContentLength,
	}
	if s.r.Trailers != nil && s.r.ContentLength < 0 {
		u.trailers = make(http.Header)
	}
	u.readDone.L = &u.mu
	u.closed = make(chan struct{})
	u.close = sync.OnceFunc(func() { close(u.closed) })
	return u
}

// Read is called by the library. Once the upload has stopped it waits until the library closes it, or the stream ends: an
// error at once would end the response, too.
func (u *streamUpload) Read(p []byte) (n int, err error) {
	if u.enter() {
		u.waitLimit.end()
		n, err = u.read(p)
		if u.leave(err) {
			u.waitLimit.begin(u.idle)
			return n, err
		}
	}
	select {
	case <-u.ended:
	case <-u.closed:
	}
	return 0, errStopped
}

// Close is called by the library, also while Read waits. It does not end a Read of r.Body; stop does.
func (u *streamUpload) Close() error {
	u.close()
	return nil
}

func (u *streamUpload) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = !u.stopped
	u.begun = u.begun || u.reading
	return u.reading
}

// leave notes the result of a read, and reports whether the upload goes on.
func (u *streamUpload) leave(err error) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	u.readDone.Broadcast()
	switch {
	case err == io.EOF: //nolint:errorlint // an error that wraps it is no end
		u.whole = true
	case u.stopped:
		return false // an error is a consequence
	case err != nil:
		u.err = err
	}
	return true
}

// read reads the body, at least a byte unless it ends. Errors but io.EOF are bodyErrors.
func (u *streamUpload) read(p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, &bodyError{u.panics.Caught(v)}
		}
	}()
	if u.left >= 0 && int64(len(p)) > u.left {
		p = p[:u.left+1] // one more, to see that there is no more
	}
	for range maxEmptyReads {
		n, err = u.r.Body.Read(p)
		if u.left >= 0 {
			if u.left -= int64(n); u.left < 0 {
				return 0, &bodyError{fmt.Errorf("longer than its Content-Length of %d bytes", u.r.ContentLength)}
			}
		}
		switch {
		case err == io.EOF:
			return n, u.end()
		case err != nil:
			return 0, &bodyError{err}
		case n > 0:
			return n, nil
		}
	}
	return 0, &bodyError{io.ErrNoProgress}
}

// end returns io.EOF for a body that has ended, or why it may not end there.
func (u *streamUpload) end() error {
	if u.left > 0 {
		return &bodyError{fmt.Errorf("%d bytes short of its Content-Length of %d bytes: %w", u.left, u.r.ContentLength, io.ErrUnexpectedEOF)}
	}
	trailers, err := u.r.takeTrailers()
	if err != nil {
		return err
	}
	for i := range trailers {
		u.trailers.Add(trailers[i].Name, trailers[i].Value)
	}
	return io.EOF
}

// uploaded is what has become of a request body.
type uploaded struct {
	whole bool  // it was sent, or there is none
	begun bool  // it was asked for
	err   error // error of the body; a bodyError
}

// stop ends the upload, and waits until r.Body is not read any more. answered says that the origin has answered; if not,
// a body that nobody has asked for stays as it was.
func (u *streamUpload) stop(answered bool) uploaded {
	u.waitLimit.close()
	u.mu.Lock()
	u.stopped = true
	interrupt := !u.whole && (answered || u.begun) && u.r.Interrupt != nil
	u.mu.Unlock()
	if interrupt {
		u.r.Interrupt()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.reading {
		u.readDone.Wait()
	}
	return uploaded{whole: u.whole, begun: u.begun, err: u.err}
}
