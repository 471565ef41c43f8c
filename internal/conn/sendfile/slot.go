package sendfile

import "sync/atomic"

// Slot is where the copy of one body is found. The zero Slot is empty. It is safe for concurrent use,
// and is never copied.
type Slot struct {
	asked atomic.Uint32 // since there is no copy
	gone  atomic.Bool
	copy  atomic.Pointer[Copy]
}

// Drop says that the body has left the cache: its copy goes, and it gets no other.
func (s *Slot) Drop() {
	s.gone.Store(true)
	s.empty()
}

// empty takes the copy out of the slot, if there is one.
func (s *Slot) empty() {
	if c := s.copy.Swap(nil); c != nil {
		c.Release()
	}
}

// Copy is a file in memory that holds a body. It is never written to again. It is there until each
// Take of it, and its slot, has let go of it.
type Copy struct {
	of     *Copies
	slot   *Slot
	file   int   // descriptor
	bytes  int64 // bytes of memory
	users  atomic.Int32
	recent atomic.Bool // taken since the hand came by
}

// Descriptor returns the file's, which is valid until Release. Its first byte is that of the body. Nobody
// may close it, or move its offset.
func (c *Copy) Descriptor() int { return c.file }

// take notes one more user, unless there is none any more.
func (c *Copy) take() bool {
	for {
		n := c.users.Load()
		if n == 0 {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			if !c.recent.Load() {
				c.recent.Store(true)
			}
			return true
		}
	}
}

// Release takes back one Take. The last one closes the file.
func (c *Copy) Release() {
	if c.users.Add(-1) == 0 {
		closeFile(c.file)
		c.of.open.Add(-1)
		c.of.bytes.Add(-c.bytes)
	}
}
