package http1

import (
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

const (
	// headSlots is how many parsed heads are kept, at most; each takes 1 to 2 KiB.
	headSlots = 1024
	// headPatience is how many answers a slot has to see without its head before
	// it keeps another one: where entries compete for a slot, one answer in so many
	// pays for the parsing and its allocations.
	headPatience = 256
)

// heads keeps the heads of entries that are asked for often, as fasthttp's parsed
// header: copying one costs a third of parsing it anew. An entry has its place
// by its serial number; others may take it. A head holds no body, so it keeps no
// evicted entry in memory. Safe for concurrent use; a head is never written to
// once it is in its slot, and racing answers may both parse.
type heads struct {
	slots [headSlots]headSlot
}

type headSlot struct {
	head   atomic.Pointer[parsedHead]
	misses atomic.Uint32
}

type parsedHead struct {
	serial uint64
	header fasthttp.ResponseHeader
}

// copyTo puts the head called serial into h and reports whether it was there.
func (k *heads) copyTo(h *fasthttp.ResponseHeader, serial uint64) bool {
	p := k.slots[serial%headSlots].head.Load()
	if p == nil || p.serial != serial {
		return false
	}
	p.header.CopyTo(h)
	return true
}

// wants reports whether the head called serial, just parsed, is worth its slot.
func (k *heads) wants(serial uint64) bool {
	return k.slots[serial%headSlots].misses.Add(1)%headPatience == 0
}

// keep copies h, the head called serial, into its slot.
func (k *heads) keep(h *fasthttp.ResponseHeader, serial uint64) {
	p := &parsedHead{serial: serial}
	h.CopyTo(&p.header)
	p.header.DisableNormalizing() // the names that come on top are in canonical form already
	k.slots[serial%headSlots].head.Store(p)
}
