package pinned

import (
	"sync/atomic"

	"edgeproxy/internal/conn/sendfile"
)

// Least is the length in bytes up to which a body is not counted: it is no more than a
// connection takes by itself, and gets no copy.
const Least = sendfile.Least - 1

// Total adds up the bytes of the bodies that are pinned. It is safe for concurrent use; nil
// counts nothing.
type Total struct {
	limit int64
	bytes atomic.Int64
	over  chan struct{}
}

// NewTotal returns a Total that tells when more than limit bytes are pinned.
func NewTotal(limit int64) *Total { return &Total{limit: limit, over: make(chan struct{}, 1)} }

// Bytes returns how many bytes are pinned now. A change that is under way may not be in it.
func (t *Total) Bytes() int64 { return t.bytes.Load() }

// Limit returns the limit that NewTotal was given.
func (t *Total) Limit() int64 { return t.limit }

// Over gives a value once the limit was exceeded, one at most for all times since the last
// value was received.
func (t *Total) Over() <-chan struct{} { return t.over }

func (t *Total) add(n int64) {
	if t.bytes.Add(n) <= t.limit || n <= 0 {
		return
	}
	select {
	case t.over <- struct{}{}:
	default: // a value is there already
	}
}

// Body returns the counts of a body that is in no place of the cache yet, and of which
// nothing is sent; nil of a nil Total.
func (t *Total) Body() *Body {
	if t == nil {
		return nil
	}
	return &Body{total: t}
}

// Body counts one body: the places of the cache that hold it, and the answers that are
// sent from it. It is pinned while an answer is sent from it, if it was in a place of the cache
// and is in none any more. Before its first Land it is never pinned: the flight that fetches it
// counts it. It is safe for concurrent use; a nil Body counts nothing.
type Body struct {
	total *Total
	bytes int64        // written once, before the first landing
	state atomic.Int64 // the parts below

	// Copy is the body's, while it is in a place of the cache.
	Copy sendfile.Slot
}

// The parts of a state.
const (
	answer = int64(1)
	place  = int64(1) << 32
	landed = int64(1) << 62 // once is for good
)

func pins(state int64) bool {
	return state&landed != 0 && state&(landed-place) == 0 && state&(place-1) != 0
}

// Land notes one more place that holds the body, of so many bytes. Landings of one body
// must come one after the other.
func (b *Body) Land(bytes int64) {
	if b == nil {
		return
	}
	if b.state.Load()&landed == 0 {
		b.bytes = bytes
	}
	for {
		s := b.state.Load()
		if b.state.CompareAndSwap(s, s+place|landed) {
			b.changed(s, s+place|landed)
			return
		}
	}
}

// Leave takes back one Land. With the last one the body's copy goes.
func (b *Body) Leave() {
	b.add(-place)
	if b != nil && b.state.Load()&(landed-place) == 0 {
		b.Copy.Drop()
	}
}

// Hold notes one more answer that is sent from the body.
func (b *Body) Hold() { b.add(answer) }

// Release takes back one Hold.
func (b *Body) Release() { b.add(-answer) }

func (b *Body) add(n int64) {
	if b != nil {
		s := b.state.Add(n)
		b.changed(s-n, s)
	}
}

func (b *Body) changed(before, after int64) {
	switch was, is := pins(before), pins(after); {
	case is && !was:
		b.total.add(b.bytes)
	case was && !is:
		b.total.add(-b.bytes)
	}
}

// Pinned returns how many bytes the body pins: all of it, or 0.
func (b *Body) Pinned() int64 {
	if b == nil || !pins(b.state.Load()) {
		return 0
	}
	return b.bytes
}
