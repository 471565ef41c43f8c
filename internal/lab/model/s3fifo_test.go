package model

import (
	"testing"

	"edgeproxy/internal/lab/trace"
)

// Each queue keeps to its bytes, and every object is in one place.
func TestS3FIFOKeepsItsBounds(t *testing.T) {
	objects, accesses := madeUp(9, 1500, 15_000)
	capacity := uniqueBytes(objects) / 15
	s := newS3FIFO(capacity, newNodes(objects))
	for at, a := range accesses {
		if !s.hit(a.Object) {
			if s.space(a.Object) > capacity {
				continue
			}
			s.store(a.Object)
			if !s.hit(a.Object) {
				t.Fatalf("request %d: object %d is not there after it was stored", at, a.Object)
			}
		}
		if held := s.small.bytes + s.large.bytes; held > capacity {
			t.Fatalf("request %d: got %d bytes held, want at most %d", at, held, capacity)
		}
		if s.ghost.bytes > capacity-capacity/10 {
			t.Fatalf("request %d: got %d bytes of ghosts, want at most nine tenths of %d", at, s.ghost.bytes, capacity)
		}
	}
	var count [ghost + 1]int64
	for i := range s.of {
		count[s.of[i].at]++
	}
	for _, c := range []*chain{&s.small, &s.large, &s.ghost} {
		if c.count == 0 || count[c.at] != c.count || walk(c) != c.count {
			t.Errorf("queue %d: got %d nodes marked and %d linked, want %d and some", c.at, count[c.at], walk(c), c.count)
		}
	}
}

func walk(c *chain) (n int64) {
	for i := c.oldest; i != none; i = c.of[i].newer {
		n++
	}
	return n
}

// Worked by hand: ten units, one for the small queue.
func TestS3FIFOMovesWhatIsUsedTwice(t *testing.T) {
	objects := make([]trace.Object, 30)
	for i := range objects {
		objects[i].Size = 1
	}
	s := newS3FIFO(10, newNodes(objects))
	for i := range uint32(10) {
		s.store(i)
	}
	s.hit(0)
	s.hit(0)    // twice: will move
	s.hit(1)    // once: will not
	s.store(10) // 0 moves on, 1 goes for it
	f := func(i uint32, want part) {
		t.Helper()
		if got := s.of[i].at; got != want {
			t.Errorf("object %d: got queue %d, want %d", i, got, want)
		}
	}
	f(0, large)
	f(1, ghost)
	f(2, small)
	f(10, small)
	s.store(1) // its name is known
	f(1, large)
	f(2, ghost)
	if b := s.counters(); b.evictions != 2 || b.neverHit != 1 || b.objects != 10 {
		t.Errorf("counters: got %+v, want 2 evictions, 1 never hit, 10 objects", b)
	}
}

// An object larger than the small queue is stored all the same.
func TestS3FIFOStoresWhatTheSmallQueueCannotHold(t *testing.T) {
	objects := []trace.Object{{Size: 60}, {Size: 100}, {Size: 5}}
	s := newS3FIFO(100, newNodes(objects))
	for i := range uint32(3) {
		s.store(i)
		if !s.hit(i) {
			t.Errorf("object %d of %d bytes is not there", i, objects[i].Size)
		}
	}
}
