package filetier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/purge"
)

const (
	headPrefix   = "entry-"
	tempPrefix   = "new-"
	identityName = "identity"
)

// Reopen returns a Tier in folder that outlives the process, as Open does one that does not. What an
// earlier Tier has left there stays for Restore, if id knows of all purges since; else it is
// removed.
func Reopen(folder string, largest int64, id purge.Identity) (*Tier, error) {
	t, err := Open(folder, largest)
	if err != nil {
		return nil, err
	}
	t.outlives = true
	path := filepath.Join(folder, identityName)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("filetier: %w", err)
	}
	old, known := parseIdentity(b)
	if !known || !id.Knows(old) {
		if err := remove(folder, headPrefix); err != nil {
			return nil, err
		}
	}
	return t, t.write(path, appendIdentity(nil, id))
}

func appendIdentity(b []byte, id purge.Identity) []byte {
	for _, n := range [...]uint64{id.History, id.Run, id.KeySeed} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func parseIdentity(b []byte) (id purge.Identity, ok bool) {
	if len(b) != 3*8 {
		return id, false
	}
	for i, n := range [...]*uint64{&id.History, &id.Run, &id.KeySeed} {
		*n = binary.LittleEndian.Uint64(b[8*i:])
	}
	return id, true
}

// Restore puts all that t has into s, the oldest first, and returns how many entries that were. What
// is not whole is removed. Call it once, before anything else is stored.
func (t *Tier) Restore(s *cache.Store) (entries int, err error) {
	names, err := filepath.Glob(filepath.Join(t.folder, filePrefix+"*"))
	if err != nil {
		return 0, fmt.Errorf("filetier: %w", err)
	}
	type one struct {
		*cache.Entry
		*file
	}
	var all []one
	for _, name := range names {
		f, e := t.reopen(name)
		if e == nil {
			_ = os.Remove(name)
			_ = os.Remove(headName(name))
			continue
		}
		all = append(all, one{e, f})
	}
	slices.SortFunc(all, func(a, b one) int {
		if a.Serial < b.Serial {
			return -1
		}
		return 1
	})
	for _, o := range all {
		t.files.Add(1)
		if s.Restore(o.Entry, o.file) == cache.Stored {
			entries++
		}
	}
	heads, err := filepath.Glob(filepath.Join(t.folder, headPrefix+"*"))
	for _, name := range heads { // of content that a kill has kept from its place
		if _, err := os.Stat(filepath.Join(t.folder, filePrefix+strings.TrimPrefix(filepath.Base(name), headPrefix))); err != nil {
			_ = os.Remove(name)
		}
	}
	return entries, err
}

// reopen returns the content at name and its entry; nil where one of them is missing or damaged.
func (t *Tier) reopen(name string) (*file, *cache.Entry) {
	head, err := os.ReadFile(headName(name))
	if err != nil || len(head) < 8 {
		return nil, nil
	}
	e, err := cache.ParseEntry(head[8:])
	if err != nil {
		return nil, nil
	}
	content, err := os.Open(name)
	if err != nil {
		return nil, nil
	}
	info, err := content.Stat()
	if err != nil || info.Size() != int64(binary.LittleEndian.Uint64(head)) { //nolint:gosec // of a file
		_ = content.Close()
		return nil, nil
	}
	return &file{tier: t, name: name, file: content, size: info.Size(), born: e.Born}, e
}

// Beside reports whether name is that of a file which is beside the content.
func Beside(name string) bool { return name == identityName || strings.HasPrefix(name, headPrefix) }

// headName returns the name of what is beside the content at name.
func headName(name string) string {
	return filepath.Join(filepath.Dir(name), headPrefix+strings.TrimPrefix(filepath.Base(name), filePrefix))
}

// writeHead has e beside the content of f.
func (f *file) writeHead(e *cache.Entry) error {
	head, err := cache.AppendEntry(binary.LittleEndian.AppendUint64(nil, uint64(f.size)), e) //nolint:gosec // of a file
	if err != nil {
		return err
	}
	return f.tier.write(headName(f.name), head)
}

// write puts b at path, whole.
func (t *Tier) write(path string, b []byte) error {
	temp := filepath.Join(t.folder, tempPrefix+filepath.Base(path))
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return fmt.Errorf("filetier: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("filetier: %w", err)
	}
	return nil
}

// Update implements cache.File. Where the entry cannot be written, none comes back.
func (f *file) Update(e *cache.Entry) {
	if !f.tier.outlives {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.removed || e.Born < f.born {
		return
	}
	if f.born = e.Born; f.writeHead(e) != nil {
		_ = os.Remove(headName(f.name))
	}
}
