package flight

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// windowBytes is how far a fetch may always run ahead of its fastest reader, also where
	// the budget has nothing left.
	windowBytes = 64 << 10
	// windowChunk is the size of one piece of a body that is not kept whole.
	windowChunk = 32 << 10
	// minChunk and maxChunk bound one piece of a body that is kept whole. Each piece is twice as
	// large as the one before. A body that is to be stored, and whose length is known, is one
	// piece of that length.
	// While a piece is being sent to a client, all of it stays in memory, also when the body has
	// dropped it and the budget no longer counts it. So pieces are small.
	minChunk = 16 << 10
	maxChunk = 64 << 10
	// grace is how long a flight waits in all for one reader that lags, before it leaves the
	// reader behind. Of readers with the same speed now one lags and now another, though none is
	// slow.
	grace = 500 * time.Millisecond
)

var (
	// errLeft ends a Read of a Reader that was closed.
	errLeft = errors.New("flight: reader has left")
	// ErrBehind ends a Read of a Reader that lags so far that its next bytes are gone. What it
	// has read is right.
	ErrBehind = errors.New("flight: reader is too far behind")
)

// bodyOptions are shared by all bodies of one table.
type bodyOptions struct {
	budget *Budget
	ahead  int64                     // how far a fetch runs ahead of the fastest reader, memory permitting
	spool  func() (SpoolFile, error) // nil: none
	now    func() time.Time          // nil: there is no grace
}

// body is the shared, growing body of one flight: one writer, many readers. A
// piece of it is never changed once shown, so readers use it without copying.
//
// It is kept whole as long as it may be stored. After that it is windowed: its oldest pieces are
// dropped, and the writer waits for its fastest reader, and for slower ones at most for grace.
type body struct {
	bodyOptions
	client netip.Prefix // whose flight it is
	limit  int64        // at this many bytes the body is windowed

	mu          sync.Mutex
	wake        sync.Cond // readers wait for bytes, the writer for readers
	chunks      [][]byte  // len is what is filled, cap what is held
	inlineChunk [1][]byte // backs chunks while it has one element, as most bodies are one piece
	first       int64     // offset of chunks[0]
	size        int64     // bytes written
	shown       int64     // bytes that readers may see: size without the end that is held back
	held        int64     // bytes of memory in chunks
	reserved    int64     // bytes taken from budget, for chunks and bytes to come
	forStore    bool      // it is to be stored, and its memory is reserved
	windowed    bool
	unpaced     bool // the writer waits for no reader any more
	waiting     bool // the writer waits now
	ended       bool
	err         error   // with ended: nil for a whole body
	readers     *cursor // a list of the readers that are not left behind
	reading     int     // how many
	spill       spill
}

// begin makes b, which is zero, the body of a flight of the client c.
func (b *body) begin(k bodyOptions, c netip.Prefix, limit int64) {
	// One byte more than the limit, so that a body of unknown length and just
	// the limit can be seen to end there.
	b.bodyOptions, b.client, b.limit = k, c, limit+1
	b.wake.L = &b.mu
}

// secure reserves memory for a body that is to be stored. left is how many bytes are to come, -1
// if unknown. It reserves that many, or a first piece if unknown. secure returns how many bytes
// are lacking, as Budget.reserve does.
func (b *body) secure(left int64) (lacks int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forStore {
		return 0
	}
	n := left
	if left < 0 {
		n = minChunk
	}
	n = min(n, b.limit-b.size) - int64(len(b.freeTailLocked())) - (b.reserved - b.held)
	if n > 0 {
		if lacks = b.budget.reserve(n, b.client, true); lacks != 0 {
			return lacks
		}
		b.reserved += n
	}
	b.forStore = true
	b.wake.Broadcast() // it is no longer paced
	return 0
}

// need is what the caller of space must do before it can write on.
type need uint8

const (
	needNothing need = iota
	needMemory       // free memory for a body that is to be stored
	needWindow       // stop keeping the body whole
	needSpool        // write its oldest piece to disk
)

