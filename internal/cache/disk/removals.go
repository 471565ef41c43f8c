package disk

import (
	"errors"
	"fmt"
	"io"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// Names of the files that are no segments.
const (
	headerName    = "header"
	removalsName  = "removed.log"
	newRemovals   = "removed.new"
	lastRemovals  = "removed.last"
	lostFoundName = "lost+found"
)

// journal has the log of removals, and the note of how far it was synced (lastremovals.go). Only the writer uses it.
type journal struct {
	*shared
	log      *removals
	number   uint32         // counts how often the log was written anew
	notes    *device.File   // the file of notes; nil: not open yet
	noted    statefile.Last // the last note
	turn     uint64         // turn of the last note; 0: there is none
	unsynced bool           // the directory has changed since it was last synced
}

// removals is the log of records that were removed while their segment still has them, and of patches (patch.go). Only the writer uses it. A
// record that was evicted from a segment of small records is not in it: if it comes back after a restart, it is as good as before.
type removals struct {
	file    *device.File
	size    int64  // length of the file
	clean   int64  // its size when it was last rewritten
	pending []byte // bytes not written yet
	dirty   bool   // written and not synced
}

func (l *removals) add(h layout.Header, r layout.Removed) { l.pending = h.AppendRemoved(l.pending, r) }

// logRemovals writes the pending bytes to the log.
func (j *journal) logRemovals() error {
	l := j.log
	if len(l.pending) == 0 {
		return nil
	}
	err := j.call(func() error {
		_, err := l.file.WriteAt(l.pending, l.size)
		return noSpace(err)
	})
	if err != nil {
		return fmt.Errorf(removalsName+": %w", err)
	}
	n := int64(len(l.pending))
	l.size += n
	l.pending = l.pending[:0]
	l.dirty = true
	j.counts.wrote(n, 0)
	j.rate.spend(n)
	j.segments.use(n)
	return nil
}

// syncRemovals syncs the log.
func (w *reclaimer) syncRemovals() error {
	w.takeDead()
	if err := errors.Join(w.removeLeft(), w.logRemovals()); err != nil {
		return err
	}
	if w.log.dirty {
		if err := w.call(w.log.file.Sync); err != nil {
			return fmt.Errorf(removalsName+": %w", err)
		}
		w.log.dirty = false
	}
	if w.unsynced {
		if err := w.watched(w.dir.Sync); err != nil { // not every file system can; the directory still works
			return fmt.Errorf("sync the directory: %w", err)
		}
		w.unsynced = false
	}
	return w.noteRemovals()
}

// shortenAt is how much the log grows before it is rewritten without the segments that have left.
const shortenAt = 1 << 20

// shortenRemovals rewrites the log when it has grown.
func (j *journal) shortenRemovals() {
	if j.log.size < 2*j.log.clean+shortenAt {
		return
	}
	if err := j.writeRemovals(); err != nil {
		j.log.clean = j.log.size // try again when it has doubled
		j.o.Log.Warn("removed.log of the disk tier was not compacted; that is tried again when it has doubled in size", "path", j.o.Path, "error", err.Error())
	}
}

// writeRemovals rewrites the log with the entries of segments that are there.
func (j *journal) writeRemovals() error {
	old, err := j.readRemovals()
	if err != nil {
		return err
	}
	var b []byte
	for _, r := range old.removed {
		if s := j.segments.slot(r.Segment).Load(); s != nil && s.number == r.Segment {
			b = j.head.AppendRemoved(b, r)
		}
	}
	b = j.patches.appendAll(b, j.head)
	return j.call(func() error { return j.replaceRemovals(b) })
}

// enlistPatches adds the log's patches of records whose segments are there.
func (j *journal) enlistPatches(all []layout.Patched) {
	for _, p := range all {
		if s := j.segments.slot(p.Segment).Load(); s != nil && s.number == p.Segment {
			j.patches.put(place(p.Segment, p.Offset, 0), patchedOf(p))
		}
	}
}

func patchedOf(p layout.Patched) patched {
	return patched{number: p.Segment, serial: p.Serial, bytes: p.Bytes}
}

// replaceRemovals writes the log anew, with b.
func (j *journal) replaceRemovals(b []byte) error {
	if err := j.prepareNote(); err != nil {
		return noSpace(err)
	}
	start := layout.LogStart{Number: j.number + 1, Bytes: layout.LogStartBytes + int64(len(b))}
	b = append(j.head.AppendLogStart(nil, start), b...)
	f, err := j.dir.Append(newRemovals)
	if err != nil {
		return noSpace(err)
	}
	err = f.Cut(0)
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = j.dir.Rename(newRemovals, removalsName)
	}
	if err != nil {
		_ = f.Close()
		return noSpace(err)
	}
	if j.log != nil {
		_ = j.log.file.Close()
		j.segments.use(-j.log.size)
	}
	j.number++
	size := int64(len(b))
	j.log, j.unsynced = &removals{file: f, size: size, clean: size}, true
	j.segments.use(size)
	return nil
}

// logged is the content of a log of removals.
type logged struct {
	removed []layout.Removed
	patched []layout.Patched // in order
	start   layout.LogStart
	begins  bool  // it has a start
	sound   int64 // how far it is whole, in bytes
}

// readRemovals returns the content of the log. It leaves out an incomplete last write, which a kill has left.
func (j *journal) readRemovals() (g logged, err error) {
	f, err := j.dir.Open(removalsName)
	if err != nil {
		return g, notThere(err)
	}
	defer func() { _ = f.Close() }() // only read
	size, err := f.Bytes()
	if err != nil {
		return g, err
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return g, err
	}
	if g.start, g.begins = j.head.ParseLogStart(b); g.begins {
		b = b[layout.LogStartBytes:]
		g.sound = layout.LogStartBytes
	}
	whole := true
	for len(b) >= layout.RemovedBytes {
		n := layout.RemovedBytes
		if p, ok := j.head.ParsePatched(b); ok {
			g.patched = append(g.patched, p)
			n = layout.PatchedBytes
		} else if r, ok := j.head.ParseRemoved(b); ok {
			g.removed = append(g.removed, r)
		} else {
			whole = false
		}
		if b = b[n:]; whole {
			g.sound += int64(n)
		}
	}
	return g, nil
}
