package disk

import (
	"sync"

	"edgeproxy/internal/cache/disk/internal/index"
)

// pins counts the readers of each large record, so that it is not punched out while it is read. It is safe for concurrent use.
//
// A reader pins a place first, and then looks whether the index still has it. The writer removes it from the index first, and then looks for
// pins. So one of them sees the other.
type pins struct {
	shards [64]struct {
		mu    sync.Mutex
		count map[index.Place]int
	}
}

func (p *pins) add(at index.Place, n int) {
	s := &p.shards[(at.Offset>>9^uint32(at.Segment))%64]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[index.Place]int{}
	}
	if s.count[at] += n; s.count[at] == 0 {
		delete(s.count, at)
	}
}

func (p *pins) has(at index.Place) bool {
	s := &p.shards[(at.Offset>>9^uint32(at.Segment))%64]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[at] > 0
}
