package proxy

import (
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/flight"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rescue"
)

const (
	// slowAfter is how long a client may keep a response waiting, all in all, before the
	// response is read ahead of it.
	slowAfter = 250 * time.Millisecond
	// sweepEvery is how often a timer looks for clients that take nothing.
	sweepEvery = 250 * time.Millisecond
)

// readAheadBody is the body of an origin's response for one client, without a flight. At first the goroutine that serves the
// client reads it. Once the client has kept it waiting for slowAfter in all, another goroutine reads ahead of the client, into memory
// or a file. The origin's connection is then free as soon as the body has arrived, however slow the client is.
type readAheadBody struct {
	streams *readAheads
	src     *origin.Body
	client  netip.Prefix
	copying atomic.Int32 // one of the states below
	since   atomic.Int64 // when the client was last given something, in ns
	waited  time.Duration
	stream  *flight.Stream // once it is read ahead

	next, prev *readAheadBody // in streams; guarded by its mutex
	listed     bool
}

// The states of a body that may be read ahead. Reading: the client's goroutine reads from the
// origin. Writing: it waits for the client to take what it has read. Pumped: another goroutine
// reads from the origin, and the client's reads what that one has.
const (
	aheadReading int32 = iota
	aheadWriting
	aheadPumped
)

// Read gives the next bytes, from the origin or from what was read ahead.
func (a *readAheadBody) Read(p []byte) (int, error) {
	if a.copying.CompareAndSwap(aheadWriting, aheadReading) {
		a.waited += time.Duration(now().UnixNano() - a.since.Load())
		if a.waited >= slowAfter && a.streams.pump(a, aheadReading) {
			return a.stream.Read(p)
		}
	}
	if a.copying.Load() == aheadPumped {
		return a.stream.Read(p)
	}
	return a.src.Read(p)
}

// sent notes that what was read is about to be written.
func (a *readAheadBody) sent(at time.Time) {
	if a.streams == nil {
		return
	}
	a.since.Store(at.UnixNano())
	a.copying.CompareAndSwap(aheadReading, aheadWriting)
}

// Close ends the reading, and what reads ahead.
func (a *readAheadBody) Close() error {
	a.streams.remove(a)
	_ = a.src.Close()
	if a.copying.Swap(aheadPumped) == aheadPumped && a.stream != nil {
		a.stream.Close()
	}
	return nil
}

// readAheads are the bodies that may be read ahead. A timer looks at them while there are any, since a
// goroutine that waits in a write cannot notice that its client takes nothing.
type readAheads struct {
	open   func(*readAheadBody) *flight.Stream
	panics *rescue.Counter

	mu      sync.Mutex
	first   *readAheadBody
	timer   *time.Timer
	closed  bool
	pumping sync.WaitGroup
}

func (s *readAheads) add(a *readAheadBody) {
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

func (s *readAheads) remove(a *readAheadBody) {
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
func (s *readAheads) sweep() {
	at := now().UnixNano()
	var slow []*readAheadBody
	s.mu.Lock()
	for a := s.first; a != nil; a = a.next {
		if a.copying.Load() == aheadWriting && at-a.since.Load() >= int64(slowAfter) {
			slow = append(slow, a)
		}
	}
	if s.first != nil && !s.closed {
		s.timer.Reset(sweepEvery)
	}
	s.mu.Unlock()
	for _, a := range slow {
		s.pump(a, aheadWriting)
	}
}

// pump starts reading ahead for a if its state is from, and reports whether it has.
func (s *readAheads) pump(a *readAheadBody, from int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !a.listed {
		return false
	}
	a.stream = s.open(a) // before the state says that it is there
	if !a.copying.CompareAndSwap(from, aheadPumped) {
		a.stream.End(io.ErrClosedPipe)
		a.stream.Close()
		a.stream = nil
		return false
	}
	s.pumping.Go(a.run)
	return true
}

// run reads the origin's body to its end, or until the client has gone.
func (a *readAheadBody) run() {
	defer func() {
		if v := recover(); v != nil {
			a.streams.panics.Note(v)
			_ = a.src.Close()
			a.stream.End(errPanicked)
		}
	}()
	for {
		room := a.stream.Space()
		n, err := a.src.Read(room)
		if n > 0 {
			a.stream.Commit(n)
		}
		if err != nil {
			if err == io.EOF { //nolint:errorlint // a failure that wraps io.EOF is no end
				err = nil
			}
			a.stream.End(err)
			return
		}
	}
}

// close ends all reading ahead and waits for it.
func (s *readAheads) close() {
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
