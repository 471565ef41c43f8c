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
	// settleTime is how long nothing may change before a change is reported.
	settleTime = 250 * time.Millisecond
	// maxPostponed is how many changes may postpone the report.
	maxPostponed = 40
	// pollEvery is how often changed is called without an event.
	pollEvery = 30 * time.Second
)

// File watches one file, until Close.
type File struct {
	path    string
	changed func()
	guard   func(step func())

	system  *fsnotify.Watcher
	points  []string
	folders []string // watched now

	quit    chan struct{}
	closing sync.Once
	running sync.WaitGroup
}

// New watches the file at path and calls changed when it may have changed, one call at a time.
// guard runs each step of the goroutine, and returns even if the step panics; nil runs steps
// unguarded. The error says that the system has no more watches.
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
	if err := f.watchFolders(); err != nil {
		_ = f.system.Close() // nothing is lost
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	f.running.Go(func() { f.loop(f.system.Events, f.system.Errors) })
	return f, nil
}

// Close ends the watch and waits for a call of changed that is under way.
func (f *File) Close() {
	f.closing.Do(func() {
		f.stop()
		_ = f.system.Close() // an error is of no use any more
	})
}

// stop ends the goroutine and waits for it.
func (f *File) stop() {
	close(f.quit)
	f.running.Wait()
}

// loop waits for events and reports them.
func (f *File) loop(events <-chan fsnotify.Event, failures <-chan error) {
	settled, poll := time.NewTimer(pollEvery), time.NewTicker(pollEvery)
	settled.Stop()
	defer settled.Stop()
	defer poll.Stop()
	for postponed := 0; ; {
		select {
		case <-f.quit:
			return
		case e, ok := <-events:
			if ok && slices.Contains(f.points, e.Name) && postponed < maxPostponed {
				settled.Reset(settleTime)
				postponed++
			}
		case err := <-failures:
			if err != nil { // events may have been lost
				settled.Reset(settleTime)
			}
		case <-settled.C:
			postponed = 0
			f.guard(f.notify)
		case <-poll.C:
			f.guard(f.notify)
		}
	}
}

// notify watches the folders as the links are now, and then calls changed. A change in between
// is reported later: the folders are watched before the file is read.
func (f *File) notify() {
	_ = f.watchFolders() // the next call tries again
	f.changed()
}

// watchFolders watches the folders on the path to the file, and no others.
func (f *File) watchFolders() error {
	f.points = linksAndFile(f.path)
	var folders []string
	for _, p := range f.points {
		if folder := filepath.Dir(p); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	var failed error
	for _, folder := range folders {
		if err := f.system.Add(folder); err != nil { // also one that is watched already: it may have been replaced
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
