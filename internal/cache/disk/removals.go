package disk

import (
	"errors"
	"fmt"
	"io"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// Names of the files that are no segments.
const (
	headerName    = "header"
	removalsName  = "removed.log"
	newRemovals   = "removed.new"
	lastRemovals  = "removed.last"
	lostFoundName = "lost+found"
)

// removals is the log of records that were removed while their segment still has them, and of patches (patch.go). Only the writer uses it. A
// record that was evicted from a segment of small records is not in it: if it comes back after a restart, it is as good as before.
type removals struct {
	file    *device.File
	size    int64  // of the file
	clean   int64  // its size when it was last rewritten
	pending []byte // bytes not written yet
	dirty   bool   // written and not synced
}

func (l *removals) add(h layout.Header, r layout.Removed) { l.pending = h.AppendRemoved(l.pending, r) }

// logRemovals writes the pending bytes to the log.
func (v *volume) logRemovals() error {
	l := v.log
	if len(l.pending) == 0 {
		return nil
	}
	err := v.call(func() error {
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
	v.counts.wrote(n, 0)
	v.rate.spend(n)
	v.mu.Lock()
	v.used += n
	v.mu.Unlock()
	return nil
}

// syncRemovals syncs the log.
func (v *volume) syncRemovals() error {
	v.takeDead()
	if err := errors.Join(v.removeLeft(), v.logRemovals()); err != nil {
		return err
	}
	if v.log.dirty {
		if err := v.call(v.log.file.Sync); err != nil {
			return fmt.Errorf(removalsName+": %w", err)
		}
		v.log.dirty = false
	}
	if v.unsynced {
		if err := v.watched(v.dir.Sync); err != nil { // not every file system can; the directory still works
			return fmt.Errorf("sync the directory: %w", err)
		}
		v.unsynced = false
	}
	return v.noteRemovals()
}

// shortenAt is how much the log grows before it is rewritten without the segments that have left.
const shortenAt = 1 << 20

// shortenRemovals rewrites the log when it has grown.
func (v *volume) shortenRemovals() {
	if v.log.size < 2*v.log.clean+shortenAt {
		return
	}
	if err := v.writeRemovals(); err != nil {
		v.log.clean = v.log.size // try again when it has doubled
		v.o.Log.Warn("removed.log of the disk tier was not compacted; that is tried again when it has doubled in size", "path", v.o.Path, "error", err.Error())
	}
}

// writeRemovals rewrites the log with the entries of segments that are there.
func (v *volume) writeRemovals() error {
	old, err := v.readRemovals()
	if err != nil {
		return err
	}
	var b []byte
	for _, r := range old.removed {
		if s := v.slot(r.Segment).Load(); s != nil && s.number == r.Segment {
			b = v.head.AppendRemoved(b, r)
		}
	}
	b = v.patches.appendAll(b, v.head)
	return v.call(func() error { return v.replaceRemovals(b) })
}

// enlistPatches adds the log's patches of records whose segments are there.
func (v *volume) enlistPatches(all []layout.Patched) {
	for _, p := range all {
		if s := v.slot(p.Segment).Load(); s != nil && s.number == p.Segment {
			v.patches.put(place(p.Segment, p.Offset, 0), patchedOf(p))
		}
	}
}

func patchedOf(p layout.Patched) patched {
	return patched{number: p.Segment, serial: p.Serial, bytes: p.Bytes}
}

// replaceRemovals writes the log anew, with b.
func (v *volume) replaceRemovals(b []byte) error {
	if err := v.prepareNote(); err != nil {
		return noSpace(err)
	}
	start := layout.LogStart{Number: v.logNumber + 1, Bytes: layout.LogStartBytes + int64(len(b))}
	b = append(v.head.AppendLogStart(nil, start), b...)
	f, err := v.dir.Append(newRemovals)
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
		err = v.dir.Rename(newRemovals, removalsName)
	}
	if err != nil {
		_ = f.Close()
		return noSpace(err)
	}
	if v.log != nil {
		_ = v.log.file.Close()
		v.mu.Lock()
		v.used -= v.log.size
		v.mu.Unlock()
	}
	v.logNumber++
	size := int64(len(b))
	v.log, v.unsynced = &removals{file: f, size: size, clean: size}, true
	v.mu.Lock()
	v.used += size
	v.mu.Unlock()
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
func (v *volume) readRemovals() (g logged, err error) {
	f, err := v.dir.Open(removalsName)
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
	if g.start, g.begins = v.head.ParseLogStart(b); g.begins {
		b = b[layout.LogStartBytes:]
		g.sound = layout.LogStartBytes
	}
	whole := true
	for len(b) >= layout.RemovedBytes {
		n := layout.RemovedBytes
		if p, ok := v.head.ParsePatched(b); ok {
			g.patched = append(g.patched, p)
			n = layout.PatchedBytes
		} else if r, ok := v.head.ParseRemoved(b); ok {
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
