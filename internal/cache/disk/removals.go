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
	return nil
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
	old, _, err := v.readRemovals()
	if err != nil {
		return err
	}
	var b []byte
	for _, r := range old {
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

func (v *volume) replaceRemovals(b []byte) error {
	f, err := v.dir.Append(newRemovals)
	if err != nil {
		return noSpace(err)
	}
	err = f.Cut(0)
	if err == nil && len(b) > 0 {
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
	size := int64(len(b))
	v.log, v.unsynced = &removals{file: f, size: size, clean: size}, true
	v.mu.Lock()
	v.used += size
	v.mu.Unlock()
	return nil
}

// readRemovals returns the content of the log, the patches in order. It leaves out an incomplete last write, which a kill has left.
func (v *volume) readRemovals() ([]layout.Removed, []layout.Patched, error) {
	f, err := v.dir.Open(removalsName)
	if err != nil {
		return nil, nil, notThere(err)
	}
	defer func() { _ = f.Close() }() // only read
	size, err := f.Bytes()
	if err != nil {
		return nil, nil, err
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return nil, nil, err
	}
	removed, patched := make([]layout.Removed, 0, len(b)/layout.RemovedBytes), []layout.Patched(nil)
	for len(b) >= layout.RemovedBytes {
		if p, ok := v.head.ParsePatched(b); ok {
			patched = append(patched, p)
			b = b[layout.PatchedBytes:]
			continue
		}
		if r, ok := v.head.ParseRemoved(b); ok {
			removed = append(removed, r)
		}
		b = b[layout.RemovedBytes:]
	}
	return removed, patched, nil
}
