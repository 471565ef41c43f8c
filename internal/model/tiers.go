package model

import "edgeproxy/internal/trace"

// tiers is a memory with a disk behind it. Admission lets responses onto the disk.
// The memory has the stage of newcomers, and copies of what is hot: it takes an
// object at the second hit on the disk within the memory's window. A hit of a copy
// counts on the disk too.
//
// The memory's window is made of the objects that were hit on the disk last, as many
// as the memory has room for.
type tiers struct {
	objects []trace.Object
	memory  memory
	disk    *disk
	largest int64 // bytes of the largest object on the disk

	window      chain
	windowBytes int64
	takes       int64 // bytes of the largest object in memory

	copies, copyBytes int64 // from the disk into the memory
}

// memory is a storage that can be the first tier.
type memory interface {
	storage
	// unstage takes an object that find has just seen in the stage out of it.
	unstage(i uint32)
}

func newTiers(s Setting, objects []trace.Object) (*tiers, error) {
	m, err := newMemory(s, objects)
	if err != nil {
		return nil, err
	}
	main := s.CapacityBytes - s.StageBytes
	t := &tiers{
		objects: objects, memory: m, disk: newDisk(s.DiskBytes, objects), largest: s.diskObjectBytes(),
		window: newChain(newNodes(objects), queue), windowBytes: main, takes: main,
	}
	if s.MaxObjectBytes > 0 {
		t.takes = min(t.takes, s.MaxObjectBytes)
	}
	return t, nil
}

// diskObjectBytes returns the bytes of the largest object that goes onto the disk.
func (s Setting) diskObjectBytes() int64 {
	largest := s.DiskBytes / objectShare
	if s.DiskObjectBytes > 0 {
		largest = min(largest, s.DiskObjectBytes)
	}
	return largest
}

func (t *tiers) find(i uint32) place {
	if at := t.memory.find(i); at != nowhere {
		t.disk.hit(i)
		return at
	}
	if !t.disk.hit(i) {
		return nowhere
	}
	if t.hitBefore(i) && t.memory.keep(i, true) == Stored {
		t.copies++
		t.copyBytes += t.objects[i].Size
	}
	return onDisk
}

// hitBefore notes a hit on the disk, and reports whether the memory is to take the
// object now.
func (t *tiers) hitBefore(i uint32) bool {
	w := &t.window
	if t.objects[i].Size > t.takes {
		return false
	}
	if w.of[i].at != unlinked {
		w.remove(i)
		return true
	}
	for w.bytes+w.space(i) > t.windowBytes {
		w.remove(w.oldest)
	}
	w.push(i)
	return false
}

func (t *tiers) keep(i uint32, admit bool) Outcome {
	switch {
	case t.objects[i].Size > t.largest:
		return TooLarge
	case admit:
		t.disk.store(i)
		return Stored
	case t.memory.keep(i, false) == Staged:
		return Staged
	}
	return HeldBack
}

// promote writes what was staged onto the disk.
func (t *tiers) promote(i uint32) bool {
	if t.objects[i].Size > t.largest {
		return false
	}
	t.memory.unstage(i)
	t.disk.store(i)
	return true
}

func (t *tiers) counters() counters {
	c := t.disk.counters()
	c.copies, c.copyBytes = t.copies, t.copyBytes
	return c
}

func (t *tiers) look(requests []trace.Access) uint32 {
	return t.memory.look(requests) + t.disk.look(requests) + t.window.look(requests)
}

func (t *tiers) close() { t.memory.close() }
