package basicauth

import (
	"cmp"
	"slices"
	"time"
)

// turns chooses the next hash to compute, if more are wanted than may be computed at once. The network with the fewest recent tries comes
// first, in it the client with the fewest, then the check that has waited for longest. So a guesser with many addresses waits behind a user who
// has not tried lately, and a client with many checks behind one with few. It is not safe for concurrent use.
type turns struct {
	free    int      // hashes that may be begun at once
	waiting []*check // in the order in which they came; none while free is above 0
	tries   tries
}

// enter has c wait for a turn: c.turn gets true when it has it. Where there is no place, c gets that of the one that would be last, if c would be
// before it; and what has lost its place gets false. enter reports false where there is none for c. Each call is a try.
func (t *turns) enter(c *check, now time.Time) bool {
	t.tries.note(c, now)
	if t.free > 0 {
		t.free--
		c.turn <- true
		return true
	}
	if len(t.waiting) >= mostWaitingChecks {
		last := t.waiting[0]
		for _, other := range t.waiting[1:] {
			if t.compare(other, last) >= 0 {
				last = other
			}
		}
		if t.compare(c, last) >= 0 {
			return false
		}
		t.leave(last)
		last.turn <- false
	}
	t.waiting = append(t.waiting, c)
	return true
}

// compare is below 0 if a has its turn before b, and 0 if the one that came first has.
func (t *turns) compare(a, b *check) int {
	return cmp.Or(cmp.Compare(t.tries.of(a.network), t.tries.of(b.network)), cmp.Compare(a.nth, b.nth))
}

// leave takes c out of those that wait. It reports false where it is not there: what has become of it is in c.turn.
func (t *turns) leave(c *check) bool {
	at := slices.Index(t.waiting, c)
	if at < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, at, at+1)
	return true
}

// next gives the turn that has ended to whose it is now.
func (t *turns) next() {
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	c := slices.MinFunc(t.waiting, t.compare) // the first of equals
	t.leave(c)
	c.turn <- true
}
