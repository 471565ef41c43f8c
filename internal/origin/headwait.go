package origin

import (
	"sync"
	"time"
)

// headWait bounds the wait for the response head of a request with a body. The
// wait starts when all of the request is sent. A head that begins earlier has the
// same time from its first byte on. The sender and the reader of a connection both
// set its read deadline, hence the lock.
type headWait struct {
	c     *conn
	limit time.Duration

	mu      sync.Mutex
	isSent  bool
	reading bool // a head has begun
}

// sent notes that nothing more will be sent.
func (w *headWait) sent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isSent && !w.reading {
		w.setLocked(time.Now().Add(w.limit))
	}
	w.isSent = true
}

// begun notes the first byte of a head.
func (w *headWait) begun() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isSent {
		w.setLocked(time.Now().Add(w.limit))
	}
	w.reading = true
}

// interim notes that the head was an interim one. After the request is sent the
// deadline stays: interim responses gain no time.
func (w *headWait) interim() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isSent {
		w.setLocked(time.Time{})
	}
	w.reading = false
}

// setLocked sets the deadline. An error means that the connection is closed, and
// reading it will say so.
func (w *headWait) setLocked(t time.Time) { _ = w.c.nc.SetReadDeadline(t) }
