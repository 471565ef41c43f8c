package flight

import (
	"sync/atomic"
	"time"
)

// maxRead is the most one Next returns, so that a reader's progress is seen in
// steps of that size.
const maxRead = 256 << 10

// Reader is one client's part in a flight, leader or follower. It must be
// closed. One goroutine at a time uses it, but Close may come from another.
type Reader[K comparable, H any] struct {
	flight *Flight[K, H]
	cursor *cursor
	leader bool
	closed atomic.Bool
}

// Flight returns the flight; the leader's fetch works on it.
func (r *Reader[K, H]) Flight() *Flight[K, H] { return r.flight }

// Wait waits for the header, a follower at most d (0 or less: no limit). With
// Shared it returns the header and the Reader gives the body; with any other
// outcome there is nothing to read and the caller closes the Reader.
func (r *Reader[K, H]) Wait(d time.Duration) (h H, o Outcome, err error) {
	f := r.flight
	if r.leader || d <= 0 {
		<-f.settled
	} else {
		select {
		case <-f.settled:
		default:
			t := time.NewTimer(d)
			select {
			case <-f.settled:
				t.Stop()
			case <-t.C:
				return h, TimedOut, nil
			}
		}
	}
	if o = f.outcome; r.leader && o == Released {
		o = Shared // what cannot be shared is the leader's alone
	}
	return f.header, o, f.err
}

// Next returns the next bytes of the body, at most 256 KiB, and waits for them.
// They are shared by all readers and must not be changed; they stay valid for
// good. io.EOF ends a whole body, any other error a broken one.
func (r *Reader[K, H]) Next() ([]byte, error) { return r.flight.body.next(r.cursor, maxRead) }

// Read is Next as an io.Reader.
func (r *Reader[K, H]) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	q, err := r.flight.body.next(r.cursor, len(p))
	return copy(p, q), err
}

// Leave is Close for a reader that has all that it came for: the fetch goes on to its end,
// whoever else wants it. It is for bodies of which so little is left that to break them
// off would cost more.
func (r *Reader[K, H]) Leave() {
	f := r.flight
	f.table.mu.Lock()
	f.lasting = true
	f.table.mu.Unlock()
	_ = r.Close()
}

// Close takes the reader out of the flight. If nobody else reads and nobody
// will store, the fetch ends.
func (r *Reader[K, H]) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	f := r.flight
	f.table.mu.Lock()
	f.interest--
	f.endIfUnwantedLocked()
	f.table.mu.Unlock()
	f.body.leave(r.cursor)
	return nil
}
