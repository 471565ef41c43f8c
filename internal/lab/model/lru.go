package model

// lru evicts exactly the least recently used object.
type lru struct {
	chain
	maxBytes int64
	left     counters // but for objects
}

func newLRU(maxBytes int64, n *nodes) *lru {
	return &lru{chain: newChain(n, queue), maxBytes: maxBytes}
}

func (l *lru) hit(i uint32) bool {
	n := &l.of[i]
	if n.at != queue {
		return false
	}
	n.hit = true
	if l.newest != i {
		l.remove(i)
		l.push(i)
	}
	return true
}

func (l *lru) holds(i uint32) bool { return l.of[i].at == queue }

func (l *lru) store(i uint32) {
	for l.bytes+l.space(i) > l.maxBytes {
		victim := l.oldest
		l.remove(victim)
		l.left.evicted(&l.of[victim])
	}
	l.of[i].hit = false
	l.push(i)
}

func (l *lru) drop(i uint32) (was bool) {
	if was = l.of[i].at == queue; was {
		l.remove(i)
	}
	return was
}

func (l *lru) held() (objects, bytes int64) { return l.count, l.bytes }

func (l *lru) counters() counters {
	b := l.left
	b.objects = l.count
	return b
}

// evicted counts the eviction of n.
func (b *counters) evicted(n *node) {
	b.evictions++
	if !n.hit {
		b.neverHit++
	}
}
