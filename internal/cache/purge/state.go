package purge

import "sync/atomic"

// State is the effect on a response of the purges since its birth. A greater one is worse.
type State uint8

// The states.
const (
	Valid State = iota // nothing purged it
	Stale              // a soft purge: not fresh, usable where a stale response is
	Gone               // a purge: not usable, like a response that was never stored
)

// String returns the word for the state.
func (s State) String() string {
	switch s {
	case Valid:
		return "valid"
	case Stale:
		return "stale"
	case Gone:
		return "gone"
	}
	return "unknown"
}

// mark is the newest generation of a hard and of a soft purge; 0 is none. A
// response born before one of them is purged by it.
type mark struct{ hard, soft uint64 }

func newMark(generation uint64, soft bool) mark {
	if soft {
		return mark{soft: generation}
	}
	return mark{hard: generation}
}

// over returns the maximum of m and o: it purges whatever m or o does.
func (m mark) over(o mark) mark {
	return mark{hard: max(m.hard, o.hard), soft: max(m.soft, o.soft)}
}

func (m mark) newest() uint64 { return max(m.hard, m.soft) }

func (m mark) state(born uint64) State {
	switch {
	case born < m.hard:
		return Gone
	case born < m.soft:
		return Stale
	}
	return Valid
}

// atomicMark is a mark. It has one writer at a time. A concurrent reader gets the old or the new generation of each kind.
type atomicMark struct{ hard, soft atomic.Uint64 }

func (a *atomicMark) load() mark { return mark{hard: a.hard.Load(), soft: a.soft.Load()} }

// set stores m, even if it is lower.
func (a *atomicMark) set(m mark) {
	a.hard.Store(m.hard)
	a.soft.Store(m.soft)
}

func (a *atomicMark) raise(m mark) {
	a.hard.Store(max(a.hard.Load(), m.hard))
	a.soft.Store(max(a.soft.Load(), m.soft))
}
