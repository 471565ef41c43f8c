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

// ErrSlow is a read error of content that Load has returned: the disk did not deliver in time. A later read may
// succeed.
var ErrSlow = disk.ErrSlow

// Load looks on the disk for the response stored under name, whose hash is k. If the responses of this URL vary, it
// returns instead the names of the fields that select a variant, as Vary does. It returns nothing if there is neither.
// It waits for the device, but not long: what cannot be read in time is not found. Call Find before, and Keep after it.
//
// Content that is not in memory is read from the disk, and keeps its place there until Release.
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
	case r == nil: // written by a process that knew other purges, or by another version
		f.hit.Free()
		s.disk.Remove(h)
		return nil, nil
	case r.marker != nil:
		list := listIn(&f.hit)
		f.hit.Free()
		s.mergeVariantList(r.marker, list, changes)
		return nil, r.marker.Vary
	}
	head := r.head
	if head.Varies() { // its marker stays as long as it does, or nobody would find it
		if s.removeUnlisted(head, h) {
			f.hit.Free()
			return nil, nil
		}
		s.disk.Touch(s.disk.hash(head.URLName()))
	}
	if renewed := s.renewedOf(k, head.serial, name); renewed != nil {
		head = renewed
	}
	o = f.object(head)
	if s.disk.recentHits.secondHit(h) {
		o.form |= formSecondHit
	}
	o.marks.Store(changes)
	return o, nil
}

// diskRecord is a decoded record of the disk, without its content. It does not change.
type diskRecord struct {
	marker  *Entry  // nil: the record is no marker
	head    *Object // nil: the record is a marker
	patch   disk.Patch
	patched bool
}

// recordOf decodes the record that hit found under the name whose hash is k; nil if it cannot be used. The disk caches
// the result for the next hit of a record that is requested often.
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

// loaded is an Object with formLoaded. It shares the tail of the head it was made of.
type loaded struct {
	apart
	lent *onDisk   // owns the memory of the content; nil: the content is in the file, or was given back
	also io.Closer // see Lend
}

// object returns what f has found as an Object with this head.
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
	runtime.SetFinalizer(f, (*onDisk).close) // a flight may share it: then the collector closes it
	l.content = Content{kept: &fileContent{File: f, apart: true}}
	return &l.Object
}

// Lend returns an io.Closer that closes also, unless that is nil, and then gives back the memory that the content of o
// was read into, for the next hit on the disk. If o has no such memory it returns also itself. Close must be called by the
// last user of o. If a flight or anything else may share the content, do not call Lend: the collector frees it then.
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

// mostKept is the length of the longest content that Keep copies to memory.
const mostKept = 1 << 20

// Keep puts a copy of o, which Load has returned, into the memory tier and returns the copy. It does so only if this
// hit of o came soon enough after the one before (recenthits.go); else it returns nil. Long content is not copied: the
// system sends it from its page cache. Unless is asked as in Put.
func (s *Store) Keep(o *Object, unless func() bool) *Object {
	if o.form&formSecondHit == 0 {
		return nil
	}
	size := o.Content().Size()
	if size > min(mostKept, s.limits.maxObjectBytes) { // before anything allocates
		return nil
	}
	e := o.Entry()
	if !s.Takes(size, e, true) {
		return nil
	}
	if e.Content.InFile() || size > pinned.Least { // shorter content is copied anyway
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

// standsLocked reports whether a copy of o, which is from the disk, would replace nothing in memory.
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

// Release says that nobody reads the content of o, which Load has returned, any more. It may be called with any Object,
// and more than once.
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

// discardOnDisk removes o from the disk, unless something else is stored under its name by now. It reports whether it
// did.
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

// remove removes the record under name, whose hash is k, from the disk.
func (d *diskTier) remove(k Key, name []byte) {
	d.changesOf(k).Add(1)
	d.Remove(d.hash(name))
}

// purge is remove, and reports whether there was a record.
func (d *diskTier) purge(k Key, name []byte) bool {
	held := d.Holds(d.hash(name))
	d.remove(k, name)
	return held
}

// onDisk is content on the disk, for one or a few readers. Its place there stays reserved until close.
type onDisk struct {
	size int64
	mu   sync.Mutex // a Hit has one user at a time
	hit  disk.Hit
	open bool // until close
}

var _ File = (*onDisk)(nil)

// Size implements File.
func (f *onDisk) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. The bytes it returns were checked.
func (f *onDisk) ReadAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		return 0, os.ErrClosed
	}
	return f.hit.ReadAt(p, offset)
}

// part checks length bytes of the content from offset on. It returns the file they lie in, and their offset in it.
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

// lends reports whether part can return a file.
func (f *onDisk) lends() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open && f.hit.Lends()
}

func (f *onDisk) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open {
		f.hit.Free()
		f.open = false
		runtime.SetFinalizer(f, nil)
	}
}
