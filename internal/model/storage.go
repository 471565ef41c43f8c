package model

import (
	"edgeproxy/internal/trace"
)

// exactStorage is the storage of exact models: a main part with its own eviction, and a stage before it, first in, first out.
type exactStorage struct {
	objects []trace.Object
	main    mainPart
	stage   *stage // nil: none
	largest int64  // bytes of the largest object stored
}

// mainPart is a main part with one of the exact evictions.
type mainPart interface {
	// hit reports whether the object is there, and counts its use.
	hit(i uint32) bool
	// store adds an object that is not there. Its space is at most the capacity.
	store(i uint32)
	counters() counters
	held() (objects, bytes int64)
	// look is that of storage.
	look(requests []trace.Access) uint32
}

func newExactStorage(s Setting, objects []trace.Object) *exactStorage {
	capacity := s.CapacityBytes - s.StageBytes
	h := &exactStorage{objects: objects, main: newMainPart(s, capacity, objects), largest: capacity}
	if s.MaxObjectBytes > 0 {
		h.largest = min(h.largest, s.MaxObjectBytes)
	}
	if s.StageBytes > 0 && !s.Policy.Closed() { // a closed policy stores nothing
		h.stage = newStage(s.StageBytes, objects)
	}
	return h
}

func newMainPart(s Setting, capacity int64, objects []trace.Object) mainPart {
	switch s.Eviction {
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

func (h *exactStorage) find(i uint32) place {
	switch {
	case h.main.hit(i):
		return inMain
	case h.stage != nil && h.stage.has(i):
		return inStage
	}
	return nowhere
}

func (h *exactStorage) keep(i uint32, admit bool) Outcome {
	switch {
	case h.objects[i].Size > h.largest:
		return TooLarge
	case admit:
		h.main.store(i)
		return Stored
	case h.stage != nil && h.stage.put(i):
		return Staged
	}
	return HeldBack
}

func (h *exactStorage) promote(i uint32) bool {
	h.stage.remove(i)
	h.main.store(i)
	return true
}

func (h *exactStorage) unstage(i uint32) { h.stage.remove(i) }

func (h *exactStorage) counters() counters { return h.main.counters() }

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
