package flight

import "errors"

// ErrAbandoned ends a flight whose leader left before the fetch began.
var ErrAbandoned = errors.New("flight: abandoned by its leader")

// Abandon is Close for a caller that does not know what has been done so far, such as one that
// recovers a panic. If r leads a flight whose fetch was never begun by Go, the flight fails. If
// the fetch goes on, Abandon waits for its header, because the fetch may use the leader's
// request until then. It may be called after Close.
func (r *Reader[K, H]) Abandon() {
	r.table.mu.Lock()
	f := r.own.flight
	if f != nil && !f.fetchBegun {
		f.fetchBegun = true
		r.table.mu.Unlock()
		f.Finish(ErrAbandoned)
		_ = r.Close()
		return
	}
	if f != nil && f.hold != nil { // the caller panicked in suits; see Wait
		r.keepsOwn, f.superseded = true, false
		close(f.hold)
		f.hold = nil
	}
	for f != nil && !f.settled {
		changed := f.round.changedLocked()
		r.table.mu.Unlock()
		<-changed
		r.table.mu.Lock()
	}
	r.table.mu.Unlock()
	_ = r.Close()
}
