package cache

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/conn/pinned"
)

// ErrSlow is a read error of content that Load has returned: the disk did not deliver in time. A later read may
// succeed.
var ErrSlow = disk.ErrSlow

// Load looks on the disk for the response stored under name, whose hash is k. It returns nothing if there is none. It
// waits for the device, but not long: what cannot be read in time is not found. Call Find before, and Keep after it.
//
// An earlier version may have stored by what the URL with this name varies there. Then Load returns that, as LoadVary
// does.
//
// Content that is not in memory is read from the disk, and keeps its place there until Release.
func (s *Store) Load(k Key, name []byte) (o *Object, vary Lists) {
	if s.disk == nil {
		return nil, vary
	}
	h := s.disk.hash(name)
	r, f, changes := s.loadRecord(k, h, name)
	switch {
	case r == nil:
		return nil, vary
	case r.marker != nil:
		return nil, s.mergeMarker(r, f, changes)
	}
	head := r.head
	if head.Varies() { // its marker stays as long as it does, or nobody would find it
		if s.removeUnlisted(head, h) {
			f.hit.Free()
			return nil, vary
		}
		s.disk.touchMarker(head.URLName())
	}
	if renewed := s.renewedOf(k, head.serial, name); renewed != nil {
		head = renewed
	}
	o = f.object(head)
	if s.disk.recentHits.secondHit(h) {
		o.form |= formSecondHit
	}
	o.marks.Store(changes)
	return o, vary
}

// LoadVary looks on the disk for the lists of names by which the responses of a URL vary, as Vary does in memory, and
// waits like Load. Ask Vary before: from then on memory has them.
func (s *Store) LoadVary(url Key, name []byte) (vary Lists) {
	if !s.VariesOnDisk(name) {
		return vary
	}
	if r, f, changes := s.loadRecord(url, s.disk.markerHash(name), markerName(name)); r != nil {
		return s.mergeMarker(r, f, changes)
	}
	return vary
}

// loadRecord finds the record under name, whose hash is k and for the disk h. It returns nil if there is none that can
// be used. Changes is the value of the change counter of k from before.
func (s *Store) loadRecord(k Key, h uint64, name []byte) (r *diskRecord, f *onDisk, changes uint32) {
	d := s.disk
	if !d.Holds(h) {
		return nil, nil, 0
	}
	changes, f = d.changesOf(k).Load(), new(onDisk)
	if !d.Find(h, name, &f.hit) {
		return nil, nil, 0
	}
	if r = d.recordOf(k, &f.hit); r == nil { // written by a process that knew other purges, or by another version
		f.hit.Free()
		d.Remove(h)
	}
	return r, f, changes
}

// mergeMarker merges the marker r, which f has found, into memory. It returns its lists.
func (s *Store) mergeMarker(r *diskRecord, f *onDisk, changes uint32) (vary Lists) {
	if r.marker == nil {
		f.hit.Free()
		return vary
	}
	list := listIn(&f.hit)
	f.hit.Free()
	s.mergeVariantList(r.marker, r.lists, list, changes)
	return Lists{held: r.lists}
}

// diskRecord is a decoded record of the disk, without its content. It does not change.
type diskRecord struct {
	marker  *Entry     // nil: the record is no marker
	lists   []varyList // lists of the marker
	head    *Object    // nil: the record is a marker
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
		r.marker, r.lists = e, listsIn(e)
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
// was read into, for the next hit on the disk. If o has no such memory it returns also itself. Close must be called by
// the last user of o. If a flight or anything else may share the content, do not call Lend: the collector frees it
// then.
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

// standsLocked reports whether a copy of o, which is from the disk, would replace nothing in memory, and would be
// found.
func (s *Store) standsLocked(o *Object) bool {
	if s.heldLocked(o.key) != nil || s.stage.items.peek(o.key) != nil {
		return false
	}
	if !o.Varies() {
		return true
	}
	slot := s.index.peek(o.URL())
	return slot != nil && slot.value.describes(o)
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

// purge removes the record under the name of a URL, whose hash is k, and the marker of the URL. It reports which of
// them were there.
func (d *diskTier) purge(k Key, name []byte) (plain, marker bool) {
	h := d.markerHash(name)
	plain, marker = d.Holds(d.hash(name)), d.Holds(h)
	d.remove(k, name)
	d.Remove(h)
	return plain, marker
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
