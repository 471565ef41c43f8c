package disk

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/device"
)

// health says whether a volume works, and ends it. It is safe for concurrent use, except for inARow, which is the writer's.
type health struct {
	now      func() time.Time
	deadline time.Duration // bound of one call of the writer
	counts   *counts

	calling atomic.Int64 // when the writer's present call began, in ns; 0: none
	slow    atomic.Int64 // reads given up since one was answered
	inARow  int          // consecutive failed calls of the writer
	failure atomic.Pointer[error]
	once    sync.Once      // sets failure
	broke   chan struct{}  // closed with the first failure
	stop    chan struct{}  // closed when the volume has to end
	ended   chan struct{}  // closed when the writer has ended
	wg      sync.WaitGroup // counts all goroutines of the volume
}

// fail ends the volume: from now on it finds nothing and accepts nothing.
func (h *health) fail(err error) {
	h.once.Do(func() {
		h.failure.Store(&err)
		close(h.broke)
	})
}

func (h *health) failed() bool { return h.failure.Load() != nil }

// call makes one system call of the writer, so that the watch sees how long it takes.
func (h *health) call(do func() error) error { return h.note(h.watched(do)) }

// watched is call for a call whose failure says nothing of the directory.
func (h *health) watched(do func() error) error {
	h.calling.Store(h.now().UnixNano())
	err := do()
	h.calling.Store(0)
	return err
}

// failuresToEnd is how many consecutive failed calls make the directory count as failed.
const failuresToEnd = 4

// note counts a failure.
func (h *health) note(err error) error {
	switch {
	case err == nil:
		h.inARow = 0
	case errors.Is(err, errNoSpace):
		h.counts.noSpace.Add(1)
	case errors.Is(err, device.ErrUnsupported), errors.Is(err, device.ErrCached):
	default:
		h.counts.writeErrors.Add(1)
		if h.inARow++; h.inARow >= failuresToEnd {
			h.fail(err)
		}
	}
	return err
}

// wait waits for the writer's answer, until the volume ends. Timeout may be nil.
func (h *health) wait(done chan error, timeout <-chan time.Time) error {
	select {
	case err := <-done:
		return err
	case <-timeout:
		return ErrSlow
	case <-h.broke:
		return *h.failure.Load()
	case <-h.ended:
	}
	select {
	case err := <-done: // the writer answered just before it ended
		return err
	default:
		return ErrOff
	}
}

// slowReads is how many consecutive reads have to be given up before the directory counts as hung.
const slowReads = 8

// errHung says that the device does not answer.
var errHung = errors.New("the device does not respond")

// checkHung fails a volume whose writer hangs in one call, or whose reads are all given up.
func (h *health) checkHung(now time.Time) {
	began := h.calling.Load()
	if began != 0 && now.Sub(time.Unix(0, began)) > h.deadline || h.slow.Load() >= slowReads {
		h.fail(errHung)
	}
}

// stopping reports whether v is being closed.
func (h *health) stopping() bool {
	select {
	case <-h.stop:
		return true
	default:
		return false
	}
}

// ending reports whether the volume has failed or is being closed.
func (h *health) ending() bool {
	select {
	case <-h.stop:
		return true
	case <-h.broke:
		return true
	default:
		return false
	}
}

// sleep waits, and returns false if the volume ends meanwhile.
func (h *health) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.stop:
	case <-h.broke:
	}
	return false
}
