package model

import "edgeproxy/internal/trace"

// tiers is a memory with a disk behind it. Admission lets responses onto the disk.
// The memory has the stage of newcomers, and copies of what is hot: it takes an
// object of at most mostCopied at the second hit on the disk within the memory's window, which is so many hits on the
// disk as the memory has room for objects of meanCopy. One of touchShare hits in memory counts on the disk too.
type tiers struct {
	objects []trace.Object
	memory  memory
	disk    *disk
	largest int64 // bytes of the largest object on the disk

	window int64   // in hits on the disk
	hits   int64   // on the disk, so far
	last   []int64 // of each object: its last one, 0 for none
	takes  int64   // bytes of the largest object in memory

	copies, copyBytes int64 // from the disk into the memory
	touches           int64 // hits in memory
}

// touchShare is how many hits in memory there are to one that counts on the disk. The proxy draws them by lot.
const touchShare = 64

const (
	mostCopied  = 1 << 20 // bytes of an object
	meanCopy    = 16 << 10
	leastWindow = 512
)

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
		window: max(main/meanCopy, leastWindow), last: make([]int64, len(objects)), takes: min(main, mostCopied),
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
		t.touch(i, at)
		return at
	}
	if !t.disk.hit(i) {
		return nowhere
	}
	if t.hitBefore(i) && t.objects[i].Size <= t.takes && t.memory.keep(i, true) == Stored {
		t.copies++
		t.copyBytes += t.objects[i].Size
	}
	return onDisk
}

// touch counts a hit in memory, which may count on the disk.
func (t *tiers) touch(i uint32, at place) {
	if at == inMain {
		if t.touches++; t.touches%touchShare == 0 {
			t.disk.hit(i)
		}
	}
}

// hitBefore notes a hit on the disk, and reports whether it is the second of the object within the window.
func (t *tiers) hitBefore(i uint32) bool {
	t.hits++
	last := t.last[i]
	t.last[i] = t.hits
	return last > 0 && t.hits-last <= t.window
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
	return t.memory.look(requests) + t.disk.look(requests)
}

func (t *tiers) close() { t.memory.close() }
