package disk

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// Reasons to refuse a directory. See also statefile.ErrInUse, statefile.ErrTorn and layout.VersionError.
var (
	// ErrForeign: the directory has files, but no header of a cache.
	ErrForeign = errors.New("not a cache directory, and not empty")
	// ErrEmpty: the directory is empty, without a header of a cache.
	ErrEmpty = errors.New("the directory is empty: no cache was stored in it")
	// ErrOther: after a failure, another cache directory is at the path.
	ErrOther = errors.New("the directory was replaced by another one")
	// ErrSeed: the directory has another seed than its group.
	ErrSeed = errors.New("the directory belongs to another cache")
	// ErrTooSmall: MaxBytes is too small for the segment size of the directory.
	ErrTooSmall = errors.New("max_bytes is too small for this directory")
)

// anySecret stands for the secret of any directory that exists already.
const anySecret = 1 << 63

// openVolume opens the directory of o, which has its defaults. Secret is the one the directory must have; 0: any directory, or a new one.
func openVolume(o Options, c *counts, secret uint64) (v *volume, err error) {
	if secret == 0 {
		if err := os.MkdirAll(o.Path, 0o700); err != nil {
			return nil, fmt.Errorf("disk tier: %w", err)
		}
	}
	release, err := statefile.ClaimDir(o.Path)
	if err != nil {
		return nil, fmt.Errorf("disk tier: %w", err)
	}
	dir, err := device.OpenDir(o.Path, o.Hook)
	if err != nil {
		release()
		return nil, fmt.Errorf("disk tier: %w", err)
	}
	defer func() {
		if err != nil {
			_ = dir.Close()
			release()
			err = fmt.Errorf("disk tier %s: %w", o.Path, err)
		}
	}()
	listed, err := dir.List()
	if err != nil {
		return nil, err
	}
	if o.drop {
		if listed, err = clearDirectory(o, dir, listed); err != nil {
			return nil, err
		}
	}
	head, err := header(o, listed, secret)
	if err != nil {
		return nil, err
	}
	v = newVolume(o, c, files{dir, head})
	v.release = release
	if err := v.probe(); err != nil {
		return nil, err
	}
	if err := v.enlist(listed); err != nil {
		return nil, err
	}
	return v, nil
}

// header returns the head of the directory. It writes one if the directory is empty.
func header(o Options, files []device.Info, secret uint64) (layout.Header, error) {
	path := filepath.Join(o.Path, headerName)
	h, err := readHeader(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && secret == 0:
		return newHeader(path, o, files)
	case errors.Is(err, fs.ErrNotExist):
		return h, ErrOther
	case err != nil:
		return h, err
	case secret != 0 && secret != anySecret && h.Secret != secret:
		return h, ErrOther
	case o.seed != 0 && h.Seed != o.seed:
		return h, ErrSeed
	}
	return h, o.suits(h)
}

