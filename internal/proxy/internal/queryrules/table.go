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

	"edgeproxy/internal/http/rfc9111"
)

const (
	sets = 1024
	ways = 4

	// MaxRules is the largest number of paths with a rule.
	MaxRules = sets * ways

	// maxNames and maxNameBytes bound one rule: a longer rule is ignored.
	maxNames     = 64
	maxNameBytes = 1024

	// A rule begins with firstVotes. A response with the rule adds a vote, up to maxVotes;
	// one without it removes a vote. A rule without votes is removed.
	firstVotes = 4
	maxVotes   = 16

	// idleMinutes is how long a rule must be unused before another path may take its place.
	// The responses that are stored under it are not found any more then.
	idleMinutes = 10
)

// Table holds a rule for each of a bounded number of paths. It is safe for
// concurrent use; the zero Table is not: see New.
type Table struct {
	seed      maphash.Seed
	rules     [sets][ways]atomic.Pointer[Rule] // written under mu
	forgotten [sets]atomic.Uint64              // URLs of the paths of a set
	count     atomic.Int64                     // how many rules there are

	mu         sync.Mutex // held by writers; readers take no lock
	lastNumber uint64     // the number of the last rule
}

// New returns a Table without rules. The numbers of its rules begin above after. If stored
// responses outlive the process, after must be the largest number of all earlier tables.
func New(after uint64) *Table { return &Table{seed: maphash.MakeSeed(), lastNumber: after} }

// Empty reports whether the table has no rules: then no path has to be hashed.
func (t *Table) Empty() bool { return t.count.Load() == 0 }

// Path returns the hash of the path of a target, for the other methods. Paths with the same
// hash share a rule; it is only a guess for each of them.
func (t *Table) Path(host, target []byte) uint64 {
	path, _, _ := bytes.Cut(target, []byte("?"))
	return bits.RotateLeft64(maphash.Bytes(t.seed, host), 21) ^ maphash.Bytes(t.seed, path)
}

// Rule returns the rule of a path, nil if it has none, and notes that it is used at the
// time now. It does not allocate.
func (t *Table) Rule(path uint64, now time.Time) *Rule {
	r, _ := t.find(path)
	if r == nil {
		return nil
	}
	if at := minute(now); r.used.Load() < at { // one write a minute
		r.used.Store(at)
	}
	return r
}

// Peek is Rule without noting the use.
func (t *Table) Peek(path uint64) *Rule {
	r, _ := t.find(path)
	return r
}

// learn notes that a response of a path, received now, has the rule v. It returns the rule
// of the path if it is the same, otherwise nil. taught says that the path has just got the
// rule: it had none, or most of its latest responses did not have it.
func (t *Table) learn(path uint64, v rfc9111.NoVarySearch, now time.Time) (r *Rule, taught bool) {
	if !storable(v) {
		t.noRule(path)
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, place := t.find(path)
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
	t.lastNumber++
	v.Names = slices.Clone(v.Names)
	r = &Rule{Number: t.lastNumber, search: v, path: path, votes: firstVotes}
	r.used.Store(minute(now))
	if place.Swap(r) == nil {
		t.count.Add(1)
	}
	return r, true
}

// noRule notes that a response of a path has no rule.
func (t *Table) noRule(path uint64) {
	if t.Empty() {
		return
	}
	if r, _ := t.find(path); r == nil { // most paths have no rule, and need no lock
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, place := t.find(path)
	if r == nil {
		return
	}
	if r.votes--; r.votes > 0 {
		return
	}
	place.Store(nil)
	t.count.Add(-1)
}

// Forget notes that a URL of a path is being purged, and returns the rule of the path, nil if
// it has none. The package comment says how a purge uses it.
func (t *Table) Forget(path uint64) *Rule {
	t.forgotten[path%sets].Add(1)
	r, _ := t.find(path)
	return r
}

// ForgetAll calls mark with the rule that Forget returns, which may be nil. If the path has got
// another rule meanwhile, it does so again. A response by a rule that comes later was fetched
// later, or is not stored: see the package comment.
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

// Forgotten returns a number that Forget changes, for this path and a few others.
func (t *Table) Forgotten(path uint64) uint64 { return t.forgotten[path%sets].Load() }

// find returns the rule of a path and its place, nil if it has none.
func (t *Table) find(path uint64) (*Rule, *atomic.Pointer[Rule]) {
	set := &t.rules[path%sets]
	for i := range set {
		if r := set[i].Load(); r != nil && r.path == path {
			return r, &set[i]
		}
	}
	return nil, nil
}

// roomLocked returns a place for a path that has none: a free one, or that of the least
// recently used rule, if it was unused for long enough. nil is no room.
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
	if at > minute(now)-idleMinutes {
		return nil
	}
	return oldest
}

func minute(at time.Time) int64 { return at.Unix() / 60 }
