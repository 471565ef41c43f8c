package purge

import (
	"slices"
	"sync/atomic"
)

// A bucket has marksPerBucket on average when its table is as full as it was made for, and four times as many at most. By
// chance about one bucket in a million exceeds that then, and its oldest mark folds.
const (
	marksPerBucket = 4
	bucketLimit    = 4 * marksPerBucket
)

// marks holds the marks of one kind, by a 64-bit hash of their subject. It has one writer at a time, and any number of
// readers, which take no lock.
type marks struct {
	newest  atomicMark // maximum of all marks; raised before a mark is published
	room    int64      // number of marks it was made for
	held    atomic.Int64
	buckets []atomic.Pointer[bucket]
}

// bucket is never written to once it is published.
type bucket struct {
	floor mark // maximum of the folded marks; it applies to every hash of the bucket
	marks []hashMark
}

type hashMark struct {
	hash uint64
	mark
}

// newMarks returns a table for count marks. With up to count marks, folds are rare.
func newMarks(count int) *marks {
	return &marks{room: int64(count), buckets: make([]atomic.Pointer[bucket], (count+marksPerBucket-1)/marksPerBucket)}
}

// at returns the pointer to the bucket for hash.
func (t *marks) at(hash uint64) *atomic.Pointer[bucket] {
	return &t.buckets[hash%uint64(len(t.buckets))]
}

// after reports whether anything was marked since born.
func (t *marks) after(born uint64) bool { return born < t.newest.load().newest() }

// state returns the state of a response born then by the marks for hash.
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

// raise raises the mark of hash to m. It returns how many marks, 0 or 1, folded to make room for it.
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

// Of the room for marks, TryURL uses tryShare, and so much of a bucket. The rest is for marks that cannot be refused. It is more than
// crowdedShare, so that a full table is settled.
const (
	tryShare = 0.75
	tryLimit = bucketLimit / 2
)

// takes reports whether TryURL may raise the mark of hash.
func (t *marks) takes(hash uint64) bool {
	b := t.at(hash).Load()
	if b != nil && slices.ContainsFunc(b.marks, func(h hashMark) bool { return h.hash == hash }) {
		return true
	}
	return t.fillRatio() < tryShare && (b == nil || len(b.marks) < tryLimit)
}

// fold merges the oldest mark into the floor.
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

// raiseFloor raises the floor of a bucket to m. Buckets is the number of buckets when the floor was saved. If the table has
// another number now, it is unknown which hashes fell there, so all floors are raised.
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

// above returns b, or an empty bucket for nil, with its floor raised to m.
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

// settle drops the marks up to a generation, floors included.
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

// count returns how many marks there are, without floors.
func (t *marks) count() int { return int(t.held.Load()) }

// fillRatio returns how full the table is; 1 is full.
func (t *marks) fillRatio() float64 { return float64(t.held.Load()) / float64(t.room) }
