package readahead

import (
	"io"
	"net/netip"
	"sync"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/proxy/internal/flight"
)

const (
	// slowAfter is how long a client may keep a response waiting, all in all, before the
	// response is read ahead of it.
	slowAfter = 250 * time.Millisecond
	// sweepEvery is how often a timer looks for clients that take nothing.
	sweepEvery = 250 * time.Millisecond
)

// Bodies are the bodies that may be read ahead. A timer looks at them while there are any, since a
// goroutine that waits in a write cannot notice that its client takes nothing. They are safe for concurrent use.
type Bodies struct {
	open   func(client netip.Prefix) *flight.Stream
	now    func() time.Time
	panics *rescue.Counter

	mu      sync.Mutex
	first   *Body
	timer   *time.Timer
	closed  bool
	pumping sync.WaitGroup
}

// New returns Bodies without a body. open returns what a body of this client is read ahead into; it must not block. now returns
// the time. panics may be nil.
func New(open func(client netip.Prefix) *flight.Stream, now func() time.Time, panics *rescue.Counter) *Bodies {
	return &Bodies{open: open, now: now, panics: panics}
}

// Begin makes the zero Body a read from src, for this client. It may be read ahead from now on. The Body owns src: it closes it, and
// only one goroutine at a time reads it.
func (s *Bodies) Begin(a *Body, src io.ReadCloser, client netip.Prefix) {
	a.bodies, a.src, a.client = s, src, client
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.next = s.first; a.next != nil {
		a.next.prev = a
	}
	s.first, a.listed = a, true
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(sweepEvery, func() { s.panics.Quietly(s.sweep) })
	case a.next == nil:
		s.timer.Reset(sweepEvery)
	}
}

func (s *Bodies) remove(a *Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.listed {
		return
	}
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		s.first = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	}
	a.listed, a.next, a.prev = false, nil, nil
}

// sweep starts reading ahead for clients that have taken nothing for slowAfter.
func (s *Bodies) sweep() {
	at := s.now().UnixNano()
	var slow []*Body
	s.mu.Lock()
	for a := s.first; a != nil; a = a.next {
		if a.state.Load() == stateWriting && at-a.since.Load() >= int64(slowAfter) {
			slow = append(slow, a)
		}
	}
	if s.first != nil && !s.closed {
		s.timer.Reset(sweepEvery)
	}
	s.mu.Unlock()
	for _, a := range slow {
		s.pump(a, stateWriting)
	}
}

// pump starts reading ahead for a if its state is from, and reports whether it has.
func (s *Bodies) pump(a *Body, from int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !a.listed {
		return false
	}
	a.stream = s.open(a.client) // before the state says that it is there
	if !a.state.CompareAndSwap(from, statePumped) {
		a.stream.End(io.ErrClosedPipe)
		a.stream.Close()
		a.stream = nil
		return false
	}
	s.pumping.Go(a.run)
	return true
}

// Close ends all reading ahead and waits for it. Bodies that are begun later are not read ahead.
func (s *Bodies) Close() {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	for a := s.first; a != nil; a = a.next {
		if a.stream != nil {
			_ = a.src.Close()
			a.stream.Close()
		}
	}
	s.mu.Unlock()
	s.pumping.Wait()
}