// space returns memory to write the next bytes to. It first waits for the fastest reader, unless
// the body is to be stored. If there is no memory, n says what the caller has to do first, and
// lacks how many bytes are missing. left is how many bytes are to come, -1 if unknown.
func (b *body) space(left int64) (room []byte, n need, lacks int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.windowed {
		lead := b.bytesAheadLocked()
		if !b.forStore && lead >= b.ahead {
			if b.spool != nil {
				return nil, needWindow, 0
			}
			b.waitLocked()
			continue
		}
		if room := b.freeTailLocked(); room != nil {
			if !b.forStore {
				room = room[:min(int64(len(room)), b.ahead-lead)]
			}
			return room, needNothing, 0
		}
		return b.growLocked(left)
	}
	return b.windowLocked(left)
}

// growLocked is space for a body kept whole whose last piece is full: it adds a piece.
func (b *body) growLocked(left int64) (room []byte, n need, lacks int64) {
	piece := b.pieceLocked(left)
	if piece <= 0 {
		return nil, needWindow, 0
	}
	if more := piece - (b.reserved - b.held); more > 0 {
		lacks = b.budget.reserve(more, b.client, b.forStore)
		if small := int64(minChunk); lacks != 0 && left < 0 && more > small && piece == more {
			piece, more = small, small // it may be enough
			lacks = b.budget.reserve(more, b.client, b.forStore)
		}
		switch {
		case lacks > 0 && b.forStore:
			return nil, needMemory, lacks
		case lacks != 0:
			return nil, needWindow, 0
		}
		b.reserved += more
	}
	b.addLocked(piece)
	return b.freeTailLocked(), needNothing, 0
}

func (b *body) addLocked(piece int64) {
	if b.chunks == nil {
		b.chunks = b.inlineChunk[:0]
	}
	b.chunks = append(b.chunks, make([]byte, 0, piece))
	b.held += piece
}

// bytesAheadLocked returns how many bytes the writer is ahead of the fastest reader; 0 if it need
// not wait for any.
func (b *body) bytesAheadLocked() int64 {
	if b.reading == 0 || b.unpaced {
		return 0
	}
	fastest := int64(0)
	for c := b.readers; c != nil; c = c.next {
		fastest = max(fastest, c.offset)
	}
	return b.size - fastest
}

func (b *body) waitLocked() {
	b.waiting = true
	b.wake.Wait()
	b.waiting = false
}

// freeTailLocked returns the unfilled end of the last piece, nil if it is full.
func (b *body) freeTailLocked() []byte {
	if n := len(b.chunks); n > 0 {
		if last := b.chunks[n-1]; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	return nil
}

// pieceLocked returns the size of the next piece of a body kept whole, at most what the object
// limit leaves; 0 when that is reached.
func (b *body) pieceLocked(left int64) int64 {
	n := int64(minChunk)
	switch {
	case left >= 0 && b.forStore:
		// One piece when the length is known: the stored body is then this very piece,
		// uncopied. A byte more would be a wrong length.
		n = left
	case left >= 0:
		n = min(left, maxChunk, b.ahead)
	case b.size > 0:
		n = min(2*int64(cap(b.chunks[len(b.chunks)-1])), maxChunk)
	}
	return min(n, b.limit-b.size)
}

// unpace makes the writer wait for no reader any more.
func (b *body) unpace() {
	b.mu.Lock()
	b.unpaced = true
	b.mu.Unlock()
	b.wake.Broadcast()
}

// length returns the bytes written.
func (b *body) length() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// commit adds n bytes, written to what space returned. held keeps them from the readers until end.
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
		b.ended, b.forStore, b.err = true, false, err
		if err == nil {
			b.shown = b.size
		}
	}
	b.trimLocked()
	done := b.takeSpillLocked()
	b.mu.Unlock()
	b.wake.Broadcast()
	done.close()
}

// bytes returns the whole body in one piece. Only the writer of a body kept whole may call it.
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

// stored notes that the store owns whole, which bytes has returned. The readers read it from there,
// and the budget no longer counts it.
func (b *body) stored(whole []byte) {
	b.mu.Lock()
	if len(whole) > 0 {
		b.forgetLocked()
		b.chunks, b.first = append(b.inlineChunk[:0], whole), 0
	}
	b.budget.release(b.reserved, b.client)
	b.reserved, b.held = 0, 0
	b.mu.Unlock()
}

// forgetLocked drops all pieces.
func (b *body) forgetLocked() { b.chunks, b.inlineChunk = nil, [1][]byte{} }
