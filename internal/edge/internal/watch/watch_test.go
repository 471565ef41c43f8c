package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"edgeproxy/internal/test/testkit"
)

// TestChangesThatComeCloseTogetherAreToldOnce, when they are over: a file is written in pieces.
func TestChangesThatComeCloseTogetherAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		f, events := fake(&told)
		for range 5 {
			time.Sleep(100 * time.Millisecond)
			events <- fsnotify.Event{Name: "/etc/edge.yaml", Op: fsnotify.Write}
			events <- fsnotify.Event{Name: "/etc/access.log", Op: fsnotify.Write} // an event of no interest
		}
		time.Sleep(time.Second)
		f.stop()
		if want := []time.Duration{500*time.Millisecond + settleTime}; !slices.Equal(told, want) {
			t.Errorf("told at %v, want %v", told, want)
		}
	})
}

// TestChangesWithoutAnEndAreToldOfAllTheSame: every so often.
func TestChangesWithoutAnEndAreToldOfAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		f, events := fake(&told)
		for range 20 * maxPostponed {
			time.Sleep(settleTime / 2)
			events <- fsnotify.Event{Name: "/etc/edge.yaml", Op: fsnotify.Write}
		}
		f.stop()
		if len(told) < 10 {
			t.Errorf("told %d times, want every %d changes or so", len(told), maxPostponed)
		}
	})
}

// TestWhereTheSystemIsSilentItIsToldEveryNowAndThen.
func TestWhereTheSystemIsSilentItIsToldEveryNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		f, _ := fake(&told)
		time.Sleep(2*pollEvery + time.Second)
		f.stop()
		if want := []time.Duration{pollEvery, 2 * pollEvery}; !slices.Equal(told, want) {
			t.Errorf("told at %v, want %v", told, want)
		}
	})
}

// fake is a Files that hears of events from a channel. It notes when it tells.
func fake(told *[]time.Duration) (*Files, chan<- fsnotify.Event) {
	begun := time.Now()
	f := &Files{points: []string{"/etc/edge.yaml"}, quit: make(chan struct{})}
	f.guard = func(func()) { *told = append(*told, time.Since(begun)) }
	events := make(chan fsnotify.Event)
	f.running.Go(func() { f.run(events, nil) })
	return f, events
}

