package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	tempSuffix = ".tmp"

	// tempTries is how often createTemp tries. Another process may remove the file as a
	// leftover, between its creation and its lock.
	tempTries = 8
)

// createTemp creates an empty, locked temporary file. removeLeftovers does not remove it
// while it is open.
func createTemp(dir, base string) (*os.File, error) {
	for range tempTries {
		f, err := os.CreateTemp(dir, base+".*"+tempSuffix) // mode 0600
		if err != nil {
			return nil, err
		}
		if lock(f) && hasItsName(f) {
			return f, nil
		}
		_ = f.Close() // another process has locked it, and removes it or has done so
	}
	return nil, fmt.Errorf("%w: %d temporary files removed by another process", fs.ErrExist, tempTries)
}

// hasItsName reports whether f is still in the directory under its name.
func hasItsName(f *os.File) bool {
	own, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(own, there)
}

// removeLeftovers removes the temporary files of killed Writes.
func removeLeftovers(dir, base string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !isTemp(f.Name(), base) || !f.Type().IsRegular() {
			continue
		}
		if err := removeLeftover(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeLeftover removes the file at path unless a Write has locked it. It holds the
// lock until the file is gone, so that no Write starts to use it.
func removeLeftover(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written to it
	if !lock(f) || !hasItsName(f) {
		return nil // in use, or renamed by now
	}
	return os.Remove(path)
}

// isTemp reports whether name is base, a dot, digits and the suffix.
func isTemp(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base+".")
	if !ok {
		return false
	}
	digits, ok := strings.CutSuffix(rest, tempSuffix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
