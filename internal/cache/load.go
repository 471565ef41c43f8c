package cache

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"

	"edgeproxy/internal/cache/disk"
)

// Load looks on the disk for what is stored under name, whose hash is k. It returns that, or, where responses of this URL vary, the names of
// the fields that select a variant, as Vary has them; nothing if there is neither. It may wait for the device, but not long: what
// cannot be read in time is not found. Ask Find before, and Keep after it.
//
// A content which is not in memory is read from the disk, and keeps its place there until Release.
func (s *Store) Load(k Key, name []byte) (o *Object, vary []string) {
	if s.disk == nil {
		return nil, nil
	}
	h := s.disk.hash(name)
	if !s.disk.Holds(h) {
		return nil, nil
	}
	changes, hit := s.disk.changesOf(k).Load(), new(disk.Hit)
	if !s.disk.Find(h, name, hit) {
		return nil, nil
	}
	e := s.disk.entryOf(hit.Block, k)
	switch {
	case e == nil: // of a process that knew other purges, or of another version of this
		hit.Close()
		s.disk.Remove(h)
		return nil, nil
	case e.isMarker():
		hit.Close()
		s.learn(e, changes)
		return nil, e.Vary
	}
	e.Content = contentOf(hit)
	o = newObject(e, false)
	o.form |= formLoaded
	if s.disk.again.again(h) {
		o.form |= formAgain
	}
	o.marks.Store(changes)
	return o, nil
}

// learn has memory know what the marker e says, which stood on the disk at the time of changes.
func (s *Store) learn(e *Entry, changes uint32) {
	o := newObject(e, false)
	s.mu.Lock()
	defer s.unlock()
	if s.disk.changesOf(e.URL).Load() == changes && s.heldLocked(e.URL) == nil && s.stage.items.peek(e.URL) == nil {
		s.describeLocked(o)
	}
}

// Keep puts a copy of o, which Load has returned, into the memory tier, if objects were hit on the disk
// seldom enough between this hit of o and the one before. It reports whether it did. Unless is asked as in Put.
func (s *Store) Keep(o *Object, unless func() bool) bool {
	if o.form&formAgain == 0 {
		return false
	}
	e := o.Entry()
	if !s.Takes(e.Content.Size(), e, true) {
		return false
	}
	if e.Content.InFile() {
		body := make([]byte, e.Content.Size())
		if _, err := e.Content.ReadAt(body, 0); err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		e.Content = InMemory(body)
	}
	it := s.object(e)
	s.mu.Lock()
	defer s.unlock()
	if s.disk.changesOf(o.key).Load() != o.marks.Load() || !s.standsLocked(o) || unless() {
		return false
	}
	s.storeLocked(it, replaced)
	return true
}

// standsLocked reports whether memory has nothing that a copy of o, which is from the disk, would replace.
func (s *Store) standsLocked(o *Object) bool {
	if s.heldLocked(o.key) != nil || s.stage.items.peek(o.key) != nil {
		return false
	}
	slot := s.index.peek(o.URL())
	if o.Varies() {
		return slot != nil && slot.value.describes(o)
	}
	return slot == nil
}

// Release says that nobody reads the content of o, which Load has returned, any more. It may be called
// with any Object, and twice.
func (s *Store) Release(o *Object) {
	if o.form&formLoaded == 0 {
		return
	}
	if c := o.Content(); c.kept != nil {
		if f, ok := c.kept.File.(*onDisk); ok {
			f.close()
		}
	}
}

// remove forgets what is on the disk under name, whose hash is k.
func (d *diskTier) remove(k Key, name []byte) {
	d.changesOf(k).Add(1)
	d.Remove(d.hash(name))
}

// purge is remove, and reports whether something was there.
func (d *diskTier) purge(k Key, name []byte) bool {
	held := d.Holds(d.hash(name))
	d.remove(k, name)
	return held
}

// discard removes o from the disk, unless something else is there under its name by now. It reports whether
// it did.
func (d *diskTier) discard(o *Object) bool {
	h, changes := d.hash(o.Name()), d.changesOf(o.key)
	was := changes.Load()
	var hit disk.Hit
	if !d.Find(h, o.Name(), &hit) {
		return false
	}
	e := d.entryOf(hit.Block, o.key)
	hit.Close()
	if e == nil || e.Serial != o.serial || !changes.CompareAndSwap(was, was+1) {
		return false
	}
	d.Remove(h)
	return true
}

// contentOf returns the body of hit as content. A short one is in memory, which belongs to the content from then on.
func contentOf(hit *disk.Hit) Content {
	if hit.Body != nil {
		body := hit.Body
		hit.Close()
		return InMemory(body)
	}
	f := &onDisk{hit: hit, size: hit.Size()}
	runtime.SetFinalizer(f, (*onDisk).close) // where a flight has it as well, nobody knows when it is the last
	return Content{kept: &kept{File: f, apart: true}}
}

// onDisk is content on the disk, for one or a few readers. It keeps its place there until close.
type onDisk struct {
	size int64
	mu   sync.Mutex // a Hit has one user at a time
	hit  *disk.Hit  // nil: closed
}

var _ File = (*onDisk)(nil)

// Size implements File.
func (f *onDisk) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. What it gives was checked.
func (f *onDisk) ReadAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hit == nil {
		return 0, os.ErrClosed
	}
	return f.hit.ReadAt(p, offset)
}

// Same implements File.
func (f *onDisk) Same(other File) bool { return f == other }

// Update implements File: the disk has the entry itself.
func (f *onDisk) Update(*Entry) {}

// Remove implements File: the disk decides itself what leaves.
func (f *onDisk) Remove() {}

func (f *onDisk) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hit != nil {
		f.hit.Close()
		f.hit = nil
		runtime.SetFinalizer(f, nil)
	}
}
