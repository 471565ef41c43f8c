package basicauth

import (
	"net/netip"
	"slices"
)

// turns says whose hash is computed next, where more are wanted than may be computed at once. Turns go round by clients: a client
// has one, then it goes to the end of the round. A client with many checks waits for its own. A client with one check waits
// for one of each other client. It is not safe for concurrent use.
type turns struct {
	free    int     // hashes that may be begun at once
	round   []*line // of the clients that wait, the next one first; none is empty
	waiting int     // in all lines
}

// line is the checks of one client that wait. The zero Prefix, that of clients without an address, has one line, too.
type line struct {
	who    netip.Prefix
	checks []*check
}

// enter has c wait for a turn: c.turn gets true when it has it. Where there is no place, c gets that of the last one in the longest line, if
// its own is then no longer than that; and what has lost its place gets false. enter reports false where there is none for c.
func (t *turns) enter(c *check) bool {
	if t.free > 0 { // then nobody waits
		t.free--
		c.turn <- true
		return true
	}
	own := t.lineOf(c.who)
	if t.waiting >= mostWaitingChecks {
		longest := slices.MaxFunc(t.round, func(a, b *line) int { return len(a.checks) - len(b.checks) })
		held := 0
		if own != nil {
			held = len(own.checks)
		}
		if held+1 >= len(longest.checks) {
			return false
		}
		last := longest.checks[len(longest.checks)-1]
		t.leave(last)
		last.turn <- false
	}
	if own == nil {
		own = &line{who: c.who}
		t.round = append(t.round, own)
	}
	own.checks = append(own.checks, c)
	t.waiting++
	return true
}

// leave takes c out of its line. It reports false where it is in none: what has become of it is in c.turn.
func (t *turns) leave(c *check) bool {
	l := t.lineOf(c.who)
	if l == nil {
		return false
	}
	at := slices.Index(l.checks, c)
	if at < 0 {
		return false
	}
	l.checks = slices.Delete(l.checks, at, at+1)
	t.waiting--
	if len(l.checks) == 0 {
		t.round = slices.DeleteFunc(t.round, func(other *line) bool { return other == l })
	}
	return true
}

// next gives the turn that has ended to whose it is now.
func (t *turns) next() {
	if len(t.round) == 0 {
		t.free++
		return
	}
	l := t.round[0]
	c := l.checks[0]
	t.leave(c)
	if len(l.checks) > 0 {
		t.round = append(t.round[1:], l)
	}
	c.turn <- true
}

func (t *turns) lineOf(who netip.Prefix) *line {
	for _, l := range t.round {
		if l.who == who {
			return l
		}
	}
	return nil
}
