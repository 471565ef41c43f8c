package model

import (
	"edgeproxy/internal/lab/trace"
)

// exactStorage is the storage of exact models: a main part with its own eviction, and a stage before it, first in, first out.
type exactStorage struct {
	objects []trace.Object
	main    mainPart
	stage   *stage // nil: none
	ages    *ages  // nil: nothing expires
	largest int64  // bytes of the largest object stored
}

// mainPart is a main part with one of the exact evictions.
type mainPart interface {
	// hit reports whether the object is there, and counts its use.
	hit(i uint32) bool
	// holds reports whether the object is there.
	holds(i uint32) bool
	// store adds an object that is not there. Its space is at most the capacity.
	store(i uint32)
	// drop removes an object, and reports whether it was there. That is no eviction.
	drop(i uint32) (was bool)
	counters() counters
	held() (objects, bytes int64)
	// look is that of storage.
	look(requests []trace.Access) uint32
}

func newExactStorage(s Setting, in Input) *exactStorage {
	capacity := s.CapacityBytes - s.StageBytes
	h := &exactStorage{objects: in.Objects, main: newMainPart(s, capacity, in), largest: capacity}
	if s.MaxObjectBytes > 0 {
		h.largest = min(h.largest, s.MaxObjectBytes)
	}
	if in.Lifetimes != nil {
		h.ages = newAges(in.Lifetimes)
	}
	if s.StageBytes > 0 && !s.Policy.Closed() { // a closed policy stores nothing
		h.stage = newStage(s.StageBytes, in.Objects)
	}
	return h
}

func newMainPart(s Setting, capacity int64, in Input) mainPart {
	objects := in.Objects
	switch s.Eviction {
	case Clairvoyant:
		return newClairvoyant(capacity, in)
	case S3FIFO:
		return newS3FIFO(capacity, newNodes(objects))
	case SIEVE:
		return newSieve(capacity, newNodes(objects))
	case GDSF:
		return newGDSF(capacity, objects)
	default:
		return newLRU(capacity, newNodes(objects))
	}
}

func (h *exactStorage) find(i uint32, now int64) place {
	at := nowhere
	switch {
	case h.main.hit(i):
		at = inMain
	case h.stage != nil && h.stage.has(i):
		at = inStage
	}
	if h.ages == nil {
		return at
	}
	h.ages.now = now
	if at == nowhere || h.ages.fresh(i) {
		return at
	}
	return h.stale(i, at)
}

// stale returns what place i has, which has expired there.
func (h *exactStorage) stale(i uint32, at place) place {
	switch {
	case at == inStage:
		h.stage.remove(i)
		return nowhere
	case h.ages.lifetimes[i].Validates:
		return stale
	}
	h.ages.drop(h.main, i)
	return expired
}

func (h *exactStorage) holds(i uint32) bool {
	return h.main.holds(i) || h.stage != nil && h.stage.has(i)
}

func (h *exactStorage) renew(i uint32) { h.ages.renew(i) }

// takes reports whether i is to be stored in the main part. What is of no use any more leaves before anything is evicted.
func (h *exactStorage) takes(i uint32) bool {
	h.ages.clear(h.main)
	c, chooses := h.main.(*clairvoyant)
	return !chooses || c.takes(i)
}

// store adds i to the main part.
func (h *exactStorage) store(i uint32) {
	h.main.store(i)
	h.ages.entered(i)
}

func (h *exactStorage) keep(i uint32, admit bool) Outcome {
	switch {
	case h.objects[i].Size > h.largest:
		return TooLarge
	case admit && h.takes(i):
		h.ages.renew(i)
		h.store(i)
		return Stored
	case h.stage != nil && h.stage.put(i):
		h.ages.renew(i)
		return Staged
	}
	return HeldBack
}

func (h *exactStorage) promote(i uint32) bool {
	if !h.takes(i) {
		return false
	}
	h.stage.remove(i)
	h.store(i)
	return true
}

func (h *exactStorage) unstage(i uint32) { h.stage.remove(i) }

func (h *exactStorage) counters() counters {
	c := h.main.counters()
	if h.ages != nil {
		c.expired = h.ages.expired
	}
	return c
}

func (h *exactStorage) held() (objects, bytes int64) { return h.main.held() }

func (h *exactStorage) look(requests []trace.Access) (read uint32) {
	read = h.main.look(requests)
	if h.stage != nil {
		read += h.stage.look(requests)
	}
	return read
}

func (h *exactStorage) close() {}

// stage keeps new objects, first in, first out.
type stage struct {
	chain
	maxBytes int64
}

func newStage(maxBytes int64, objects []trace.Object) *stage {
	return &stage{chain: newChain(newNodes(objects), queue), maxBytes: maxBytes}
}

func (s *stage) has(i uint32) bool { return s.of[i].at == queue }

// put adds an object that is not there, unless it does not fit. It reports whether it fits.
func (s *stage) put(i uint32) bool {
	space := s.space(i)
	if space > s.maxBytes {
		return false
	}
	for s.bytes+space > s.maxBytes {
		s.remove(s.oldest)
	}
	s.push(i)
	return true
}
