package flight

import "errors"

// ErrAbandoned ends a flight whose leader has left before the fetch began.
var ErrAbandoned = errors.New("flight: abandoned by its leader")

// Abandon is Close for who does not know how far it has come, as after a panic in its
// goroutine. A flight that it leads and whose fetch was never begun by Go fails. One whose
// fetch goes on is awaited up to its header: it may look at the leader's request until
// then. It may be called after Close.
func (r *Reader[K, H]) Abandon() {
	r.table.mu.Lock()
	f := r.own.flight
	if f != nil && !f.fetched {
		f.fetched = true
		r.table.mu.Unlock()
		f.Finish(ErrAbandoned)
		_ = r.Close()
		return
	}
	if f != nil && f.hold != nil { // it has panicked while it was asked for the last word
		r.stays, f.surplus = true, false
		close(f.hold)
		f.hold = nil
	}
	for f != nil && !f.settled {
		moved := f.round.moved
		r.table.mu.Unlock()
		<-moved
		r.table.mu.Lock()
	}
	r.table.mu.Unlock()
	_ = r.Close()
}
