package flight

import (
	"errors"
	"io"
	"sync"
)

const (
	// windowBytes is how far a fetch that is not kept whole may run ahead of its
	// slowest reader.
	windowBytes = 64 << 10
	// windowChunk is the size of one piece in that mode.
	windowChunk = 32 << 10
	// minChunk and maxChunk bound one piece of a body that is kept whole and
	// whose length is unknown; pieces double in between.
	minChunk = 16 << 10
	maxChunk = 1 << 20
)

// errLeft ends a Read of a Reader that was closed.
var errLeft = errors.New("flight: reader has left")

// body is the shared, growing body of one flight: one writer, many readers. A
// piece of it is never changed once shown, so readers use it without copying.
type body struct {
	budget *Budget
	limit  int64 // at this many bytes the body is windowed

	mu       sync.Mutex
	wake     sync.Cond // readers wait for bytes, a windowed writer for readers
	chunks   [][]byte  // len is what is filled, cap what is reserved
	first    int64     // offset of chunks[0]
	size     int64     // bytes written
	shown    int64     // bytes that readers may see; size less a held back end
	reserved int64     // bytes taken from budget
	windowed bool
	hurried  bool // the writer waits for no reader any more
	ended    bool
	err      error // with ended: nil for a whole body
	readers  map[*cursor]struct{}
}

// cursor is where one reader stands.
type cursor struct {
	offset int64
	left   bool
}

func newBody(budget *Budget, limit int64) *body {
	// One byte more than the limit, so that a body of unknown length and just
	// the limit can be seen to end there.
	b := &body{budget: budget, limit: limit + 1, readers: map[*cursor]struct{}{}}
	b.wake.L = &b.mu
	return b
}

func (b *body) enter() *cursor {
	c := &cursor{}
	b.mu.Lock()
	b.readers[c] = struct{}{}
	b.mu.Unlock()
	return c
}

// leave takes c out; what only c still needed is let go.
func (b *body) leave(c *cursor) {
	b.mu.Lock()
	c.left = true
	delete(b.readers, c)
	b.trimLocked()
	b.mu.Unlock()
	b.wake.Broadcast()
}

// keep returns room to write the next bytes of a body kept whole; nil when it
// has outgrown the limit or the budget: then it must be windowed. left is how
// many bytes are to come, -1 if unknown.
func (b *body) keep(left int64) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.windowed {
		return nil
	}
	if room := b.restLocked(); room != nil {
		return room
	}
	if n := b.pieceLocked(left); n > 0 && b.size+n <= b.limit && b.budget.reserve(n) {
		b.reserved += n
		b.chunks = append(b.chunks, make([]byte, 0, n))
		return b.restLocked()
	}
	return nil
}

// pace returns room to write the next bytes of a windowed body, after waiting
// for its slowest reader.
func (b *body) pace() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.hurried && len(b.readers) > 0 && b.size-b.slowestLocked() >= windowBytes {
		b.wake.Wait()
	}
	b.trimLocked()
	if room := b.restLocked(); room != nil {
		return room
	}
	b.chunks = append(b.chunks, make([]byte, 0, windowChunk))
	return b.restLocked()
}

// restLocked returns what is still free in the last piece, nil if nothing.
func (b *body) restLocked() []byte {
	if n := len(b.chunks); n > 0 {
		if last := b.chunks[n-1]; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	return nil
}

// pieceLocked returns the size of the next piece of a body kept whole, cut to
// the object limit; 0 when that is reached.
func (b *body) pieceLocked(left int64) int64 {
	n := int64(minChunk)
	if left >= 0 {
		// One piece when the length is known and modest: the stored body is then
		// this very piece, uncopied. A byte more would be a wrong length.
		n = min(left, maxChunk)
	} else if b.size > 0 {
		n = min(2*int64(cap(b.chunks[len(b.chunks)-1])), maxChunk)
	}
	return min(n, b.limit-b.size)
}

// hurry has the writer wait for no reader any more.
func (b *body) hurry() {
	b.mu.Lock()
	b.hurried = true
	b.mu.Unlock()
	b.wake.Broadcast()
}

// window ends keeping the body whole.
func (b *body) window() {
	b.mu.Lock()
	b.windowed = true
	b.mu.Unlock()
}

// length returns the bytes written.
func (b *body) length() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// commit adds n bytes written into the room that space gave. held keeps them
// from the readers until end.
func (b *body) commit(n int, held bool) {
	b.mu.Lock()
	last := len(b.chunks) - 1
	b.chunks[last] = b.chunks[last][:len(b.chunks[last])+n]
	b.size += int64(n)
	if !held {
		b.shown = b.size
	}
	b.mu.Unlock()
	b.wake.Broadcast()
}

// end shows what was held back and ends the body: whole with a nil err. Only
// the first end counts.
func (b *body) end(err error) {
	b.mu.Lock()
	if !b.ended {
		b.ended, b.err = true, err
		if err == nil {
			b.shown = b.size
		}
		b.trimLocked()
	}
	b.mu.Unlock()
	b.wake.Broadcast()
}

// bytes returns the whole body in one piece; only for a body kept whole, by its
// writer.
func (b *body) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.chunks) == 1 && len(b.chunks[0]) == cap(b.chunks[0]) {
		return b.chunks[0]
	}
	out := make([]byte, 0, b.size)
	for _, c := range b.chunks {
		out = append(out, c...)
	}
	return out
}

// next returns the bytes that follow c, waiting for them. They stay valid for
// good. io.EOF ends a whole body.
func (b *body) next(c *cursor, most int) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c.offset == b.shown && !b.ended && !c.left {
		b.wake.Wait()
	}
	switch {
	case c.left:
		return nil, errLeft
	case c.offset < b.shown:
		p := b.atLocked(c.offset, most)
		c.offset += int64(len(p))
		if b.windowed {
			b.wake.Broadcast()
		}
		return p, nil
	case b.err != nil:
		return nil, b.err
	}
	return nil, io.EOF
}

// atLocked returns at most most bytes from offset on, within one piece.
func (b *body) atLocked(offset int64, most int) []byte {
	at := b.first
	for _, c := range b.chunks {
		if next := at + int64(len(c)); offset < next {
			p := c[offset-at:]
			return p[:min(int64(len(p)), int64(most), b.shown-offset)]
		}
		at += int64(len(c))
	}
	panic("flight: a reader stands before the window")
}

func (b *body) slowestLocked() int64 {
	slowest := b.size
	for c := range b.readers {
		slowest = min(slowest, c.offset)
	}
	return slowest
}

// trimLocked lets go of the pieces that nobody will read again: those behind
// the slowest reader when windowed, all of them when the body has ended and
// nobody reads.
func (b *body) trimLocked() {
	if b.ended && len(b.readers) == 0 {
		b.chunks = nil
		b.budget.release(b.reserved)
		b.reserved = 0
		return
	}
	if !b.windowed {
		return
	}
	slowest := b.slowestLocked()
	for len(b.chunks) > 0 {
		c := b.chunks[0]
		if len(c) < cap(c) && len(b.chunks) == 1 || b.first+int64(len(c)) > slowest {
			return
		}
		b.first += int64(len(c))
		n := min(b.reserved, int64(cap(c)))
		b.reserved -= n
		b.budget.release(n)
		b.chunks[0] = nil
		b.chunks = b.chunks[1:]
	}
}
