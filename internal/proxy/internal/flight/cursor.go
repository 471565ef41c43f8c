package flight

import (
	"io"
	"slices"
	"time"
)

// cursor is where one reader stands.
type cursor struct {
	offset     int64
	waited     time.Duration // how long the writer has waited for this reader
	listed     bool          // it is in the list
	left       bool
	behind     bool // what comes next is gone
	next, prev *cursor
}

// enter adds c to the readers.
func (b *body) enter(c *cursor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enterLocked(c)
}

func (b *body) enterLocked(c *cursor) {
	if c.next = b.readers; c.next != nil {
		c.next.prev = c
	}
	b.readers, c.listed = c, true
	b.reading++
}

// leave takes c out of the readers, and drops the pieces that only c still needed. The caller closes
// what it returns.
func (b *body) leave(c *cursor) spill {
	b.mu.Lock()
	c.left = true
	b.removeLocked(c)
	b.trimLocked()
	done := b.takeSpillLocked()
	b.mu.Unlock()
	b.wake.Broadcast()
	return done
}

// removeLocked takes c from the list of readers.
func (b *body) removeLocked(c *cursor) {
	if !c.listed {
		return
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		b.readers = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.next, c.prev, c.listed = nil, nil, false
	b.reading--
}

// markBehindLocked takes c out of the readers: its next bytes are gone.
func (b *body) markBehindLocked(c *cursor) {
	b.removeLocked(c)
	c.behind = true
}

// next returns the next bytes for c, at most most, and waits for them. They stay valid for good.
// io.EOF ends a whole body.
func (b *body) next(c *cursor, most int) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c.offset == b.shown && !b.ended && !c.left && !c.behind {
		b.wake.Wait()
	}
	switch {
	case c.left:
		return nil, errLeft
	case c.behind:
		return nil, ErrBehind
	case c.offset < b.first && !b.spill.holds(c.offset):
		b.markBehindLocked(c)
		return nil, ErrBehind
	case c.offset < b.first:
		return b.spilledLocked(c, most)
	case c.offset < b.shown:
		p := b.bytesAtLocked(c.offset, most)
		b.advanceLocked(c, len(p))
		return p, nil
	case b.err != nil:
		return nil, b.err
	}
	return nil, io.EOF
}

// advanceLocked moves c on by n bytes.
func (b *body) advanceLocked(c *cursor, n int) {
	c.offset += int64(n)
	if b.waiting {
		b.wake.Broadcast()
	}
	if b.ended && len(b.chunks) > 0 && c.offset >= b.first+int64(len(b.chunks[0])) {
		b.trimLocked()
	}
}

// bytesAtLocked returns the bytes at offset, at most most, from one piece.
func (b *body) bytesAtLocked(offset int64, most int) []byte {
	at := b.size
	for _, c := range slices.Backward(b.chunks) { // most readers are near the end
		if at -= int64(len(c)); offset >= at {
			p := c[offset-at:]
			return p[:min(int64(len(p)), int64(most), b.shown-offset)]
		}
	}
	panic("flight: a reader stands before the window")
}
