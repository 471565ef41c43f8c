package flight

import "time"

// window stops keeping the body whole: from now on it is windowed. With yields it also drops at once
// all pieces beyond the window, so that there is memory for what will be stored. Readers that lag
// further than the window are left behind.
func (b *body) window(yields bool) {
	b.mu.Lock()
	b.windowed, b.forStore = true, false
	b.releaseUnusedLocked()
	b.trimLocked()
	for yields && len(b.chunks) > 1 && b.size-b.first-int64(len(b.chunks[0])) >= b.ahead {
		b.dropLocked()
	}
	b.mu.Unlock()
	b.wake.Broadcast()
}

// releaseUnusedLocked gives back what was reserved beyond the pieces in memory.
func (b *body) releaseUnusedLocked() {
	if b.reserved > b.held {
		b.budget.release(b.reserved-b.held, b.client)
		b.reserved = b.held
	}
}

// spareBytes returns how many bytes of budget a window that yields would give back.
func (b *body) spareBytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forStore || b.reserved == 0 {
		return 0
	}
	keep := max(b.slowestLocked(), b.size-b.ahead)
	spare, at := b.reserved-b.held, b.first
	for _, c := range b.chunks {
		if at += int64(len(c)); at > keep || len(c) < cap(c) {
			break
		}
		spare += int64(cap(c))
	}
	return min(spare, b.reserved)
}

// windowLocked is space for a windowed body. A short body has a short piece.
func (b *body) windowLocked(left int64) (room []byte, n need, lacks int64) {
	for {
		b.trimLocked()
		lead, wide := b.bytesAheadLocked(), b.maxAheadLocked()
		if b.spool != nil {
			lead = min(lead, b.size-b.first) // nobody waits for what is on disk
		}
		if lead < wide {
			if room := b.freeTailLocked(); room != nil {
				return room[:min(int64(len(room)), wide-lead)], needNothing, 0
			}
			piece := int64(windowChunk)
			if left > 0 {
				piece = min(piece, left)
			}
			if b.reserveWindowPieceLocked(piece) {
				b.addLocked(piece)
				continue
			}
			if b.spool == nil && b.fastestPastOldestLocked() {
				if !b.waitForLaggardsLocked() {
					b.dropLocked() // only readers that lag need it
				}
				continue
			}
		}
		if b.spool != nil && len(b.chunks) > 0 {
			return nil, needSpool, 0
		}
		b.waitLocked()
	}
}

// maxAheadLocked returns how far the writer may run ahead of the fastest reader: all of the window,
// or half of it if there are several readers. The other half is then for slower ones.
func (b *body) maxAheadLocked() int64 {
	if b.reading > 1 {
		return max(b.ahead/2, windowChunk)
	}
	return b.ahead
}

// reserveWindowPieceLocked reports whether the window may have another piece of this size, and reserves
// memory for it. A window of up to windowBytes needs no budget.
func (b *body) reserveWindowPieceLocked(piece int64) bool {
	switch {
	case b.held > b.ahead:
		return false
	case b.budget.reserve(piece, b.client, false) == 0:
		b.reserved += piece
		return true
	}
	return b.held+piece <= windowBytes
}

// fastestPastOldestLocked reports whether the fastest reader has read the oldest piece.
func (b *body) fastestPastOldestLocked() bool {
	return len(b.chunks) > 0 && b.size-b.bytesAheadLocked() >= b.first+int64(len(b.chunks[0]))
}

// waitForLaggardsLocked waits for readers that have not read the oldest piece. It reports false if the
// writer has waited for each of them for grace.
func (b *body) waitForLaggardsLocked() bool {
	end, left := b.first+int64(len(b.chunks[0])), time.Duration(0)
	for c := b.readers; c != nil; c = c.next {
		if c.offset < end {
			left = max(left, grace-c.waited)
		}
	}
	if left <= 0 || b.now == nil || b.unpaced {
		return false
	}
	begun, timer := b.now(), time.AfterFunc(left, b.nudge)
	b.waitLocked()
	timer.Stop()
	waited := b.now().Sub(begun)
	for c := b.readers; c != nil; c = c.next {
		if c.offset < end+windowChunk { // it lags, or did until now
			c.waited += waited
		}
	}
	return true
}

// nudge wakes the writer, if it waits.
func (b *body) nudge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake.Broadcast()
}

func (b *body) slowestLocked() int64 {
	slowest := b.size
	for c := b.readers; c != nil; c = c.next {
		slowest = min(slowest, c.offset)
	}
	return slowest
}

// trimLocked drops the pieces that nobody will read again: those that the slowest reader has read
// when the body is windowed or has ended, all of them when it has ended and nobody reads.
func (b *body) trimLocked() {
	switch {
	case b.ended && b.reading == 0:
		b.forgetLocked()
		b.budget.release(b.reserved, b.client)
		b.reserved, b.held = 0, 0
		return
	case !b.ended && !b.windowed: // kept whole
		return
	case b.ended && b.reserved == 0: // the store's
		return
	case b.ended:
		b.releaseUnusedLocked()
	}
	b.trimReadLocked()
}

// trimReadLocked drops the pieces that all readers have read, except one that the writer has not
// filled.
func (b *body) trimReadLocked() {
	slowest := b.slowestLocked()
	for len(b.chunks) > 0 {
		c := b.chunks[0]
		if !b.ended && len(c) < cap(c) && len(b.chunks) == 1 || b.first+int64(len(c)) > slowest {
			return
		}
		b.dropLocked()
	}
}

// dropLocked drops the oldest piece. A reader that has not read it, and does not find it on disk, is
// left behind.
func (b *body) dropLocked() {
	c := b.chunks[0]
	b.chunks[0] = nil
	b.chunks = b.chunks[1:]
	b.first += int64(len(c))
	b.held -= int64(cap(c))
	b.releaseUnusedLocked()
	b.leaveBehindLocked(b.first)
}

// leaveBehindLocked leaves the readers behind that have not reached offset, unless their next bytes
// are on disk.
func (b *body) leaveBehindLocked(offset int64) {
	for c := b.readers; c != nil; {
		next := c.next
		if c.offset < offset && !b.spill.holds(c.offset) {
			b.markBehindLocked(c)
		}
		c = next
	}
	b.wake.Broadcast()
}
