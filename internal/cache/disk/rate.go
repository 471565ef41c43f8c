package disk

import (
	"sync"
	"time"
)

// rate says whether more may be written. Up to a second's worth may be written at once.
type rate struct {
	perSecond int64 // 0: there is no bound

	mu    sync.Mutex
	left  int64
	since time.Time
}

// allows reports whether anything is left.
func (r *rate) allows(now time.Time) bool {
	if r.perSecond == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if past := now.Sub(r.since); past > 0 || past < -time.Second { // a clock that went back starts anew
		fresh := int64(min(max(past, 0), time.Second).Seconds() * float64(r.perSecond))
		r.left = min(r.left+fresh, r.perSecond)
		r.since = now
	}
	return r.left > 0
}

// spend notes n bytes that were written, whatever is left.
func (r *rate) spend(n int64) {
	if r.perSecond == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left -= n
}

// beyond reports whether n bytes are more than what may be written in a time.
func (r *rate) beyond(n int64, in time.Duration) bool {
	return r.perSecond > 0 && float64(n) > float64(r.perSecond)*in.Seconds()
}
