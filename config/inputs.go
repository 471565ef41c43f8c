package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxTotalBytes bounds the file and all that it includes. No real configuration comes near it.
const maxTotalBytes = 16 << 20

// extension is what the names of the files end in that an included folder gives.
const extension = ".yaml"

// Inputs are the files and folders that a configuration was read from, with what they held. Load notes them. The zero Inputs has
// read nothing. It is not safe for concurrent use, but a copy of it is its own.
type Inputs struct {
	all   []input
	bytes int // how many all files have together
}

// input is one file or folder as it was read.
type input struct {
	path   string
	folder bool
	digest [sha256.Size]byte // the hash of the content, of the names in the folder, or of the error
}

// Load is LoadWith, and notes what it reads, also if it fails. What was noted before is forgotten.
func (in *Inputs) Load(path string, flags Flags) (*Config, error) {
	*in = Inputs{}
	data, err := in.main(path)
	if err != nil {
		return nil, err
	}
	return parseWith(path, data, flags, os.LookupEnv, in)
}

// Changed reports whether the files and folders now hold something else than what was read, or nothing was read. The
// file itself has not changed while it cannot be read or is no regular file: it may be about to be replaced.
func (in *Inputs) Changed() bool {
	for i, was := range in.all {
		if i == 0 && !isRegular(was.path) {
			return false
		}
		var now Inputs
		if was.folder {
			_, _, _ = now.folder(was.path) // an error is noted as content
		} else {
			_, _ = now.file(was.path)
		}
		if now.all[0].digest != was.digest {
			return true
		}
	}
	return len(in.all) == 0
}

// Files returns the files that were read, the first is the file itself.
func (in *Inputs) Files() []string { return in.paths(false) }

// Folders returns the folders that were read.
func (in *Inputs) Folders() []string { return in.paths(true) }

func (in *Inputs) paths(folders bool) (out []string) {
	for _, i := range in.all {
		if i.folder == folders {
			out = append(out, i.path)
		}
	}
	return out
}

// main reads the file itself, of any kind.
func (in *Inputs) main(path string) ([]byte, error) {
	data, err := readFile(path)
	in.note(path, false, data, err)
	if isFolder(path) {
		return nil, fmt.Errorf("read configuration: %s is a folder: must be a file, which may include a folder", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return data, nil
}

// file reads a regular file: a named pipe would block, and a device has no end.
func (in *Inputs) file(path string) (data []byte, err error) {
	if info, failed := os.Stat(path); failed == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	} else {
		data, err = readFile(path)
	}
	in.note(path, false, data, err)
	if in.bytes > maxTotalBytes {
		return nil, errors.New("must be at most " + Size(maxTotalBytes).String() + " in all files")
	}
	return data, err
}

var errNotRegular = errors.New("must be a regular file, or a folder")

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// folder returns the names of the files in a folder that are included, sorted, and those that look as if they were meant to be.
func (in *Inputs) folder(path string) (names, skipped []string, err error) {
	entries, err := os.ReadDir(path) // sorted
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."):
		case strings.HasSuffix(name, extension):
			names = append(names, name)
		case strings.EqualFold(filepath.Ext(name), extension), strings.EqualFold(filepath.Ext(name), ".yml"):
			skipped = append(skipped, name)
		}
	}
	in.note(path, true, []byte(strings.Join(names, "\x00")), err)
	return names, skipped, err
}

// note notes the content of a file or folder.
func (in *Inputs) note(path string, folder bool, content []byte, err error) {
	i := input{path: path, folder: folder, digest: sha256.Sum256(content)}
	if err != nil {
		i.digest = sha256.Sum256([]byte("error: " + err.Error()))
	}
	in.all = append(in.all, i)
	in.bytes += len(content)
}

// readFile reads at most one byte more than a file may have: the wrong file, or a device, may be of any size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // it names the path
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}
