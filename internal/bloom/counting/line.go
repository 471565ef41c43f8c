package counting

import "sync/atomic"

// quarters is the number of cells a key has in its line.
const quarters = 4

// line is a cache line of 128 counters of 4 bits in four quarters of 32, two
// words each. A key has one counter in every quarter; its count is the smallest.
// Slices of lines begin on a cache line, as the slices of package sliding do.
type line [2 * quarters]atomic.Uint64

// cell is one counter as it was when it was read.
type cell struct {
	word  *atomic.Uint64
	old   uint64 // the whole word
	shift uint64 // where the counter is in it
}

// cell reads the key's counter in a quarter. Bits 0 to 19 of lo say where it is,
// five for each quarter; the line comes from hi. Bits 20 to 63 of lo are left
// alone: the callers choose samples of the keys by the upper ones, which would
// not be fair samples if those bits moved a key within the filter.
func (l *line) cell(lo uint64, quarter int) cell {
	at := lo >> (5 * quarter)
	word := &l[(2*quarter|int(at>>4&1))&(len(l)-1)] // the last operand saves a check
	return cell{word, word.Load(), at & 15 * 4}
}

func (c cell) value() int { return int(c.old >> c.shift & Max) }

// estimate returns the smallest of the key's counters.
func (l *line) estimate(lo uint64) int {
	return min(l.cell(lo, 0).value(), l.cell(lo, 1).value(), l.cell(lo, 2).value(), l.cell(lo, 3).value())
}

// add counts one sighting by conservative update (Estan and Varghese, "New
// directions in traffic measurement and accounting", SIGCOMM 2002): only those
// counters of the key that are its smallest are raised. It returns the count
// with it, Max at most.
//
// Simultaneous adds are told apart by one counter, the last of those that are
// the key's smallest: it is raised at the end, and only from the very value the
// others were compared with. Two adds of one key that find the same smallest
// value v, both to raise it to v+1, come to the same last counter. For if one of
// them came to an earlier one, the later one was above v when it looked; the add that
// raised that had raised the earlier one before; so its own attempt there fails.
// One of them succeeds, and the other begins anew and finds v+1. So no add is
// lost, and of n simultaneous adds of a key each is told a count of its own.
// Where a different key raises the last counter meanwhile, the add that began
// anew may count its sighting twice: too high, as shared counters are anyway,
// never too low.
func (l *line) add(lo uint64) (count int) {
	for {
		a, b, c, d := l.cell(lo, 0), l.cell(lo, 1), l.cell(lo, 2), l.cell(lo, 3)
		v := min(a.value(), b.value(), c.value(), d.value())
		if v == Max {
			return Max
		}
		counted := false
		switch v { // the last counter that is the smallest
		case d.value():
			a.prepare(v)
			b.prepare(v)
			c.prepare(v)
			counted = d.raise(v)
		case c.value():
			a.prepare(v)
			b.prepare(v)
			counted = c.raise(v)
		case b.value():
			a.prepare(v)
			counted = b.raise(v)
		default:
			counted = a.raise(v)
		}
		if counted {
			return v + 1
		}
	}
}

// prepare raises the counter if it is v; another add may have done so before.
func (c cell) prepare(v int) {
	if c.value() == v {
		c.raise(v)
	}
}

// raise adds 1 to the counter, which was v when it was read, if it still is, and
// reports whether it did.
func (c cell) raise(v int) bool {
	return c.word.CompareAndSwap(c.old, c.old+1<<c.shift) || c.raiseLate(v)
}

// raiseLate is raise for a word that has changed: the neighbours may have, or the
// counter itself.
func (c cell) raiseLate(v int) bool {
	for {
		c.old = c.word.Load()
		if c.value() != v {
			return false
		}
		if c.word.CompareAndSwap(c.old, c.old+1<<c.shift) {
			return true
		}
	}
}
