package http2

import (
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/pace"
)

// look looks at the connection at the time t, passed after the last look. It ends streams whose
// client takes too little, and a connection that has waited for too long.
func (c *conn) look(t time.Time, passed time.Duration) {
	o := &c.s.o
	if c.stuck(t) {
		o.Log.Debug("connection of HTTP/2 is ended", "client", c.nc.RemoteAddr().String(), "error", "it takes nothing")
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

// inspect returns the streams to be ended, and whether the connection is. The unlock is deferred:
// after a panic the sweeper comes again.
func (c *conn) inspect(t time.Time, passed time.Duration) (idle, slow []*stream, silent bool) {
	moves := c.moves(passed)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		s.up.lookLocked()
		switch s.look(passed, c.s.o.WriteIdle, moves) {
		case takesNothing:
			idle, s.shared = append(idle, s), true
		case takesTooLittle:
			slow, s.shared = append(slow, s), true
		}
	}
	if c.sweep.rest.lasts(uint64(c.lastID), t) >= spareTime && len(c.streams) == 0 {
		c.spare = nil
	}
	return idle, slow, c.silentLocked(t) || c.unheardLocked(t)
}

// stuck reports whether the write under way has taken too long.
func (c *conn) stuck(t time.Time) bool {
	n := c.writes.Load()
	w := &c.sweep.write
	return w.lasts(n, t) >= c.s.o.WriteIdle && n%2 == 1
}

// silentLocked ends a connection whose client has nothing to ask, or never comes to its end,
// and reports whether it has.
func (c *conn) silentLocked(t time.Time) bool {
	o := &c.s.o
	if c.dead || c.leaving == last {
		return false
	}
	// n names the request, or the long header, that is waited for.
	n := uint64(c.lastID)<<32 | uint64(c.headers)<<2 //nolint:gosec // only compared
	switch {
	case c.leaving == warned:
		n |= 1
	case len(c.streams) > 0 && !c.inHeader:
		n |= 2
	}
	waited := c.sweep.wait.lasts(n, t)
	var most time.Duration
	switch {
	case c.leaving == warned:
		most = goAwayPatience
	case c.inHeader || !c.asked:
		most = o.HeaderTimeout
	case len(c.streams) == 0:
		most = o.Idle
	default:
		return false
	}
	if waited < most {
		return false
	}
	c.closeLocked()
	return true
}

// unheardLocked ends a connection whose client does not know our settings after long (RFC 9113
// section 6.5.3), and reports whether it has.
func (c *conn) unheardLocked(t time.Time) bool {
	if c.dead || c.acked || c.leaving == last || c.sweep.all.lasts(0, t) < ackTimeout {
		return false
	}
	c.leaving = last
	c.out.goAway(c.lastID, xhttp2.ErrCodeSettingsTimeout)
	return true
}

// sweep is what the sweeper knows of a connection.
type sweep struct {
	write lasting // the write under way, or what is between two
	wait  lasting // what the connection waits for
	all   lasting // the connection
	rest  lasting // since its last stream began
	moved int64   // of it, at the last look
}

// lasting is something that has a number, and goes on.
type lasting struct {
	n     uint64
	since time.Time
}

// lasts returns for how long n has gone on.
func (l *lasting) lasts(n uint64, t time.Time) time.Duration {
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

// moves reports whether the connection, in the time that has passed since the last look, has taken
// as much content as the pace asks for, of whichever streams.
func (c *conn) moves(passed time.Duration) bool {
	n := c.moved.Load()
	took := n - c.sweep.moved
	c.sweep.moved = n
	least := 0.0
	if send := c.s.o.Send; send.Bytes > 0 {
		least = float64(send.Bytes) * passed.Seconds() / send.Over.Seconds()
	}
	return took > 0 && float64(took) >= least
}

// look looks at a stream, passed after the last look. The time counts for which content waits
// for the client: for the window of the stream, or for the connection. A stream that waits for
// others to be sent does not: moves says that they are.
func (s *stream) look(passed, most time.Duration, moves bool) int {
	taken := s.taken.Load()
	n := taken - s.seen
	s.seen = taken
	if moves && s.ready { // its turn comes, and its period begins then
		s.stuck, s.meter = 0, pace.NewMeter(s.c.s.o.Send)
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
