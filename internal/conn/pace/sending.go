package pace

import (
	"net"
	"slices"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/pinned"
)

// Sending is a connection and the answer that is being sent on it, if there is one. Its
// exported methods are for the goroutine that sends the answer; a nil Sending does nothing.
type Sending struct {
	watch     *Watch
	conn      net.Conn
	progress  progress
	oneAnswer bool // the Watch drops it at the end of the answer

	state atomic.Uint64 // state of the answer: a serial number and, in the low bits, one of the states below
	since atomic.Int64  // when its request came, in nanoseconds of Unix time
	pin   atomic.Pointer[pinned.Body]
	more  atomic.Pointer[[]*pinned.Body] // further bodies; the slice is never changed in place

	// The Watch uses the fields below, and nobody else.
	sampledState   uint64 // the state whose answer the next two are of
	began          time.Time
	ackedAtBegin   int64 // acknowledged then
	rate           float64
	periodBegan    time.Time // began, of Options.SendRate
	ackedAtPeriod  int64     // acknowledged then
	queuedAtPeriod int64     // and queued
}

// The states of the answer: there is none, it is being sent, it was cut by the Watch.
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
	if s.oneAnswer {
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

// A rate is computed as if headStart bytes had been taken in headStartTime before the answer, so
// that an answer that has just begun is not the slowest.
const (
	headStart     = 64 << 10
	headStartTime = 250 * time.Millisecond
)

// sample computes the rate, in bytes a second, at which the client takes the answer.
func (s *Sending) sample(now time.Time) {
	state := s.state.Load()
	taken, ok := s.progress.acknowledged()
	if !ok {
		taken = 0
	}
	if s.sampledState != state {
		s.sampledState, s.began, s.ackedAtBegin = state, time.Unix(0, s.since.Load()), taken
	}
	age := max(now.Sub(s.began), 0) + headStartTime
	s.rate = float64(taken-s.ackedAtBegin+headStart) / age.Seconds()
}

// tooSlow reports whether the client has taken less in a whole period than rate asks for,
// although there was more to take. Two things begin the next period: the client has taken
// enough, or it has taken all that was queued when the period began and nothing queued is unsent.
func (s *Sending) tooSlow(rate Rate, now time.Time) bool {
	q, ok := s.progress.queue()
	if !ok {
		return false
	}
	taken := q.taken - s.ackedAtPeriod
	if q.unacked == 0 || s.queuedAtPeriod == 0 || taken >= rate.Bytes || q.unsent == 0 && taken >= s.queuedAtPeriod {
		s.periodBegan, s.ackedAtPeriod, s.queuedAtPeriod = now, q.taken, q.unacked
		return false
	}
	return now.Sub(s.periodBegan) >= rate.Over
}
