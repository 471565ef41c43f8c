package balance

import "time"

// Health says how many checks in a row change the state of a server.
type Health struct {
	Healthy   int // good ones bring it back
	Unhealthy int // bad ones take it out
}

// Checked notes what a health check found. It reports whether the server was taken
// out or brought back.
func (b *Balancer) Checked(index int, good bool) bool {
	s := &b.servers[index]
	if good != s.down {
		s.streak = 0
		return false
	}
	s.streak++
	limit := b.options.Health.Unhealthy
	if s.down {
		limit = b.options.Health.Healthy
	}
	if s.streak < limit {
		return false
	}
	s.down, s.streak = !s.down, 0
	return true
}

// Drain takes a server out of use, or with out false lets it have requests again, as far as it is well. What ejection and checks know
// of the server stays. Drain reports whether anything changed.
func (b *Balancer) Drain(index int, out bool) bool {
	s := &b.servers[index]
	changed := s.drained != out
	s.drained = out
	return changed
}

// State is the state of a server.
type State uint8

const (
	// Up gets requests.
	Up State = iota
	// Ejected gets none but trials, because requests failed.
	Ejected
	// Down gets none, because health checks failed.
	Down
	// Drained gets none, because an operator said so.
	Drained
)

// States are all of them.
var States = [...]State{Up, Ejected, Down, Drained}

// String returns the state as one word.
func (s State) String() string {
	switch s {
	case Up:
		return "up"
	case Ejected:
		return "ejected"
	case Down:
		return "down"
	case Drained:
		return "drained"
	}
	return "unknown"
}

// State returns the state of a server and, if it is ejected, how long until its next trial; 0 if
// that is due.
func (b *Balancer) State(index int, now time.Time) (State, time.Duration) {
	s := &b.servers[index]
	switch {
	case s.drained:
		return Drained, 0
	case s.down:
		return Down, 0
	case s.ejections > 0:
		return Ejected, max(s.until.Sub(now), 0)
	}
	return Up, 0
}
