package model

const (
	// smallShare is the share of the small queue in the capacity: a tenth.
	smallShare = 10

	// maxUses is the maximum of the counter of uses: two bits.
	maxUses = 3

	// moveUses is how often an object of the small queue must have been used to
	// move to the large one.
	moveUses = 2
)

// s3fifo is S3-FIFO (Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all you need for cache eviction", SOSP 2023, algorithm
// 1), with sizes in bytes. New objects enter a small queue of a tenth of the capacity. An object that leaves it moves to the
// large queue if it was used twice there. Else its name goes to the ghost queue, which holds names for as many bytes of objects
// as the large queue. An object that is fetched again while its name is there enters the large queue at once. The large queue
// gives an object another round for each use, up to three.
//
// In the paper all objects have one size. With sizes in bytes an object larger than the small queue enters the large one, as
// every admitted object is stored.
type s3fifo struct {
	*nodes
	small, large, ghost          chain
	maxBytes, maxSmall, maxGhost int64
	left                         counters // but for objects
}

func newS3FIFO(maxBytes int64, n *nodes) *s3fifo {
	s := &s3fifo{
		nodes: n, small: newChain(n, small), large: newChain(n, large), ghost: newChain(n, ghost),
		maxBytes: maxBytes, maxSmall: maxBytes / smallShare,
	}
	s.maxGhost = maxBytes - s.maxSmall
	return s
}

func (s *s3fifo) hit(i uint32) bool {
	n := &s.of[i]
	if n.at != small && n.at != large {
		return false
	}
	n.hit = true
	n.uses = min(n.uses+1, maxUses)
	return true
}

func (s *s3fifo) holds(i uint32) bool { return s.of[i].at == small || s.of[i].at == large }

func (s *s3fifo) store(i uint32) {
	n, space := &s.of[i], s.space(i)
	remembered := n.at == ghost
	if remembered {
		s.ghost.remove(i)
	}
	for s.small.bytes+s.large.bytes+space > s.maxBytes {
		s.evict()
	}
	n.hit, n.uses = false, 0
	if remembered || space > s.maxSmall {
		s.large.push(i)
	} else {
		s.small.push(i)
	}
}

// evict evicts one object, from the small queue if that exceeds its share, else from the large one; from the other one if that is
// empty.
func (s *s3fifo) evict() {
	if s.small.count > 0 && s.small.bytes >= s.maxSmall || s.large.count == 0 {
		if s.evictSmall() {
			return
		}
	}
	s.evictLarge()
}

// evictSmall evicts the oldest object of the small queue that was not used
// enough to move on, and reports whether there was one.
func (s *s3fifo) evictSmall() bool {
	for s.small.count > 0 {
		i := s.small.oldest
		n := &s.of[i]
		s.small.remove(i)
		if n.uses < moveUses {
			s.left.evicted(n)
			s.remember(i)
			return true
		}
		n.uses = 0
		s.large.push(i)
	}
	return false
}

// evictLarge evicts the oldest object of the large queue that has no rounds
// left. There is at least one object.
func (s *s3fifo) evictLarge() {
	for {
		i := s.large.oldest
		n := &s.of[i]
		s.large.remove(i)
		if n.uses == 0 {
			s.left.evicted(n)
			return
		}
		n.uses--
		s.large.push(i)
	}
}

// remember puts the name of i into the ghost queue.
func (s *s3fifo) remember(i uint32) {
	space := s.space(i)
	if space > s.maxGhost {
		return
	}
	for s.ghost.bytes+space > s.maxGhost {
		s.ghost.remove(s.ghost.oldest)
	}
	s.ghost.push(i)
}

func (s *s3fifo) drop(i uint32) (was bool) {
	switch s.of[i].at {
	case small:
		s.small.remove(i)
	case large:
		s.large.remove(i)
	default:
		return false
	}
	return true
}

func (s *s3fifo) held() (objects, bytes int64) {
	return s.small.count + s.large.count, s.small.bytes + s.large.bytes
}

func (s *s3fifo) counters() counters {
	b := s.left
	b.objects = s.small.count + s.large.count
	return b
}
