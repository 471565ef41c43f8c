package origin

import (
	"errors"
	"sync"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/field"
)

// errStopped is the error of an upload that was stopped.
var errStopped = errors.New("sending the request body was stopped")

// upload sends one request with a body, in a goroutine of its own: an origin
// may answer before it has read all (RFC 9112 section 9.5), and that answer
// must be read while we still send. stop ends it and waits.
type upload struct {
	c    *conn
	r    *Request
	wait *headWait
	last bool // the connection carries no other request after this one
	buf  []byte

	panics *rescue.Counter

	trailers field.List // to be sent behind the last chunk

	mu      sync.Mutex
	reading bool // r.Body may still be read
	stopped bool

	done chan struct{}
	err  error // to be read after done: nil means that all was sent
}

func startUpload(x *attempt) *upload {
	u := &upload{c: x.c, r: x.r, wait: x.wait, last: x.last(), panics: x.origin.options.Panics, reading: true, done: make(chan struct{})}
	go u.run()
	return u
}

// stop ends the upload, if it has not ended, and waits until neither the body
// nor the connection is used by it. It returns nil if all was sent.
func (u *upload) stop() error {
	u.mu.Lock()
	u.stopped = true
	reading := u.reading
	u.mu.Unlock()
	// An error here means that the connection is closed: then writes end too.
	_ = u.c.nc.SetWriteDeadline(time.Unix(1, 0))
	if reading && u.r.Interrupt != nil {
		u.r.Interrupt()
	}
	<-u.done
	return u.err
}

func (u *upload) run() {
	defer close(u.done)
	err := u.trySend()
	u.bodyDone()
	u.mu.Lock()
	stopped := u.stopped
	u.mu.Unlock()
	switch _, broken := errors.AsType[*bodyError](err); {
	case err == nil:
	case stopped:
		err = errStopped // any other error is a consequence
	case broken:
		u.panics.Quietly(u.c.close) // the origin must not take what it got for the whole; the head is not awaited
	}
	u.err = err
	u.wait.sent() // also after a failed write: the origin may have answered before it closed
}

// trySend is send. Nobody else could recover here: a panic would end the whole process.
func (u *upload) trySend() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &bodyError{u.panics.Caught(v)}
		}
	}()
	return u.send()
}

func (u *upload) send() error {
	u.c.out = u.r.appendHead(u.c.out[:0], u.c.server.Host, u.last)
	if u.r.ContentLength == 0 {
		// The head is the whole request: look at the body before it is sent.
		u.buf = make([]byte, 1)
		if _, _, err := u.nextPiece(0); err != nil {
			return err
		}
		return u.write(u.c.out)
	}
	if err := u.write(u.c.out); err != nil {
		return err
	}
	if u.r.ContentLength < 0 {
		return u.sendChunked()
	}
	return u.sendLength()
}

// bodyDone notes that the body will not be read any more.
func (u *upload) bodyDone() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
}

func (u *upload) isStopped() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stopped
}

// write sends p within the idle timeout.
func (u *upload) write(p []byte) error {
	if err := u.c.nc.SetWriteDeadline(time.Now().Add(u.c.idle)); err != nil {
		return err
	}
	// Asked after the deadline is set: either this sees the stop, or the stop
	// comes later and its deadline replaces ours.
	if u.isStopped() {
		return errStopped
	}
	_, err := u.c.nc.Write(p)
	return err
}
