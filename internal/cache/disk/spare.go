package disk

import "sync"

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
