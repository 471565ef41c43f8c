package http2

import (
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/conn/pace"
)

// check is called by the sweeper at the time t, passed after its last call. It ends streams whose
// client takes too little, and a connection that has waited for too long.
func (c *conn) check(t time.Time, passed time.Duration) {
	o := &c.s.o
	if c.stuck(t) {
		o.Log.Debug("HTTP/2 connection closed", "client", c.nc.RemoteAddr().String(), "error", "the client reads nothing")
		c.kill()
		return
	}
	idle, slow, silent := c.inspect(t, passed)
	for _, s := range slow {
		if o.Slow != nil {
			o.Slow()
		}
		s.reset(xhttp2.ErrCodeInternal, errGone)
	}
	for _, s := range idle {
		s.reset(xhttp2.ErrCodeInternal, errGone)
	}
	if silent {
		c.signal()
	}
}

// inspect returns the streams to be ended, and whether the connection is to be ended. The unlock is deferred,
// because after a panic the sweeper calls check again.
func (c *conn) inspect(t time.Time, passed time.Duration) (idle, slow []*stream, silent bool) {
	moves := c.keepsPace(passed)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		s.up.freeUnusedLocked()
		switch s.check(passed, c.s.o.WriteIdleTimeout, moves) {
		case takesNothing:
			idle, s.shared = append(idle, s), true
		case takesTooLittle:
			slow, s.shared = append(slow, s), true
		}
	}
	if c.sweep.rest.elapsed(uint64(c.lastID), t) >= spareTime && len(c.streams) == 0 {
		c.spare = nil
	}
	return idle, slow, c.silentTooLongLocked(t) || c.ackOverdueLocked(t)
}

// stuck reports whether the write under way has taken too long.
func (c *conn) stuck(t time.Time) bool {
	n := c.writes.Load()
	w := &c.sweep.write
	return w.elapsed(n, t) >= c.s.o.WriteIdleTimeout && n%2 == 1
}

// silentTooLongLocked ends a connection whose client sends no request, or does not end a header, for too long. It
// reports whether it has.
func (c *conn) silentTooLongLocked(t time.Time) bool {
	o := &c.s.o
	if c.dead || c.leaving == goAwayFinal {
		return false
	}
	// n names the request, or the long header, that is waited for.
	n := uint64(c.lastID)<<32 | uint64(c.headers)<<2 //nolint:gosec // only compared
	switch {
	case c.leaving == goAwayWarned:
		n |= 1
	case len(c.streams) > 0 && !c.inHeader:
		n |= 2
	}
	waited := c.sweep.wait.elapsed(n, t)
	var most time.Duration
	switch {
	case c.leaving == goAwayWarned:
		most = goAwayPatience
	case c.inHeader || !c.hasRequest:
		most = o.HeaderTimeout
	case len(c.streams) == 0:
		most = o.KeepaliveTimeout
	default:
		return false
	}
	if waited < most {
		return false
	}
	c.closeLocked()
	return true
}

// ackOverdueLocked ends a connection whose client has not acknowledged our settings within ackTimeout (RFC 9113
// section 6.5.3), and reports whether it has.
func (c *conn) ackOverdueLocked(t time.Time) bool {
	if c.dead || c.settingsAcked || c.leaving == goAwayFinal || c.sweep.all.elapsed(0, t) < ackTimeout {
		return false
	}
	c.leaving = goAwayFinal
	c.out.goAway(c.lastID, xhttp2.ErrCodeSettingsTimeout)
	return true
}

// sweepState is what the sweeper notes of a connection between two calls of check.
type sweepState struct {
	write stopwatch // the write under way, or the pause between two
	wait  stopwatch // what the connection waits for
	all   stopwatch // the connection
	rest  stopwatch // since its last stream began
	moved int64     // bytes moved since then, at the last look
}

// stopwatch measures how long a number stays the same.
type stopwatch struct {
	n     uint64
	since time.Time
}

// elapsed returns for how long the number has been n.
func (l *stopwatch) elapsed(n uint64, t time.Time) time.Duration {
	if n != l.n || l.since.IsZero() {
		l.n, l.since = n, t
	}
	return t.Sub(l.since)
}

// How a stream is taken.
const (
	takesEnough = iota
	takesTooLittle
	takesNothing
)

// keepsPace reports whether the client, in the time passed since the last check, has taken as much content as
// the pace asks for, of all streams together.
func (c *conn) keepsPace(passed time.Duration) bool {
	n := c.contentSent.Load()
	took := n - c.sweep.moved
	c.sweep.moved = n
	least := 0.0
	if send := c.s.o.SendRate; send.Bytes > 0 {
		least = float64(send.Bytes) * passed.Seconds() / send.Over.Seconds()
	}
	return took > 0 && float64(took) >= least
}

// check is called by the sweeper, passed after its last call. It counts the time in which content waits
// for the client: for the window of the stream, or for the connection. It does not count the time in which
// other streams are sent; moves says that they are.
func (s *stream) check(passed, most time.Duration, moves bool) int {
	taken := s.taken.Load()
	n := taken - s.seen
	s.seen = taken
	if moves && s.ready { // its turn to be sent comes later, and its period begins then
		s.stuck, s.meter = 0, pace.NewMeter(s.c.s.o.SendRate)
		return takesEnough
	}
	if s.content.left == 0 || s.headDue {
		s.stuck = 0
		s.meter.Add(int(n), 0)
		return takesEnough
	}
	if n > 0 {
		s.stuck = 0
	} else {
		s.stuck += passed
	}
	if _, ok := s.meter.Left(); ok && s.meter.Add(int(n), passed) {
		return takesTooLittle
	}
	if s.stuck >= most {
		return takesNothing
	}
	return takesEnough
}
