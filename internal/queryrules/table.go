package queryrules

import (
	"bytes"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/rfc9111"
)

const (
	sets = 1024
	ways = 4

	// MaxRules is how many paths have a rule at most.
	MaxRules = sets * ways

	// maxNames and maxNameBytes bound one rule: a longer one counts as none.
	maxNames     = 64
	maxNameBytes = 1024

	// A rule has firstVotes when it is learned, one more for each response that has it,
	// one less for each that has not, and maxVotes at most. With none left it goes.
	firstVotes = 4
	maxVotes   = 16

	// idle is how long nobody has asked for a rule that may make room, in minutes.
	// Look-ups no longer find the responses that are stored under it then.
	idle = 10
)

// Table holds a rule for each of a bounded number of paths. It is safe for
// concurrent use; the zero Table is not: see New.
type Table struct {
	seed      maphash.Seed
	rules     [sets][ways]atomic.Pointer[Rule] // written under mu
	forgotten [sets]atomic.Uint64              // URLs of the paths of a set
	count     atomic.Int64                     // of rules

	mu     sync.Mutex // held by who learns; readers take no lock
	number uint64     // of the last rule
}

// New returns a Table without rules. The numbers of its rules begin above after: where what is
// stored outlives the process, above those of all earlier tables.
func New(after uint64) *Table { return &Table{seed: maphash.MakeSeed(), number: after} }

// Empty reports whether there is no rule at all: then no path has to be hashed.
func (t *Table) Empty() bool { return t.count.Load() == 0 }

// Path returns the hash by which the table knows the path of a target. Paths with one hash
// share a rule, which is a guess for either.
func (t *Table) Path(host, target []byte) uint64 {
	path, _, _ := bytes.Cut(target, []byte("?"))
	return bits.RotateLeft64(maphash.Bytes(t.seed, host), 21) ^ maphash.Bytes(t.seed, path)
}

// Rule returns the rule of a path, nil if it has none, and notes that it is in use
// at the time now. It allocates nothing.
func (t *Table) Rule(path uint64, now time.Time) *Rule {
	r, _ := t.look(path)
	if r == nil {
		return nil
	}
	if at := minute(now); r.used.Load() < at { // one write a minute
		r.used.Store(at)
	}
	return r
}

// Peek is Rule that does not count as use.
func (t *Table) Peek(path uint64) *Rule {
	r, _ := t.look(path)
	return r
}

// learn notes that a response of a path, received now, has the rule v, and returns
// the rule of the path if it is the same, else nil. Taught says that it was not
// until now: a path without a rule, or most of whose latest responses do not have its
// own, takes up the next one.
func (t *Table) learn(path uint64, v rfc9111.NoVarySearch, now time.Time) (r *Rule, taught bool) {
	if !small(v) {
		t.disown(path)
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, place := t.look(path)
	if r != nil {
		if r.search.Equal(&v) {
			r.votes = min(r.votes+1, maxVotes)
			return r, false
		}
		if r.votes--; r.votes > 0 {
			return nil, false
		}
	} else if place = t.roomLocked(path, now); place == nil {
		return nil, false
	}
	t.number++
	v.Names = slices.Clone(v.Names)
	r = &Rule{Number: t.number, search: v, path: path, votes: firstVotes}
	r.used.Store(minute(now))
	if place.Swap(r) == nil {
		t.count.Add(1)
	}
	return r, true
}

// disown notes that a response of a path has no rule.
func (t *Table) disown(path uint64) {
	if t.Empty() {
		return
	}
	if r, _ := t.look(path); r == nil { // spares the many the lock
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, place := t.look(path)
	if r == nil {
		return
	}
	if r.votes--; r.votes > 0 {
		return
	}
	place.Store(nil)
	t.count.Add(-1)
}

// Forget notes that a URL of a path is about to be forgotten, and returns the rule of
// the path, nil if it has none. See the law of the package.
func (t *Table) Forget(path uint64) *Rule {
	t.forgotten[path%sets].Add(1)
	r, _ := t.look(path)
	return r
}

// ForgetAll calls mark with the rule of a path that Forget returns, nil included, and again
// with the next one while the path gets another rule meanwhile. A response to a rule that came
// later began to be fetched later, or is not stored: see the law of the package.
func (t *Table) ForgetAll(path uint64, mark func(*Rule)) {
	for rule := t.Forget(path); ; {
		mark(rule)
		now := t.Forget(path)
		if now == rule {
			return
		}
		rule = now
	}
}

// Forgotten returns a number that Forget changes, for a few other paths too.
func (t *Table) Forgotten(path uint64) uint64 { return t.forgotten[path%sets].Load() }

// look returns the rule of a path and where it is, nil if it has none.
func (t *Table) look(path uint64) (*Rule, *atomic.Pointer[Rule]) {
	set := &t.rules[path%sets]
	for i := range set {
		if r := set[i].Load(); r != nil && r.path == path {
			return r, &set[i]
		}
	}
	return nil, nil
}

// roomLocked returns a place for a path that has none: a free one, or that of the
// rule that was not in use for longest, if that is long enough. Nil is no room.
func (t *Table) roomLocked(path uint64, now time.Time) *atomic.Pointer[Rule] {
	set := &t.rules[path%sets]
	oldest, at := &set[0], int64(math.MaxInt64)
	for i := range set {
		r := set[i].Load()
		if r == nil {
			return &set[i]
		}
		if used := r.used.Load(); used < at {
			oldest, at = &set[i], used
		}
	}
	if at > minute(now)-idle {
		return nil
	}
	return oldest
}

func minute(at time.Time) int64 { return at.Unix() / 60 }
