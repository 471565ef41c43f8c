package pace

import (
	"net"
	"slices"
	"sync/atomic"
	"time"

	"edgeproxy/internal/pinned"
)

// Sending is a connection and the answer that is being sent on it, if there is one. Its
// exported methods are for the goroutine that sends the answer; a nil Sending does nothing.
type Sending struct {
	watch    *Watch
	conn     net.Conn
	progress progress
	passing  bool // the Watch forgets it with its answer

	state atomic.Uint64 // of the answer: a serial number and, in the low bits, a state of those below
	since atomic.Int64  // its request, in nanoseconds of Unix time
	pin   atomic.Pointer[pinned.Body]
	more  atomic.Pointer[[]*pinned.Body] // besides; never changed

	// The Watch uses the fields below, and nobody else.
	seen    uint64 // the state whose answer the next two are of
	began   time.Time
	base    int64 // acknowledged then
	rate    float64
	period  time.Time // began, of Options.Send
	asked   int64     // acknowledged then
	waiting int64     // and queued
}

// What becomes of the answer.
const (
	none = iota
	sent
	cut
	stateBits = 2
)

func (s *Sending) begin(at time.Time) {
	s.since.Store(at.UnixNano())
	s.state.Store((s.state.Load()>>stateBits+1)<<stateBits | sent)
}

func (s *Sending) sending() bool { return s.state.Load()&(1<<stateBits-1) == sent }

// Hold notes that the answer is sent from b, until Release or Close.
func (s *Sending) Hold(b *pinned.Body) {
	if s == nil || b == nil {
		return
	}
	b.Hold()
	if s.pin.CompareAndSwap(nil, b) {
		return
	}
	var all []*pinned.Body
	if more := s.more.Load(); more != nil {
		all = *more
	}
	all = append(slices.Clip(all), b)
	s.more.Store(&all)
}

// Release takes back one Hold of b.
func (s *Sending) Release(b *pinned.Body) {
	if s == nil || b == nil {
		return
	}
	if !s.pin.CompareAndSwap(b, nil) {
		all := slices.Clone(*s.more.Load())
		at := slices.Index(all, b)
		all = slices.Delete(all, at, at+1)
		s.more.Store(&all)
	}
	b.Release()
}

// Close ends the answer, and what it holds.
func (s *Sending) Close() error {
	if s == nil {
		return nil
	}
	s.state.Store(s.state.Load() >> stateBits << stateBits)
	if b := s.pin.Swap(nil); b != nil {
		b.Release()
	}
	if more := s.more.Swap(nil); more != nil {
		for _, b := range *more {
			b.Release()
		}
	}
	if s.passing {
		s.watch.Leave(s.conn)
	}
	return nil
}

// pinned calls f for each body that s pins.
func (s *Sending) pinned(f func(*pinned.Body)) {
	if b := s.pin.Load(); b.Pinned() > 0 {
		f(b)
	}
	if more := s.more.Load(); more != nil {
		for _, b := range *more {
			if b.Pinned() > 0 {
				f(b)
			}
		}
	}
}

// A rate is reckoned as if headStart bytes had been taken in the time before an answer, so
// that one which has just begun is not the slowest.
const (
	headStart     = 64 << 10
	headStartTime = 250 * time.Millisecond
)

// sample works out at what rate, in bytes a second, the client takes the answer.
func (s *Sending) sample(now time.Time) {
	state := s.state.Load()
	taken, ok := s.progress.acknowledged()
	if !ok {
		taken = 0
	}
	if s.seen != state {
		s.seen, s.began, s.base = state, time.Unix(0, s.since.Load()), taken
	}
	age := max(now.Sub(s.began), 0) + headStartTime
	s.rate = float64(taken-s.base+headStart) / age.Seconds()
}

// lags reports whether the client has taken less in a whole period than rate asks for,
// although there was more to take. Two things begin the next period: the client has taken
// enough, or it has taken all that waited when the period began and nothing is held back from
// it.
func (s *Sending) lags(rate Rate, now time.Time) bool {
	q, ok := s.progress.queue()
	if !ok {
		return false
	}
	taken := q.taken - s.asked
	if q.waits == 0 || s.waiting == 0 || taken >= rate.Bytes || q.unsent == 0 && taken >= s.waiting {
		s.period, s.asked, s.waiting = now, q.taken, q.waits
		return false
	}
	return now.Sub(s.period) >= rate.Over
}
