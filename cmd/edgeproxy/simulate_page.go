package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"edgeproxy/internal/ops/page"
)

// pageMode lets others read a page, unless the umask forbids it.
const pageMode = 0o644

// checkPage refuses a path where no page can be written, before any work is
// done; "" is no page. flag names the flag with the path.
func checkPage(flag, path string) error {
	wrong := func(why string) error { return fmt.Errorf("%s %q: %s", flag, path, why) }
	if path == "" {
		return nil
	}
	if path == "-" {
		return wrong("must be a file; standard output is for the report")
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return wrong("there is no such folder")
	}
	if file, err := os.Stat(path); err == nil && file.IsDir() {
		return wrong("must be a file, this is a folder")
	}
	return nil
}

// writePage writes p to the file at path atomically: an existing page stays
// until the new one is complete.
func writePage(path string, p *page.Page) error {
	var whole bytes.Buffer
	if err := p.Write(&whole); err != nil {
		return err
	}
	if err := replaceFile(path, whole.Bytes()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// replaceFile replaces the file at path atomically. It writes directly to
// anything that is not a regular file: a link, a pipe or a device.
func replaceFile(path string, content []byte) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, content, pageMode)
	}
	temporary := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, pageMode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil {
		return nil
	}
	if gone := os.Remove(temporary); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
