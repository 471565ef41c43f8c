package model

// sieve is SIEVE (Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is simpler than LRU", NSDI 2024), with sizes in bytes. Objects stand
// in the order they were stored. A hand goes from the oldest to the newest and round again. It spares what was used since it came
// by, and evicts the first that was not.
type sieve struct {
	chain
	maxBytes int64
	hand     uint32   // the next to be looked at; none: the oldest
	left     counters // but for objects
}

func newSieve(maxBytes int64, n *nodes) *sieve {
	return &sieve{chain: newChain(n, queue), maxBytes: maxBytes, hand: none}
}

func (s *sieve) hit(i uint32) bool {
	n := &s.of[i]
	if n.at != queue {
		return false
	}
	n.hit, n.uses = true, 1
	return true
}

func (s *sieve) holds(i uint32) bool { return s.of[i].at == queue }

func (s *sieve) store(i uint32) {
	for s.bytes+s.space(i) > s.maxBytes {
		s.evict()
	}
	s.of[i].hit, s.of[i].uses = false, 0
	s.push(i)
}

// evict evicts one object. There is at least one.
func (s *sieve) evict() {
	for {
		i := s.hand
		if i == none {
			i = s.oldest
		}
		n := &s.of[i]
		s.hand = n.newer
		if n.uses == 0 {
			s.remove(i)
			s.left.evicted(n)
			return
		}
		n.uses = 0
	}
}

func (s *sieve) drop(i uint32) (was bool) {
	n := &s.of[i]
	if n.at != queue {
		return false
	}
	if s.hand == i {
		s.hand = n.newer
	}
	s.remove(i)
	return true
}

func (s *sieve) held() (objects, bytes int64) { return s.count, s.bytes }

func (s *sieve) counters() counters {
	b := s.left
	b.objects = s.count
	return b
}
