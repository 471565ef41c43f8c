package disk

import (
	"sync"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/internal/index"
)

// readAt reads from f. Bytes in the page cache are read at once. For others it waits for a turn, and then for the device, both for a bounded
// time. After ErrSlow p belongs to the read that goes on, and nobody may use it.
func (r *reader) readAt(f *device.File, p []byte, offset int64) (int, error) {
	if f.ReadNow(p, offset) {
		return len(p), nil
	}
	if r.failed() {
		return 0, ErrSlow
	}
	select {
	case r.turns <- struct{}{}:
	default:
		timer := time.NewTimer(r.o.ReadWait)
		defer timer.Stop()
		select {
		case r.turns <- struct{}{}:
		case <-timer.C:
			r.counts.queuedOut.Add(1)
			return 0, ErrSlow
		}
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() { // it may hang until the device answers
		began := r.o.Now()
		n, err := f.ReadAt(p, offset)
		r.counts.read(int64(n), r.o.Now().Sub(began))
		<-r.turns
		done <- result{n, err}
	}()
	timer := time.NewTimer(r.o.ReadDeadline)
	defer timer.Stop()
	select {
	case got := <-done:
		r.slow.Store(0)
		return got.n, got.err
	case <-timer.C:
		r.slow.Add(1)
		return 0, ErrSlow
	}
}

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

// spares is a pool of buffers for reads: a new buffer for each hit would have to be zeroed, and collected. It is safe for concurrent use.
type spares struct {
	classes [len(spareSizes)]struct {
		mu   sync.Mutex
		free [][]byte
	}
}

// spareSizes are the lengths of buffers: the longest fits a record that is read at once.
var spareSizes = [...]int{8 << 10, 20 << 10, 40 << 10, wholeBytes}

// spareBytes bounds the bytes kept of each length.
const spareBytes = 2 << 20

var buffers spares

// take returns a buffer of n bytes, with any content.
func (s *spares) take(n int) []byte {
	for i, size := range spareSizes {
		if n > size {
			continue
		}
		c := &s.classes[i]
		c.mu.Lock()
		defer c.mu.Unlock()
		if last := len(c.free) - 1; last >= 0 {
			b := c.free[last]
			c.free[last] = nil
			c.free = c.free[:last]
			return b[:n]
		}
		return make([]byte, n, size)
	}
	return make([]byte, n)
}

// give returns a buffer that nobody uses any more to the pool. It drops one of another length than take's.
func (s *spares) give(b []byte) {
	for i, size := range spareSizes {
		if cap(b) != size {
			continue
		}
		c := &s.classes[i]
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.free) < spareBytes/size {
			c.free = append(c.free, b[:0])
		}
		return
	}
}
