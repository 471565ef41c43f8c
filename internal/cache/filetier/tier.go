package filetier

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
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
	drafts, err := filepath.Glob(filepath.Join(folder, draftPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("filetier: %w", err)
	}
	for _, name := range drafts {
		if err := os.Remove(name); err != nil {
			return nil, fmt.Errorf("filetier: remove a draft: %w", err)
		}
	}
	return &Tier{folder: folder, largest: largest}, nil
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
func (d *draft) Finish() (cache.File, error) {
	old := d.file.Name()
	name := filepath.Join(d.tier.folder, filePrefix+strings.TrimPrefix(filepath.Base(old), draftPrefix))
	if err := os.Rename(old, name); err != nil {
		d.Abort()
		return nil, fmt.Errorf("filetier: %w", err)
	}
	d.tier.drafts.Add(-1)
	d.tier.files.Add(1)
	f := &file{tier: d.tier, name: name, file: d.file, size: d.size}
	d.sum.Sum(f.sum[:0])
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
}

// Size implements cache.File.
func (f *file) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, offset int64) (int, error) { return f.file.ReadAt(p, offset) }

// Same implements cache.File.
func (f *file) Same(other cache.File) bool {
	o, ok := other.(*file)
	return ok && o.size == f.size && o.sum == f.sum
}

// Remove implements cache.File.
func (f *file) Remove() {
	_ = os.Remove(f.name)
	f.tier.files.Add(-1)
}
