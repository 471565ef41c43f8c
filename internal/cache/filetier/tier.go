package filetier

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"edgeproxy/internal/cache"
)

const (
	draftPrefix = "draft-"
	filePrefix  = "content-"
)

// Tier keeps content in a folder. It is safe for concurrent use.
type Tier struct {
	folder        string
	largest       int64
	outlives      bool // the process, with an entry beside each file
	drafts, files atomic.Int64
}

var (
	_ cache.Medium = (*Tier)(nil)
	_ cache.Draft  = (*draft)(nil)
	_ cache.File   = (*file)(nil)
)

// Open returns a Tier in folder, which is there and which no other Tier uses, for content of up to
// largest bytes. It removes drafts that were left there.
func Open(folder string, largest int64) (*Tier, error) {
	for _, prefix := range []string{draftPrefix, tempPrefix} {
		if err := remove(folder, prefix); err != nil {
			return nil, err
		}
	}
	return &Tier{folder: folder, largest: largest}, nil
}

// remove removes what is in folder under names that begin with prefix.
func remove(folder, prefix string) error {
	names, err := filepath.Glob(filepath.Join(folder, prefix+"*"))
	if err != nil {
		return fmt.Errorf("filetier: %w", err)
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("filetier: remove what was left: %w", err)
		}
	}
	return nil
}

// Drafts returns how many pieces of content are being written, Files how many are complete and
// not removed.
func (t *Tier) Drafts() int64 { return t.drafts.Load() }

// Files returns how many pieces of content are complete and not removed.
func (t *Tier) Files() int64 { return t.files.Load() }

// Largest implements cache.Medium.
func (t *Tier) Largest() int64 { return t.largest }

// Create implements cache.Medium.
func (t *Tier) Create(int64) (cache.Draft, error) {
	f, err := os.CreateTemp(t.folder, draftPrefix)
	if err != nil {
		return nil, fmt.Errorf("filetier: %w", err)
	}
	t.drafts.Add(1)
	return &draft{tier: t, file: f, sum: sha256.New()}, nil
}

// draft is content that is being written.
type draft struct {
	tier *Tier
	file *os.File
	size int64
	sum  hash.Hash
}

// Write appends p.
func (d *draft) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	d.size += int64(n)
	d.sum.Write(p[:n])
	return n, err
}

// Finish implements cache.Draft.
func (d *draft) Finish(e *cache.Entry) (cache.File, error) {
	old := d.file.Name()
	name := filepath.Join(d.tier.folder, filePrefix+strings.TrimPrefix(filepath.Base(old), draftPrefix))
	f := &file{tier: d.tier, name: name, file: d.file, size: d.size}
	d.sum.Sum(f.sum[:0])
	if e != nil {
		f.Update(e) // first: a head without content is nothing
	}
	if err := os.Rename(old, name); err != nil {
		_ = os.Remove(headName(name))
		d.Abort()
		return nil, fmt.Errorf("filetier: %w", err)
	}
	d.tier.drafts.Add(-1)
	d.tier.files.Add(1)
	return f, nil
}

// Abort implements cache.Draft.
func (d *draft) Abort() {
	_ = os.Remove(d.file.Name())
	_ = d.file.Close()
	d.tier.drafts.Add(-1)
}

// file is complete content.
type file struct {
	tier *Tier
	name string
	file *os.File // closed by the garbage collector
	size int64
	sum  [sha256.Size]byte

	mu      sync.Mutex // held while the entry beside it is written
	born    uint64     // of that
	removed bool
}

// Size implements cache.File.
func (f *file) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, offset int64) (int, error) { return f.file.ReadAt(p, offset) }

// Same implements cache.File.
func (f *file) Same(other cache.File) bool {
	o, ok := other.(*file)
	return ok && !f.tier.outlives && o.size == f.size && o.sum == f.sum
}

// Remove implements cache.File.
func (f *file) Remove() {
	f.mu.Lock()
	f.removed = true
	if f.tier.outlives {
		_ = os.Remove(headName(f.name))
	}
	f.mu.Unlock()
	_ = os.Remove(f.name)
	f.tier.files.Add(-1)
}
