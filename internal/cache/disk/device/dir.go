package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Dir is an open directory.
type Dir struct {
	path string
	root *os.Root
	self *os.File // the directory, for what is asked of it as a file
	hook Hook

	blind atomic.Bool // the system does not tell what lies in its page cache (CanDetach)
	mu    sync.Mutex  // guards edge
	edge  []byte      // begins at a page of memory
}

// ErrLost says that the path of a Dir names another directory by now, or none.
var ErrLost = errors.New("the directory was removed or replaced")

// ErrUnsupported says that the file system or the system cannot do that.
var ErrUnsupported = errors.ErrUnsupported

// OpenDir opens the directory at path. The caller closes it.
func OpenDir(path string, hook Hook) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	d := &Dir{path: path, root: root, self: self, hook: hook, edge: make([]byte, edgeBytes)}
	d.blind.Store(true) // until CanDetach knows better
	return d, nil
}

// Close releases the directory. Files that are open stay open.
func (d *Dir) Close() error { return errors.Join(d.self.Close(), d.root.Close()) }

// Lost returns ErrLost if the path names another directory by now, or none.
func (d *Dir) Lost() error {
	if err := d.hook.ask(Lost, "", 0, 0); err != nil {
		return err
	}
	now, err := os.Stat(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	was, statErr := d.self.Stat()
	if statErr != nil {
		return statErr
	}
	if err != nil || !os.SameFile(now, was) {
		return fmt.Errorf("%s: %w", d.path, ErrLost)
	}
	return nil
}

// Info is a file of a directory.
type Info struct {
	Name    string
	Bytes   int64 // its length
	OnDisk  int64 // what it takes there: less, where it has holes
	Regular bool
	Changed time.Time // its content
}

// List returns what is in the directory, by name.
func (d *Dir) List() ([]Info, error) {
	if err := d.hook.ask(List, "", 0, 0); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Info{Name: e.Name(), Bytes: info.Size(), OnDisk: onDisk(info), Regular: info.Mode().IsRegular(), Changed: info.ModTime()})
	}
	return all, nil
}

// Remove removes a file. Those that have it open can still use it.
func (d *Dir) Remove(name string) error {
	if err := d.hook.ask(Remove, name, 0, 0); err != nil {
		return err
	}
	return d.root.Remove(name)
}

// Rename gives a file another name, and replaces what has that.
func (d *Dir) Rename(from, to string) error {
	if err := d.hook.ask(Rename, to, 0, 0); err != nil {
		return err
	}
	return d.root.Rename(from, to)
}

// Touch sets the time at which a file was changed. Its content stays.
func (d *Dir) Touch(name string, at time.Time) error {
	if err := d.hook.ask(Touch, name, 0, 0); err != nil {
		return err
	}
	return d.root.Chtimes(name, at, at)
}

// Sync has the names of all files on the disk.
func (d *Dir) Sync() error {
	if err := d.hook.ask(SyncDir, "", 0, 0); err != nil {
		return err
	}
	return d.self.Sync()
}

// Room is the size of a file system in bytes, and what of it is free for this process.
type Room struct{ Free, Total int64 }

// Room returns that of the file system. The error is ErrUnsupported where the system does not say.
func (d *Dir) Room() (Room, error) {
	if err := d.hook.ask(FreeRoom, "", 0, 0); err != nil {
		return Room{}, err
	}
	return room(d.self)
}
