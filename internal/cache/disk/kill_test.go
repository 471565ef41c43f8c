package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/test/testkit"
)

var errKilled = errors.New("killed")

// killer lets a number of calls that change the disk be made, cuts the next one short, and lets nothing more through: like a kill.
type killer struct {
	left atomic.Int64
	at   atomic.Pointer[device.Call]
}

func (k *killer) hook(c device.Call) error {
	if !c.Op.Writes() {
		return nil
	}
	left := k.left.Add(-1)
	switch {
	case left > 0:
		return nil
	case left == 0:
		k.at.Store(&c)
		if c.Op == device.Write {
			return &device.ShortError{Bytes: c.Bytes / 2, Err: errKilled}
		}
	}
	return errKilled
}

// script is what happens to a key before the kill, and what is known to be on the disk of it.
type script struct {
	version map[int]int // the version put last; 0: removed
	flushed map[int]int // the version that Flush or Keep has promised; 0: removed
	length  map[int]int
	patched *atomic.Int64 // records of which something was noted
}

// run puts, asks for and removes keys until all is done or the Store has died.
func (sc *script) run(s *Store) error {
	var h Hit
	defer h.Close()
	for step := range 260 {
		n := step * 7 % 90
		version, length := step+1, (step*37%29)*1000+100
		if step%4 == 0 {
			length = 33_000 + step*811%120_000
		}
		key := keyOf(n)
		if step%9 == 5 { // it is written while it comes, and is there when Commit returns
			length = 70_000 + step*331
			if err := sc.draft(s, n, version, length, step%2 == 0); err != nil {
				return err
			}
		} else if err := s.Put(hashOf(key), key, blockOf(n, version), bodyOf(n, version, length)); err != nil {
			return err
		}
		sc.version[n], sc.length[version] = version, length
		if step%5 == 0 && step/60%2 == 1 { // all is in demand, so that segments stay
			for k := range 90 {
				s.Touch(hashOf(keyOf(k)))
			}
		}
		if step%3 == 0 { // something is in demand
			hot := keyOf(step * 5 % 90)
			s.Find(hashOf(hot), hot, &h)
		}
		if step%7 == 3 { // something is noted of what is there
			patched := step * 5 % 90
			var version int
			if s.Find(hashOf(keyOf(patched)), keyOf(patched), &h) {
				_, _ = fmt.Sscanf(string(h.Block), "block %d of version %d", new(int), &version)
				_ = s.Patch(hashOf(keyOf(patched)), keyOf(patched), h.Serial, patchOf(patched, version)) // it may be gone
			}
		}
		if step%11 == 0 {
			gone := (n + 21) % 90
			s.Remove(hashOf(keyOf(gone)))
			sc.version[gone] = 0
		}
		if step%22 == 0 {
			if err := s.Keep(); err != nil {
				return err
			}
			for key, version := range sc.version {
				if version == 0 {
					sc.flushed[key] = 0
				}
			}
		}
		if step%13 == 0 {
			if err := s.Flush(); err != nil {
				return err
			}
			if st := s.Stats(); st.Dropped+st.Full > 0 {
				return errKilled
			}
			for key, version := range sc.version {
				if version != 0 {
					sc.flushed[key] = version
				}
			}
		}
	}
	return nil
}

// draft puts key n piece by piece, beside a draft of the same key that is given up.
func (sc *script) draft(s *Store, n, version, length int, known bool) error {
	sc.length[version] = length
	other, err := s.Create(hashOf(keyOf(n)), -1, 0)
	if err != nil {
		return err
	}
	defer other.Abort()
	if _, err := other.Write(bodyOf(n, 0, 150_000)); err != nil {
		return err
	}
	if err := stream(s, n, version, length, known); err != nil {
		return err
	}
	sc.flushed[n] = version
	return nil
}

// check looks at what a start finds after the kill.
func (sc *script) check(t *testing.T, s *Store, what string) (found int) {
	t.Helper()
	var h Hit
	defer h.Close()
	for n := range 90 {
		block, body, ok := get(t, s, n)
		if !ok {
			continue
		}
		found++
		var key, version int
		if _, err := fmt.Sscanf(block, "block %d of version %d", &key, &version); err != nil || key != n {
			t.Errorf("%s: key %d: got %q", what, n, block)
			continue
		}
		if !bytes.Equal(body, bodyOf(n, version, sc.length[version])) {
			t.Errorf("%s: key %d: wrong bytes", what, n)
		}
		if s.Find(hashOf(keyOf(n)), keyOf(n), &h) && h.Patched {
			sc.patched.Add(1)
			if h.Patch != patchOf(n, version) {
				t.Errorf("%s: key %d: %q is noted of version %d", what, n, h.Patch[:], version)
			}
		}
		if promised, ok := sc.flushed[n]; ok && (version < promised || promised == 0 && sc.version[n] == 0) {
			t.Errorf("%s: key %d: got version %d, though %d was there", what, n, version, promised)
		}
	}
	return found
}

