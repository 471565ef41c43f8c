package http1

import "time"

// now reads the clock, for deadlines and for requests that fasthttp has not timed itself.
// Nothing else in this room does, but for clock.
func now() time.Time { return time.Now() }

// clock returns how long ago s was made, in nanoseconds. It costs half of what now does.
func (s *Server) clock() int64 { return int64(time.Since(s.made)) }

// at returns t in the unit of clock. The zero time gives never.
func (s *Server) at(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return int64(t.Sub(s.made))
}

// time is the inverse of at.
func (s *Server) time(at int64) time.Time {
	if at == never {
		return time.Time{}
	}
	return s.made.Add(time.Duration(at))
}
