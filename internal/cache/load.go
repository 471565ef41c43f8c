package cache

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/pinned"
)

// ErrSlow says of the content of what Load has returned that the disk does not give it in time. It may do so later.
var ErrSlow = disk.ErrSlow

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
	changes, f := s.disk.changesOf(k).Load(), new(onDisk)
	if !s.disk.Find(h, name, &f.hit) {
		return nil, nil
	}
	r := s.disk.recordOf(k, &f.hit)
	switch {
	case r == nil: // of a process that knew other purges, or of another version of this
		f.hit.Free()
		s.disk.Remove(h)
		return nil, nil
	case r.marker != nil:
		list := listIn(&f.hit)
		f.hit.Free()
		s.learn(r.marker, list, changes)
		return nil, r.marker.Vary
	}
	head := r.head
	if head.Varies() { // its marker stays as long as it does, or nobody would find it
		s.disk.Touch(s.disk.hash(head.URLName()))
	}
	if renewed := s.renewedOf(k, head.serial, name); renewed != nil {
		head = renewed
	}
	o = f.object(head)
	if s.disk.again.again(h) {
		o.form |= formAgain
	}
	o.marks.Store(changes)
	return o, nil
}

// diskRecord is what a record of the disk says, all but its content. It does not change.
type diskRecord struct {
	marker  *Entry  // nil: it is none
	head    *Object // nil: it is a marker
	patch   disk.Patch
	patched bool
}

// recordOf returns what hit says, which was found under the name whose hash is k; nil where that cannot be used. The disk keeps it for the
// next hit of a record that is asked for often.
func (d *diskTier) recordOf(k Key, hit *disk.Hit) *diskRecord {
	if r, ok := hit.Memo().(*diskRecord); ok && r.patched == hit.Patched && r.patch == hit.Patch {
		return r
	}
	e := d.entryOf(hit.Block)
	if e == nil || e.Key != k {
		return nil
	}
	r := &diskRecord{patch: hit.Patch, patched: hit.Patched}
	switch {
	case e.isMarker():
		r.marker = e
	case hit.Patched:
		r.head = newObject(patched(e, hit.Patch), false)
	default:
		r.head = newObject(e, false)
	}
	hit.SetMemo(r)
	return r
}

// loaded is an Object with formLoaded. Its tail is that of the head that it was made of.
type loaded struct {
	apart
	lent *onDisk   // has the memory of the content; nil: it lies in the file, or was given back
	also io.Closer // see Lend
}

// object returns what f has found, with this head, as an Object.
func (f *onDisk) object(head *Object) *Object {
	l := &loaded{}
	l.copyFacts(head)
	l.form |= formLoaded | formApart
	l.tail = head.apart().tail
	if f.hit.Body != nil {
		l.content, l.lent = InMemory(f.hit.Body), f
		f.hit.Close() // the body stays where it was read to
		return &l.Object
	}
	f.size, f.open = f.hit.Size(), true
	runtime.SetFinalizer(f, (*onDisk).close) // where a flight has it as well, nobody knows when it is the last
	l.content = Content{kept: &kept{File: f, apart: true}}
	return &l.Object
}

// Lend returns what closes also, unless that is nil, and then has the next hit on the disk use the memory that the content of o was
// read to. It is also itself where o, or its content, has none to give back. Who closes it has to be the last that uses o: where a flight or
// anything else may have the content as well, the collector sees to it.
func (o *Object) Lend(also io.Closer) io.Closer {
	if o.form&formLoaded == 0 {
		return also
	}
	l := o.loaded()
	if l.lent == nil {
		return also
	}
	l.also = also
	return l
}

// Close implements io.Closer, for Lend.
func (l *loaded) Close() (err error) {
	f, also := l.lent, l.also
	l.lent, l.also = nil, nil
	if also != nil {
		err = also.Close()
	}
	if f != nil {
		f.hit.Free()
	}
	return err
}

// mostKept is the longest content that is copied to memory.
const mostKept = 1 << 20

// Keep puts a copy of o, which Load has returned, into the memory tier, if objects were hit on the disk
// seldom enough between this hit of o and the one before, and returns it; nil if it did not. A long content stays where it is: the system sends
// it from its own pages. Unless is asked as in Put.
func (s *Store) Keep(o *Object, unless func() bool) *Object {
	if o.form&formAgain == 0 {
		return nil
	}
	size := o.Content().Size()
	if size > min(mostKept, s.limits.maxObjectBytes) { // before all that takes memory
		return nil
	}
	e := o.Entry()
	if !s.Takes(size, e, true) {
		return nil
	}
	if e.Content.InFile() || size > pinned.Least { // what is shorter is copied anyhow
		body := make([]byte, size)
		if _, err := e.Content.ReadAt(body, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil
		}
		e.Content = InMemory(body)
	}
	a := s.arrival(e)
	defer a.free()
	s.mu.Lock()
	defer s.unlock()
	if s.disk.changesOf(o.key).Load() != o.marks.Load() || !s.standsLocked(o) || unless() {
		return nil
	}
	it, _ := s.storeLocked(a, replaced)
	s.disk.copies.Add(1)
	return it
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

// discardOnDisk removes o from the disk, unless something else is there under its name by now. It reports whether
// it did.
func (s *Store) discardOnDisk(o *Object) bool {
	d := s.disk
	h, changes := d.hash(o.Name()), d.changesOf(o.key)
	was := changes.Load()
	var hit disk.Hit
	if !d.Find(h, o.Name(), &hit) {
		return false
	}
	e := d.entryOf(hit.Block)
	hit.Free()
	if e == nil || s.headOf(e, Content{}).serial != o.serial || !changes.CompareAndSwap(was, was+1) {
		return false
	}
	d.Remove(h)
	return true
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

// onDisk is content on the disk, for one or a few readers. It keeps its place there until close.
type onDisk struct {
	size int64
	mu   sync.Mutex // a Hit has one user at a time
	hit  disk.Hit
	open bool // until close
}

var _ File = (*onDisk)(nil)

// Size implements File.
func (f *onDisk) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. What it gives was checked.
func (f *onDisk) ReadAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		return 0, os.ErrClosed
	}
	return f.hit.ReadAt(p, offset)
}

// part checks length bytes of the content from offset on, and returns the file where they lie, and from where on.
func (f *onDisk) part(offset, length int64) (file *os.File, at int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		return nil, 0, os.ErrClosed
	}
	file, at, ok := f.hit.File()
	if !ok {
		return nil, 0, errors.ErrUnsupported
	}
	return file, at + offset, f.hit.Check(offset, length)
}

// lends reports whether part gives a file away.
func (f *onDisk) lends() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open && f.hit.Lends()
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
	if f.open {
		f.hit.Free()
		f.open = false
		runtime.SetFinalizer(f, nil)
	}
}