// watched watches path and counts what it is told. what is the file's content then.
func watched(t *testing.T, path string) (what func() string) {
	t.Helper()
	var last atomic.Value
	last.Store("")
	f, err := New(func() ([]string, []string) { return []string{path}, nil }, func() {
		data, _ := os.ReadFile(path)
		last.Store(string(data))
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return func() string { return last.Load().(string) }
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWaysToChangeAFile: each is told of, on real files, and the next one as well.
func TestWaysToChangeAFile(t *testing.T) {
	f := func(name string, lay, change func(folder, text string)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			lay(folder, "first")
			what := watched(t, filepath.Join(folder, "edge.yaml"))
			for _, text := range []string{"second", "third"} {
				change(folder, text)
				testkit.Eventually(t, text+" is told of", func() bool { return what() == text })
			}
		})
	}
	plain := func(folder, text string) { write(t, filepath.Join(folder, "edge.yaml"), text) }
	f("written in place", plain, plain)
	f("a new file is renamed over it, as editors do", plain, func(folder, text string) {
		write(t, filepath.Join(folder, ".edge.yaml.swp"), text)
		must(t, os.Rename(filepath.Join(folder, ".edge.yaml.swp"), filepath.Join(folder, "edge.yaml")))
	})
	f("removed and written again", plain, func(folder, text string) {
		must(t, os.Remove(filepath.Join(folder, "edge.yaml")))
		plain(folder, text)
	})
	swap := func(folder, text string) { // the kubelet does so
		version := filepath.Join(folder, "..of_"+text)
		must(t, os.Mkdir(version, 0o700))
		write(t, filepath.Join(version, "edge.yaml"), text)
		must(t, os.Symlink("..of_"+text, filepath.Join(folder, "..data_tmp")))
		must(t, os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")))
	}
	f("a link is swapped on the way, as in a ConfigMap", func(folder, text string) {
		swap(folder, text)
		must(t, os.Symlink("..data/edge.yaml", filepath.Join(folder, "edge.yaml")))
	}, swap)
	f("the file behind a link is written", func(folder, text string) {
		must(t, os.Mkdir(filepath.Join(folder, "real"), 0o700))
		write(t, filepath.Join(folder, "real", "of.yaml"), text)
		must(t, os.Symlink(filepath.Join(folder, "real", "of.yaml"), filepath.Join(folder, "edge.yaml")))
	}, func(folder, text string) { write(t, filepath.Join(folder, "real", "of.yaml"), text) })
}

// TestFilesInAFolderThatAreNewOrGone: both are told of, and the folder may be made anew.
func TestFilesInAFolderThatAreNewOrGone(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := filepath.Join(parent, "sites")
	must(t, os.Mkdir(folder, 0o700))
	var last atomic.Value
	last.Store("")
	f, err := New(func() ([]string, []string) { return nil, []string{folder} }, func() {
		names, _ := filepath.Glob(filepath.Join(folder, "*"))
		for i := range names {
			names[i] = filepath.Base(names[i])
		}
		last.Store(strings.Join(names, " "))
	}, nil)
	must(t, err)
	t.Cleanup(f.Close)
	told := func(want string) {
		t.Helper()
		testkit.Eventually(t, want+" is told of", func() bool { return last.Load() == want })
	}
	write(t, filepath.Join(folder, "a.yaml"), "")
	told("a.yaml")
	write(t, filepath.Join(folder, "b.yaml"), "")
	told("a.yaml b.yaml")
	must(t, os.Remove(filepath.Join(folder, "a.yaml")))
	told("b.yaml")
	must(t, os.RemoveAll(folder))
	told("")
	must(t, os.Mkdir(folder, 0o700))
	write(t, filepath.Join(folder, "c.yaml"), "")
	told("c.yaml")
	write(t, filepath.Join(folder, "d.yaml"), "")
	told("c.yaml d.yaml")
}

// TestWhatIsWatchedMayChangeWithTheFile: the file names another one, which is watched from then on.
func TestWhatIsWatchedMayChangeWithTheFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "edge.yaml")
	write(t, file, filepath.Join(folder, "a", "x"))
	must(t, os.Mkdir(filepath.Join(folder, "a"), 0o700))
	must(t, os.Mkdir(filepath.Join(folder, "b"), 0o700))
	var told atomic.Value
	told.Store("")
	named := func() string {
		name, _ := os.ReadFile(file)
		return string(name)
	}
	f, err := New(func() ([]string, []string) { return []string{file, named()}, nil }, func() {
		text, _ := os.ReadFile(named())
		told.Store(string(text))
	}, nil)
	must(t, err)
	t.Cleanup(f.Close)
	write(t, filepath.Join(folder, "b", "x"), "first")
	write(t, file, filepath.Join(folder, "b", "x"))
	testkit.Eventually(t, "the other file is told of", func() bool { return told.Load() == "first" })
	write(t, filepath.Join(folder, "b", "x"), "second")
	testkit.Eventually(t, "its change is told of", func() bool { return told.Load() == "second" })
}

func TestPointsOnTheWay(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	at := func(parts ...string) string { return filepath.Join(append([]string{folder}, parts...)...) }
	must(t, os.MkdirAll(at("a", "b"), 0o700))
	must(t, os.Symlink("../c", at("a", "up")))
	must(t, os.Mkdir(at("c"), 0o700))
	must(t, os.Symlink("loop", at("loop")))
	for path, want := range map[string][]string{
		at("a", "b", "f"):  {at("a", "b", "f")},
		at("a", "up", "f"): {at("a", "up"), at("c", "f")},
		at("none", "f"):    {at("none", "f")},
	} {
		if got := linksAndFile(path); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if got := linksAndFile(at("loop")); len(got) != maxLinks+1 {
		t.Errorf("a link to itself: got %d points, want an end", len(got))
	}
}
