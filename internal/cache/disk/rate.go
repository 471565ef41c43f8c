package disk

import (
	"sync"
	"time"
)

// rate limits writes by a token bucket. Up to a second's worth may be written at once.
type rate struct {
	perSecond int64 // 0: no bound

	mu    sync.Mutex
	left  int64
	since time.Time
}

// allows reports whether any bytes are left.
func (r *rate) allows(now time.Time) bool {
	if r.perSecond == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if past := now.Sub(r.since); past > 0 || past < -time.Second { // if the clock went back, start again
		fresh := int64(min(max(past, 0), time.Second).Seconds() * float64(r.perSecond))
		r.left = min(r.left+fresh, r.perSecond)
		r.since = now
	}
	return r.left > 0
}

// spend takes n written bytes, even if fewer are left.
func (r *rate) spend(n int64) {
	if r.perSecond == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left -= n
}

// beyond reports whether n bytes are more than may be written in that time.
func (r *rate) beyond(n int64, in time.Duration) bool {
	return r.perSecond > 0 && float64(n) > float64(r.perSecond)*in.Seconds()
}
