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
	// maxFollowed is how often in a row changed is called because what is watched has changed by it.
	maxFollowed = 3
	// pollEvery is how often changed is called without an event.
	pollEvery = 30 * time.Second
)

// Files watches files, and folders with all that is in them, until Close.
type Files struct {
	paths   func() (files, folders []string)
	changed func()
	guard   func(step func())

	system  *fsnotify.Watcher
	points  []string
	whole   []string // folders in which every name counts
	folders []string // watched now

	quit    chan struct{}
	closing sync.Once
	running sync.WaitGroup
}

// New watches what paths returns and calls changed when some of it may have changed, one call at a time. paths is called again
// whenever changed has returned, and never at the same time as changed. guard runs each step of the goroutine, and
// returns even if the step panics; nil runs steps unguarded. The error says that the system has no more watches.
func New(paths func() (files, folders []string), changed func(), guard func(step func())) (*Files, error) {
	if guard == nil {
		guard = func(step func()) { step() }
	}
	f := &Files{paths: paths, changed: changed, guard: guard, quit: make(chan struct{})}
	var err error
	if f.system, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	if err := f.watchFolders(); err != nil {
		_ = f.system.Close() // nothing is lost
		return nil, fmt.Errorf("watch: %w", err)
	}
	f.running.Go(func() { f.run(f.system.Events, f.system.Errors) })
	return f, nil
}

// Close ends the watch and waits for a call of changed that is under way.
func (f *Files) Close() {
	f.closing.Do(func() {
		f.stop()
		_ = f.system.Close() // an error is of no use any more
	})
}

// stop ends the goroutine and waits for it.
func (f *Files) stop() {
	close(f.quit)
	f.running.Wait()
}

// run waits for events and reports them.
func (f *Files) run(events <-chan fsnotify.Event, failures <-chan error) {
	settled, poll := time.NewTimer(pollEvery), time.NewTicker(pollEvery)
	settled.Stop()
	defer settled.Stop()
	defer poll.Stop()
	for postponed := 0; ; {
		select {
		case <-f.quit:
			return
		case e, ok := <-events:
			if ok && f.counts(e.Name) && postponed < maxPostponed {
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

// notify watches the folders as the links are now, and then calls changed. A change in between is reported later: the folders are
// watched before the files are read. If there are other files then, changed is called again, with these watched.
func (f *Files) notify() {
	_ = f.watchFolders() // the next call tries again
	for range maxFollowed {
		points, whole := f.points, f.whole
		f.changed()
		_ = f.watchFolders()
		if slices.Equal(points, f.points) && slices.Equal(whole, f.whole) {
			return
		}
	}
}

// counts reports whether an event of this name is of interest.
func (f *Files) counts(name string) bool {
	return slices.Contains(f.points, name) || slices.Contains(f.whole, filepath.Dir(name))
}

// watchFolders watches the folders on the paths to what paths returns, and no others.
func (f *Files) watchFolders() error {
	f.points, f.whole = nil, nil
	files, wholes := f.paths()
	for _, path := range files {
		f.points = append(f.points, pointsOf(path)...)
	}
	for _, path := range wholes {
		points := pointsOf(path)
		f.points = append(f.points, points...)
		f.whole = append(f.whole, append([]string{string(filepath.Separator)}, points...)[len(points)])
	}
	folders := slices.Clone(f.whole)
	for _, p := range f.points {
		folders = append(folders, filepath.Dir(p))
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
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
