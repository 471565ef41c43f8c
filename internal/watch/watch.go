package watch

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing may have changed before it is told.
	quiet = 250 * time.Millisecond
	// patience is how many changes put that off.
	patience = 40
	// every is how often it is told without a change.
	every = 30 * time.Second
)

// File watches one file until Close.
type File struct {
	path    string
	changed func()
	guard   func(step func())

	system  *fsnotify.Watcher
	points  []string
	folders []string // watched now

	quit    chan struct{}
	closing sync.Once
	looking sync.WaitGroup
}

// New watches the file at path and calls changed when it may have changed, never twice at a
// time. Guard runs each step of the goroutine for it and returns also where that panics; nil
// runs it unguarded. The error says that the system has no more watches to give.
func New(path string, changed func(), guard func(step func())) (*File, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	if guard == nil {
		guard = func(step func()) { step() }
	}
	f := &File{path: absolute, changed: changed, guard: guard, quit: make(chan struct{})}
	if f.system, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	if err := f.follow(); err != nil {
		_ = f.system.Close() // nothing is lost with it
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	f.looking.Go(func() { f.look(f.system.Events, f.system.Errors) })
	return f, nil
}

// Close ends the watch and waits for a call of changed that is under way.
func (f *File) Close() {
	f.closing.Do(func() {
		f.end()
		_ = f.system.Close() // what it had to tell is of no use any more
	})
}

// end ends the goroutine.
func (f *File) end() {
	close(f.quit)
	f.looking.Wait()
}

// look waits for events and tells of them.
func (f *File) look(events <-chan fsnotify.Event, failures <-chan error) {
	calm, poll := time.NewTimer(every), time.NewTicker(every)
	calm.Stop()
	defer calm.Stop()
	defer poll.Stop()
	for put := 0; ; {
		select {
		case <-f.quit:
			return
		case e, ok := <-events:
			if ok && slices.Contains(f.points, e.Name) && put < patience {
				calm.Reset(quiet)
				put++
			}
		case err := <-failures:
			if err != nil { // events may have been lost
				calm.Reset(quiet)
			}
		case <-calm.C:
			put = 0
			f.guard(f.tell)
		case <-poll.C:
			f.guard(f.tell)
		}
	}
}

// tell follows the links as they are now, and calls changed. A change in between is told
// of later, for the folders are watched before the file is read.
func (f *File) tell() {
	_ = f.follow() // it is tried again each time
	f.changed()
}

// follow watches the folders on the way to the file, and no other.
func (f *File) follow() error {
	f.points = points(f.path)
	var folders []string
	for _, p := range f.points {
		if folder := filepath.Dir(p); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	var failed error
	for _, folder := range folders {
		if err := f.system.Add(folder); err != nil { // one that is watched already may be another by now
			failed = err
		}
	}
	for _, folder := range f.folders {
		if !slices.Contains(folders, folder) {
			_ = f.system.Remove(folder) // it may be gone
		}
	}
	f.folders = folders
	return failed
}
