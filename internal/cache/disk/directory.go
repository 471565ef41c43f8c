package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// Directory is a directory that no Store has open, for an operator to inspect. One goroutine at a time uses it. If a loss of power has left
// a record there twice, it shows both.
type Directory struct {
	journal  journal // nothing is written to it but in Commit
	release  func()  // ends the claim on the directory
	segments []*segment
	stats    DirectoryStats
	dropped  []layout.Removed
}

// DirectoryStats is what a Directory holds, judged by its files alone.
type DirectoryStats struct {
	// Bytes is the size of all files on the disk. Segments is how many of them have records, SegmentBytes how long a full one is.
	Bytes, Segments, SegmentBytes int64
}

// OpenDirectory opens the directory at path, which has to be a cache's, and claims it until Close. It changes nothing. Errors:
// statefile.ErrInUse while a Store has it open, ErrForeign, ErrEmpty, a *layout.VersionError, or one of the file system.
func OpenDirectory(path string) (*Directory, error) {
	release, err := statefile.ClaimDir(path)
	if err != nil {
		return nil, fmt.Errorf("disk tier: %w", err)
	}
	dir, err := device.OpenDir(path, nil)
	if err != nil {
		release()
		return nil, fmt.Errorf("disk tier: %w", err)
	}
	d := &Directory{release: release, journal: journal{shared: &shared{
		o: Options{Path: path, Now: clock}, counts: &counts{}, files: files{dir: dir}, health: health{now: clock},
		abilities: abilities{readOnly: true}, patches: newPatches(1 << 30),
	}}}
	if err := d.list(); err != nil {
		d.Close()
		return nil, fmt.Errorf("disk tier %s: %w", path, err)
	}
	return d, nil
}

// Usable returns the error that Open would return, as far as it can tell while a Store has the directory open and without changing
// anything. It returns nil if there is no directory yet.
func Usable(o Options) error {
	o, err := o.filled()
	if err != nil {
		return err
	}
	dir, err := device.OpenDir(o.Path, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	files, err := dir.List()
	if err != nil {
		return err
	}
	h, err := readHeader(filepath.Join(o.Path, headerName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty(files)
	case err != nil:
		return err
	}
	return o.suits(h)
}

// Close releases the directory.
func (d *Directory) Close() {
	if d.journal.notes != nil {
		_ = d.journal.notes.Close()
	}
	_ = d.journal.dir.Close()
	d.release()
}

// Path returns the path of the directory.
func (d *Directory) Path() string { return d.journal.o.Path }

// Stats returns the numbers at the time the directory was opened.
func (d *Directory) Stats() DirectoryStats { return d.stats }

// list finds the segments, and which of their records were removed.
func (d *Directory) list() (err error) {
	files, err := d.journal.dir.List()
	if err != nil {
		return err
	}
	d.journal.head, err = readHeader(filepath.Join(d.journal.o.Path, headerName))
	if errors.Is(err, fs.ErrNotExist) {
		if err := empty(files); err != nil {
			return err
		}
		return ErrEmpty
	}
	if err != nil {
		return err
	}
	d.stats.SegmentBytes = d.journal.head.SegmentBytes
	byNumber := map[uint64]*segment{}
	for _, f := range files {
		if !f.Regular {
			continue
		}
		d.stats.Bytes += f.OnDisk
		if number, ok := segmentNumber(f.Name); ok {
			s := &segment{number: number, length: f.Bytes}
			byNumber[number] = s
			d.segments = append(d.segments, s)
		}
	}
	slices.SortFunc(d.segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	d.stats.Segments = int64(len(d.segments))
	return d.listRemovals(byNumber)
}

// listRemovals applies the log of removals to the segments.
func (d *Directory) listRemovals(byNumber map[uint64]*segment) error {
	g, err := d.journal.readRemovals()
	if err == nil {
		err = d.journal.readNote(&g)
	}
	for _, p := range g.patched {
		d.journal.patches.put(place(p.Segment, p.Offset, 0), patchedOf(p))
	}
	for _, r := range g.removed {
		if s := byNumber[r.Segment]; s != nil {
			s.removed = append(s.removed, r.Offset)
		}
	}
	if err == nil && g.lost(d.journal.noted, d.journal.turn) {
		return errRemovalsLost
	}
	return err
}

// Drop marks the record to be removed by Commit.
func (d *Directory) Drop(r *Record) {
	d.dropped = append(d.dropped, layout.Removed{Segment: r.seg.number, Offset: r.Offset})
}

// Commit removes the dropped records, on the disk: no later Open brings them back. Their bytes are freed once a Store's hand reaches them.
func (d *Directory) Commit() error {
	if len(d.dropped) == 0 {
		return nil
	}
	old, err := d.journal.readRemovals()
	if err != nil {
		return err
	}
	var b []byte
	for _, r := range slices.Concat(old.removed, d.dropped) {
		b = d.journal.head.AppendRemoved(b, r)
	}
	b = d.journal.patches.appendAll(b, d.journal.head)
	if err := d.journal.replaceRemovals(b); err != nil {
		return fmt.Errorf(removalsName+": %w", err)
	}
	_ = d.journal.log.file.Close() // it is synced
	d.journal.log, d.dropped = nil, nil
	return d.journal.dir.Sync()
}

// Clear removes all records, and their files.
func (d *Directory) Clear() error {
	for _, s := range d.segments {
		if err := d.journal.dir.Remove(segmentName(s.number)); notThere(err) != nil {
			return err
		}
	}
	for _, name := range [...]string{lastRemovals, removalsName} {
		if err := d.journal.dir.Remove(name); notThere(err) != nil {
			return err
		}
	}
	d.segments = nil
	return d.journal.dir.Sync()
}
