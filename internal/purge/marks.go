package purge

import (
	"slices"
	"sync/atomic"
)

// A bucket has marksPerBucket on average when its table holds what it was made
// for, and four times as many at most. Chance fills about one bucket in a million
// beyond that then, and its oldest mark folds.
const (
	marksPerBucket = 4
	bucketLimit    = 4 * marksPerBucket
)

// marks holds the marks of one kind by a 64-bit hash of what they are for. It has
// one writer at a time, and any number of readers, who take no lock.
type marks struct {
	newest  atomicMark // over all marks; raised before the mark is there
	room    int64      // marks that it was made for
	held    atomic.Int64
	buckets []atomic.Pointer[bucket]
}

// bucket is never written to once it is published.
type bucket struct {
	floor mark // over the marks that were folded: it is for all that falls here
	marks []hashMark
}

type hashMark struct {
	hash uint64
	mark
}

// newMarks returns a table in which count marks are exact, but for chance.
func newMarks(count int) *marks {
	return &marks{room: int64(count), buckets: make([]atomic.Pointer[bucket], (count+marksPerBucket-1)/marksPerBucket)}
}

// at returns the place of the bucket for hash.
func (t *marks) at(hash uint64) *atomic.Pointer[bucket] {
	return &t.buckets[hash%uint64(len(t.buckets))]
}

// after reports whether anything was marked since born.
func (t *marks) after(born uint64) bool { return born < t.newest.load().newest() }

// state returns what the marks for hash make of a response born then.
func (t *marks) state(born, hash uint64) State {
	b := t.at(hash).Load()
	if b == nil {
		return Valid
	}
	s := b.floor.state(born)
	for i := range b.marks {
		if b.marks[i].hash == hash {
			return max(s, b.marks[i].state(born))
		}
	}
	return s
}

// raise puts m over the mark of hash and returns how many marks, 0 or 1, folded
// to make room for it.
func (t *marks) raise(hash uint64, m mark) (folded int) {
	t.newest.raise(m)
	place := t.at(hash)
	next := &bucket{}
	if old := place.Load(); old != nil {
		next.floor = old.floor
		next.marks = append(make([]hashMark, 0, len(old.marks)+1), old.marks...)
	}
	i := slices.IndexFunc(next.marks, func(h hashMark) bool { return h.hash == hash })
	if i >= 0 {
		next.marks[i].mark = next.marks[i].over(m)
	} else {
		if len(next.marks) == bucketLimit {
			next.fold()
			folded = 1
		}
		next.marks = append(next.marks, hashMark{hash: hash, mark: m})
		t.held.Add(int64(1 - folded))
	}
	place.Store(next)
	return folded
}

// fold makes the oldest mark a part of the floor.
func (b *bucket) fold() {
	oldest := 0
	for i := range b.marks {
		if b.marks[i].newest() < b.marks[oldest].newest() {
			oldest = i
		}
	}
	b.floor = b.floor.over(b.marks[oldest].mark)
	b.marks = slices.Delete(b.marks, oldest, oldest+1)
}

// raiseFloor puts m over the floor of a bucket, of which there were so many when it was saved.
// Where there are others now, nobody knows what fell there, and all get it.
func (t *marks) raiseFloor(index, buckets uint64, m mark) {
	t.newest.raise(m)
	if n := uint64(len(t.buckets)); buckets == n && index < n {
		t.buckets[index].Store(t.buckets[index].Load().above(m))
		return
	}
	for i := range t.buckets {
		t.buckets[i].Store(t.buckets[i].Load().above(m))
	}
}

// above returns b, or an empty bucket for nil, with m over its floor.
func (b *bucket) above(m mark) *bucket {
	next := &bucket{floor: m}
	if b != nil {
		next.floor, next.marks = b.floor.over(m), b.marks
	}
	return next
}

// changes calls f with every mark, and with every floor.
func (t *marks) changes(k kind, f func(change)) {
	for i := range t.buckets {
		b := t.buckets[i].Load()
		if b == nil {
			continue
		}
		if b.floor != (mark{}) {
			f(change{kind: k | floorBit, hash: uint64(i), host: uint64(len(t.buckets)), mark: b.floor})
		}
		for _, h := range b.marks {
			f(change{kind: k, hash: h.hash, mark: h.mark})
		}
	}
}

// settle lets go of the marks up to a generation, floors included.
func (t *marks) settle(upTo uint64) {
	var newest mark
	for i := range t.buckets {
		b := t.buckets[i].Load()
		if b == nil {
			continue
		}
		next := &bucket{}
		if b.floor.newest() > upTo {
			next.floor = b.floor
		}
		newest = newest.over(next.floor)
		for _, h := range b.marks {
			if h.newest() > upTo {
				next.marks = append(next.marks, h)
				newest = newest.over(h.mark)
			}
		}
		t.held.Add(int64(len(next.marks) - len(b.marks)))
		if len(next.marks) == 0 && next.floor == (mark{}) {
			next = nil
		}
		t.buckets[i].Store(next)
	}
	t.newest.set(newest)
}

// count returns how many marks there are, floors aside.
func (t *marks) count() int { return int(t.held.Load()) }

// share returns how much of its room is taken.
func (t *marks) share() float64 { return float64(t.held.Load()) / float64(t.room) }