func readHeader(path string) (layout.Header, error) {
	f, err := statefile.Open(path)
	if err != nil {
		return layout.Header{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(f)
	if err != nil {
		return layout.Header{}, err
	}
	return layout.ParseHeader(b)
}

// suits returns ErrTooSmall if MaxBytes has no room for the segments of a directory with this head.
func (o Options) suits(h layout.Header) error {
	if least := segmentsToWork * h.SegmentBytes; o.MaxBytes < least {
		return fmt.Errorf("%w: %d: must be at least %d", ErrTooSmall, o.MaxBytes, least)
	}
	return nil
}

// empty returns ErrForeign if a directory without a header has files.
func empty(files []device.Info) error {
	for _, f := range files {
		if f.Name != lostFoundName {
			return fmt.Errorf("%w: it contains %s", ErrForeign, f.Name)
		}
	}
	return nil
}

func newHeader(path string, o Options, files []device.Info) (layout.Header, error) {
	if err := empty(files); err != nil {
		return layout.Header{}, err
	}
	return writeHeader(path, o)
}

// writeHeader writes a new head to the directory. It replaces the old one.
func writeHeader(path string, o Options) (layout.Header, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	le := binary.LittleEndian
	h := layout.Header{SegmentBytes: o.segmentBytes(), Seed: or(o.seed, le.Uint64(random[:])|1), Secret: le.Uint64(random[8:]) | 1}
	return h, statefile.Write(path, func(w io.Writer) error {
		_, err := w.Write(h.Append(nil))
		return err
	})
}

const probeName = "probe"

// probe tests whether the directory can be written to, and whether its files can have holes and can be lent.
func (sh *shared) probe() error {
	f, err := sh.dir.Append(probeName)
	if err != nil {
		if !errors.Is(err, fs.ErrPermission) && !readOnlyFS(err) {
			if err = noSpace(err); !errors.Is(err, errNoSpace) {
				return err
			}
		}
		sh.readOnly = !errors.Is(err, errNoSpace)
		sh.punches.Store(true) // until one fails
		sh.lends.Store(sh.readOnly)
		return nil
	}
	defer func() {
		_ = f.Close()
		_ = sh.dir.Remove(probeName)
	}()
	if _, err := f.WriteAt(make([]byte, 2*layout.Page), 0); err == nil {
		sh.lends.Store(f.CanDetach())
		err = f.Punch(layout.Page, layout.Page)
		sh.punches.Store(err == nil)
	} else {
		sh.punches.Store(true)
	}
	switch {
	case !sh.punches.Load():
		sh.lends.Store(true)
		sh.o.Log.Warn(noHoles, "path", sh.o.Path)
	case !sh.lends.Load():
		sh.o.Log.Info("the disk tier sends large bodies without sendfile: on this file system a punched hole could change bytes that are being sent", "path", sh.o.Path)
	}
	return nil
}

// enlist lists the segments in the directory, and applies the log to them.
func (v *volume) enlist(files []device.Info) error {
	files, err := v.writer.withoutLost(files)
	if err != nil {
		return err
	}
	if v.writer.numbers, err = v.segments.enlist(files); err != nil {
		return err
	}
	v.writer.serial = v.writer.numbers << 32
	return v.writer.enlistRemovals()
}

// enlist lists the segments among the files of a directory, as small ones until their heads say otherwise, so that they can be evicted. It returns
// the number of the next segment.
func (g *segments) enlist(files []device.Info) (next uint64, err error) {
	g.limit = g.maxBytes
	g.used = 4 * layout.Page // the header, the file "members", and the two pages of notes
	for _, f := range files {
		number, ok := segmentNumber(f.Name)
		if !ok || !f.Regular {
			continue
		}
		s := &segment{number: number, length: f.Bytes, freed: max(f.Bytes-f.OnDisk, 0), listed: true, seen: f.Changed}
		s.refs.Store(1)
		if !g.slot(number).CompareAndSwap(nil, s) {
			return 0, fmt.Errorf("segment %s has the slot of another segment: %w", f.Name, layout.ErrDamaged)
		}
		g.used += s.length - s.freed
		next = max(next, number+1)
		g.small = append(g.small, s)
	}
	// The mtime of a file is about when the hand was there: it was sealed, punched, or stayed for a lap then.
	slices.SortFunc(g.small, func(a, b *segment) int { return cmp.Or(a.seen.Compare(b.seen), cmp.Compare(a.number, b.number)) })
	for i, s := range g.small {
		s.visited = uint64(i)
	}
	g.files, g.unfilled, g.written = len(g.small), len(g.small), uint64(len(g.small))
	return next, nil
}

// enlistRemovals applies the log's removals to the segments, and rewrites the log.
func (j *journal) enlistRemovals() error {
	g, err := j.readRemovals()
	if err != nil {
		return err
	}
	for _, r := range g.removed {
		if s := j.segments.slot(r.Segment).Load(); s != nil && s.number == r.Segment {
			s.removed = append(s.removed, r.Offset)
		}
	}
	j.enlistPatches(g.patched)
	if j.readOnly {
		return nil
	}
	err = j.writeRemovals()
	if errors.Is(err, errNoSpace) {
		j.readOnly = true // the file system is full even for the log
		return nil
	}
	return err
}

// start starts the writer and the goroutines that fill the index.
func (v *volume) start() {
	all := v.segments.newestFirst()
	v.writer.measureRoom()
	v.writer.checkedAt = v.o.Now()
	v.writer.settled, v.owed = v.writer.checkedAt, true
	v.wg.Add(1)
	go v.writer.run()
	v.wg.Go(v.scrub)
	v.loader.fillAll(all)
}

// notThere returns nil if err says that a file is missing, else err.
func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
