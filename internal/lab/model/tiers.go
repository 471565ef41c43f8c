package model

import "edgeproxy/internal/lab/trace"

// tiers is a memory with a disk behind it. Admission lets responses onto the disk. The memory has the stage, and copies of hot
// objects. It copies an object of at most mostCopied bytes at its second hit on the disk within the memory's window. The window
// is as many hits on the disk as the memory has room for objects of meanCopy bytes. One of touchShare hits in memory counts on
// the disk too.
type tiers struct {
	objects []trace.Object
	memory  memory
	disk    *disk
	largest int64 // bytes of the largest object on the disk

	window int64   // in hits on the disk
	hits   int64   // number of hits on the disk so far
	last   []int64 // for each object the number of its last hit, 0 for none
	takes  int64   // bytes of the largest object that memory takes

	copies, copyBytes int64 // from the disk into the memory
	touches           int64 // hits in memory
}

// touchShare: one of so many hits in memory counts on the disk. The proxy draws them at random.
const touchShare = 64

const (
	mostCopied  = 1 << 20 // bytes of the largest object that is copied
	meanCopy    = 16 << 10
	leastWindow = 512
)

// memory is a storage that can be the first tier.
type memory interface {
	storage
	// unstage removes an object that find has just found in the stage.
	unstage(i uint32)
}

func newTiers(s Setting, in Input) (*tiers, error) {
	objects := in.Objects
	m, err := newMemory(s, in)
	if err != nil {
		return nil, err
	}
	main := s.CapacityBytes - s.StageBytes
	t := &tiers{
		objects: objects, memory: m, disk: newDisk(s.DiskBytes, s.DiskEviction, objects), largest: s.diskObjectBytes(),
		window: max(main/meanCopy, leastWindow), last: make([]int64, len(objects)), takes: min(main, mostCopied),
	}
	if s.MaxObjectBytes > 0 {
		t.takes = min(t.takes, s.MaxObjectBytes)
	}
	return t, nil
}

// diskObjectBytes returns the bytes of the largest object that is stored on the disk.
func (s Setting) diskObjectBytes() int64 {
	largest := s.DiskBytes / objectShare
	if s.DiskObjectBytes > 0 {
		largest = min(largest, s.DiskObjectBytes)
	}
	return largest
}

func (t *tiers) find(i uint32, now int64) place {
	if at := t.memory.find(i, now); at != nowhere {
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

func (t *tiers) holds(i uint32) bool { return t.memory.holds(i) || t.disk.of[i].at != unlinked }

func (t *tiers) renew(i uint32) { t.memory.renew(i) }

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

// promote writes a staged object onto the disk.
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

func (t *tiers) held() (objects, bytes int64) { return t.disk.held() }

func (t *tiers) look(requests []trace.Access) uint32 {
	return t.memory.look(requests) + t.disk.look(requests)
}

func (t *tiers) close() { t.memory.close() }