// A kill between any two calls of the writer, and in the middle of each write, leaves nothing wrong behind.
//
// One of them brought back an old version: it was replaced while it waited or moved, written nevertheless, and noted as removed only
// afterwards.
func TestAKillAtEachCall(t *testing.T) {
	testkit.Slow(t, "a minute")
	testkit.Plain(t, "each of a thousand kills takes ten times as long under the race detector, which sees as much in TestAKillAtSomeCalls")
	killAtCalls(t, 1)
}

// TestAKillAtSomeCalls is for the quick run, and for the race detector.
func TestAKillAtSomeCalls(t *testing.T) { killAtCalls(t, 37) }

// killAtCalls kills at one in stride calls, and looks at what a start finds.
func killAtCalls(t *testing.T, stride int64) {
	t.Helper()
	var patched atomic.Int64
	calls, _ := killAt(t, 1<<40, &patched)
	var next, total atomic.Int64
	patched.Store(0)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for at := next.Add(stride); at <= calls && !t.Failed(); at = next.Add(stride) {
				_, found := killAt(t, at, &patched)
				total.Add(found)
			}
		})
	}
	workers.Wait()
	if calls < 200 || total.Load() < 20*calls/stride || patched.Load() < calls/stride {
		t.Errorf("%d calls, %d keys found, %d of them patched: want more", calls, total.Load(), patched.Load())
	}
}

// killAt runs the script up to call at, and looks at what a start finds then. It returns how many calls were made, and
// how many keys were there.
func killAt(t *testing.T, at int64, patched *atomic.Int64) (calls, found int64) {
	t.Helper()
	const bound = MinBytes
	path := quickDir(t)
	defer func() { _ = os.RemoveAll(path) }() // there are hundreds
	k := &killer{}
	k.left.Store(1 << 50)
	o := small(Options{Path: path, MaxBytes: bound, Hook: k.hook})
	s, err := Open(o)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	k.left.Store(at)
	sc := &script{version: map[int]int{}, flushed: map[int]int{}, length: map[int]int{}, patched: patched}
	runErr := sc.run(s)
	calls = at - k.left.Load()
	killed := k.at.Load()
	what := "clean"
	if killed != nil {
		what = fmt.Sprintf("killed at call %d, %s %s", at, killed.Op, killed.Name)
	} else if runErr != nil {
		t.Errorf("before any kill: %v", runErr)
	} else if s.Stats().Stays == 0 {
		t.Error("no segment has stayed: the script shows less than it should")
	}
	k.left.Store(0) // a clean end would be none of a kill
	s.Close()
	o.Hook = nil
	if s, err = Open(o); err != nil {
		t.Errorf("%s: %v", what, err)
		return calls, 0
	}
	defer s.Close()
	filled(t, s)
	found = int64(sc.check(t, s, what))
	if got := onDisk(t, path); got > bound {
		t.Errorf("%s: %d bytes on the disk", what, got)
	}
	if err := s.Put(hashOf(keyOf(500)), keyOf(500), blockOf(500, 1), bodyOf(500, 1, 50_000)); err != nil {
		t.Errorf("%s: it does not go on: %v", what, err)
	}
	if err := s.Flush(); err != nil {
		t.Errorf("%s: it does not go on: %v", what, err)
	}
	holds(t, s, 500, 1, 50_000)
	if st := s.Stats(); st.Damaged != 0 || st.Unreadable != 0 {
		t.Errorf("%s: got %+v", what, st)
	}
	return calls, found
}

// quickDir returns a new directory, in memory where there is such a place.
func quickDir(t *testing.T) string {
	t.Helper()
	for _, parent := range []string{"/dev/shm", t.TempDir()} {
		if dir, err := os.MkdirTemp(parent, "edgeproxy-disk-"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			return dir
		}
	}
	t.Fatal("no place for a directory")
	return ""
}
