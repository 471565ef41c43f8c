package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
	"edgeproxy/internal/test/testkit"
)

// open opens a Store in path that is closed with the test.
func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(small(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.volume.Load() != nil || s.Err() != nil && !errors.Is(s.Err(), errClosed) {
			s.Close()
		}
	})
	return s
}

// small returns o with the sizes of tests.
func small(o Options) Options {
	o.MaxBytes = or(o.MaxBytes, 32<<20)
	o.MaxObjectBytes = or(o.MaxObjectBytes, o.MaxBytes)
	o.QueueBytes = or(o.QueueBytes, 1<<30)
	o.ReadDeadline = or(o.ReadDeadline, 30*time.Second) // a machine that does much else is no slow device
	o.ReadWait = or(o.ReadWait, 30*time.Second)
	if o.Now != nil { // the test moves the clock, also in the middle of a call
		o.Deadline = or(o.Deadline, 100*time.Hour)
	}
	o.Deadline = or(o.Deadline, 30*time.Second)
	return o
}

func keyOf(n int) []byte { return fmt.Appendf(nil, "GET http://example.com/%d", n) }

// hashOf stands for the seeded hash of a key.
func hashOf(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	return h ^ h>>31
}

func blockOf(n, version int) []byte { return fmt.Appendf(nil, "block %d of version %d", n, version) }

// bodyOf returns bytes that tell key, version and place.
func bodyOf(n, version, length int) []byte {
	b := make([]byte, length)
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(version), byte(version >> 8), byte(length), byte(length >> 8), byte(length >> 16)})
	_, _ = r.Read(b)
	return b
}

func store(t *testing.T, s *Store, n, version, length int) {
	t.Helper()
	if err := s.Put(hashOf(keyOf(n)), keyOf(n), blockOf(n, version), bodyOf(n, version, length)); err != nil {
		t.Fatalf("put %d: %v", n, err)
	}
}

// get returns what is found of key n: its block and its body.
func get(t *testing.T, s *Store, n int) (block string, body []byte, ok bool) {
	t.Helper()
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
		return "", nil, false
	}
	body = make([]byte, h.Size())
	if got, err := h.ReadAt(body, 0); err != nil || got != len(body) {
		return "", nil, false
	}
	if h.Body != nil && !bytes.Equal(h.Body, body) {
		t.Fatalf("key %d: Body and ReadAt differ", n)
	}
	return string(h.Block), body, true
}

// holds fails the test if key n is not there as written, or is there where it should not.
func holds(t *testing.T, s *Store, n, version, length int) {
	t.Helper()
	block, body, ok := get(t, s, n)
	if !ok {
		t.Errorf("key %d: not found", n)
		return
	}
	if block != string(blockOf(n, version)) || !bytes.Equal(body, bodyOf(n, version, length)) {
		t.Errorf("key %d: got %q and %d bytes, want version %d of %d bytes", n, block, len(body), version, length)
	}
}

func lacks(t *testing.T, s *Store, n int) {
	t.Helper()
	if block, _, ok := get(t, s, n); ok {
		t.Errorf("key %d: got %q, want nothing", n, block)
	}
}

// settle waits until everything that was put is on the disk and in the index.
func settle(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
}

// filled waits until the index has all segments.
func filled(t *testing.T, s *Store) {
	t.Helper()
	v := s.volume.Load()
	for i := range v.segments.slots {
		if seg := v.segments.slots[i].Load(); seg != nil {
			v.loader.fillIn(seg)
		}
	}
}

// onDisk returns what the files of a directory take.
func onDisk(t *testing.T, path string) (bytes int64) {
	t.Helper()
	files, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		bytes += taken(info)
	}
	return bytes
}

// lengths are bodies on both sides of each bound.
var lengths = []int{0, 1, 100, 4000, 5000, 32<<10 - 1, 32 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 80 << 10, 200_000, 1<<20 + 5}

func TestWhatIsPutIsFound(t *testing.T) {
	s := open(t, Options{Path: quickDir(t)})
	for n, length := range lengths {
		store(t, s, n, 1, length)
		holds(t, s, n, 1, length) // from memory
	}
	settle(t, s)
	for n, length := range lengths {
		holds(t, s, n, 1, length)
	}
	lacks(t, s, 99)
	st := s.Stats()
	if st.Hits+st.MemoryHits != 2*int64(len(lengths)) || st.Hits < int64(len(lengths)) || st.MemoryHits < 1 || st.Objects != int64(len(lengths)) || st.Waiting != 0 || st.WaitingBytes != 0 {
		t.Errorf("got %+v", st)
	}
}

// Holds says where a look-up is worth it, without one.
func TestHoldsKnowsWhatWaitsAndWhatIsWritten(t *testing.T) {
	s := open(t, Options{Path: quickDir(t)})
	for n, length := range lengths {
		store(t, s, n, 1, length)
		if !s.Holds(hashOf(keyOf(n))) {
			t.Errorf("key %d waits: not held", n)
		}
	}
	settle(t, s)
	for n := range lengths {
		if h := hashOf(keyOf(n)); !s.Holds(h) {
			t.Errorf("key %d is written: not held", n)
		} else if s.Remove(h); s.Holds(h) {
			t.Errorf("key %d was removed: held", n)
		}
	}
	if st := s.Stats(); st.Hits+st.MemoryHits+st.Misses+st.Reads != 0 {
		t.Errorf("got %+v, want no look-up", st)
	}
	s.Close()
	if s.Holds(hashOf(keyOf(0))) {
		t.Error("held by a store that is closed")
	}
}

// What is asked for in memory stays on the disk, as if it had been found there.
func TestTouchKeepsARecordFromEviction(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes})
	store(t, s, 1, 1, 100)
	store(t, s, 2, 1, 50_000)
	settle(t, s)
	for n := 10; n < 400; n++ {
		store(t, s, n, 1, n%2*40_000+500)
		if n%10 == 0 {
			settle(t, s)
			s.Touch(hashOf(keyOf(1)))
			s.Touch(hashOf(keyOf(2)))
		}
	}
	settle(t, s)
	if s.Stats().EvictedLarge == 0 {
		t.Fatal("nothing was evicted")
	}
	holds(t, s, 1, 1, 100)
	holds(t, s, 2, 1, 50_000)
	lacks(t, s, 11)
}

func TestHoldsAndTouchAllocateNothing(t *testing.T) {
	s := open(t, Options{Path: quickDir(t)})
	store(t, s, 1, 1, 100)
	settle(t, s)
	held, other := hashOf(keyOf(1)), hashOf(keyOf(2))
	if n := testing.AllocsPerRun(100, func() {
		if !s.Holds(held) || s.Holds(other) {
			t.Error("it holds another than was put")
		}
		s.Touch(held)
		s.Touch(other)
	}); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func TestWhatIsPutIsThereAfterAStop(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	seed := s.Seed()
	for n, length := range lengths {
		store(t, s, n, 1, length)
	}
	s.Close()
	s = open(t, Options{Path: path})
	if s.Seed() != seed {
		t.Error("another seed")
	}
	filled(t, s)
	for n, length := range lengths {
		holds(t, s, n, 1, length)
	}
	if st := s.Stats(); st.Recovered != 0 || st.Unreadable != 0 || st.Filled != int64(len(lengths)) {
		t.Errorf("got %+v", st)
	}
}

func TestTheNewerRecordCounts(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for version, length := range []int{100, 100_000, 200, 300, 90_000} { // also into the other segment
		store(t, s, 1, version, length)
		holds(t, s, 1, version, length)
		settle(t, s)
		holds(t, s, 1, version, length)
	}
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	holds(t, s, 1, 4, 90_000)
	if st := s.Stats(); st.Objects != 1 {
		t.Errorf("objects: got %d, want 1", st.Objects)
	}
}

func TestWhatIsRemovedIsGone(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for n, length := range lengths {
		store(t, s, n, 1, length)
		if n%3 == 0 {
			s.Remove(hashOf(keyOf(n))) // while it waits
			lacks(t, s, n)
		}
	}
	settle(t, s)
	for n := range lengths {
		if n%3 == 1 {
			s.Remove(hashOf(keyOf(n)))
			lacks(t, s, n)
		}
	}
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		for n, length := range lengths {
			if n%3 == 2 {
				holds(t, s, n, 1, length)
			} else {
				lacks(t, s, n)
			}
		}
	}
	check()
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	check()
}

// What was removed before the index had come to it was back when it came to it.
func TestWhatIsRemovedWhileTheIndexFillsIsGone(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	store(t, s, 1, 1, 100)
	store(t, s, 2, 1, 100)
	store(t, s, 3, 1, 100_000)
	s.Close()

	o, err := small(Options{Path: path}).filled()
	if err != nil {
		t.Fatal(err)
	}
	v, err := openVolume(o, &counts{}, 0) // nothing fills it by itself
	if err != nil {
		t.Fatal(err)
	}
	v.remove(hashOf(keyOf(1)))
	if err := v.put(&put{Record: layout.Record{Hash: hashOf(keyOf(3)), Key: keyOf(3), Block: blockOf(3, 2), Body: bodyOf(3, 2, 50)}}); err != nil {
		t.Fatal(err)
	}
	v.start()
	s = newStore(o)
	s.volume.Store(v)
	s.wg.Go(func() { s.watch(v) })
	filled(t, s)
	lacks(t, s, 1)
	holds(t, s, 2, 1, 100)
	holds(t, s, 3, 2, 50)
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	lacks(t, s, 1)
	holds(t, s, 2, 1, 100)
	holds(t, s, 3, 2, 50)
}

func TestTheBoundIsNeverExceeded(t *testing.T) {
	f := func(name string, length func(n int) int, puts int) {
		t.Run(name, func(t *testing.T) {
			path := quickDir(t)
			const bound = 20 << 20
			s := open(t, Options{Path: path, MaxBytes: bound, MaxObjectBytes: bound})
			for n := range puts {
				if err := s.Put(hashOf(keyOf(n)), keyOf(n), blockOf(n, 1), bodyOf(n, 1, length(n))); err != nil {
					t.Fatal(err)
				}
				if n%3 == 0 && n > 10 {
					get(t, s, n-10) // some are in demand
				}
				if n%20 == 0 {
					settle(t, s)
					if got := onDisk(t, path); got > bound {
						t.Fatalf("after %d: %d bytes on the disk, want at most %d", n, got, bound)
					}
				}
			}
			settle(t, s)
			st := s.Stats()
			got := onDisk(t, path)
			if got > bound || st.Bytes > bound || got > st.Bytes+64<<10 {
				t.Errorf("%d bytes on the disk, %d counted, want at most %d", got, st.Bytes, bound)
			}
			if st.Bytes < bound*8/10 {
				t.Errorf("%d bytes of %d in use: want nearly all", st.Bytes, bound)
			}
			holds(t, s, puts-1, 1, length(puts-1))
			if st.Full != 0 || st.Dropped != 0 || st.Damaged != 0 {
				t.Errorf("got %+v", st)
			}
			s.Close()
			s = open(t, Options{Path: path, MaxBytes: bound, MaxObjectBytes: bound})
			filled(t, s)
			if again := s.Stats(); again.Bytes > bound || again.Bytes < st.Bytes-4<<20 {
				t.Errorf("after a restart: %d bytes counted, %d before", again.Bytes, st.Bytes)
			}
		})
	}
	f("small", func(n int) int { return 500 + n%3000 }, testkit.Times(30_000, 15_000))
	f("large", func(n int) int { return 33_000 + n*7919%300_000 }, testkit.Times(600, 200))
	f("mixed", func(n int) int {
		if n%20 == 0 {
			return 40_000 + n*7919%400_000
		}
		return n * 31 % 20_000
	}, testkit.Times(8000, 3000))
	f("longer than a segment", func(n int) int { return 1_500_000 + n*7919 }, 60)
}

func TestADirectoryOfSomebodyElseIsRefused(t *testing.T) {
	path := quickDir(t)
	theirs := filepath.Join(path, "thesis.txt")
	if err := os.WriteFile(theirs, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(small(Options{Path: path})); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
	}
	if files, _ := os.ReadDir(path); len(files) != 1 {
		t.Errorf("got %d files, want theirs alone", len(files))
	}
}

func TestADirectoryOfANewerLayoutIsRefused(t *testing.T) {
	path := quickDir(t)
	open(t, Options{Path: path}).Close()
	header := filepath.Join(path, headerName)
	b, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) - 28
	content := bytes.Clone(b[at:])
	binary.LittleEndian.PutUint32(content, layout.Version+1)
	writeState(t, header, content)
	var version *layout.VersionError
	if _, err := Open(small(Options{Path: path})); !errors.As(err, &version) || version.Got != layout.Version+1 {
		t.Errorf("got %v, want a VersionError", err)
	}
	writeState(t, header, b[at:])
	if got := open(t, Options{Path: path}); got == nil {
		t.Error("the old header is not taken any more")
	}
}

func TestADirectoryHasOneUser(t *testing.T) {
	path := quickDir(t)
	open(t, Options{Path: path})
	if _, err := Open(small(Options{Path: path})); !errors.Is(err, statefile.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
}

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	for _, o := range []Options{{MaxBytes: MinBytes - 1}, {MaxBytes: MinBytes, MinFree: -1}, {MaxBytes: MinBytes, WriteRate: -1}} {
		o.Path = t.TempDir()
		if _, err := Open(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: got %v, want ErrOptions", o, err)
		}
	}
	path := quickDir(t)
	open(t, Options{Path: path, MaxBytes: 1 << 30}).Close()
	if _, err := Open(Options{Path: path, MaxBytes: MinBytes}); !errors.Is(err, ErrTooSmall) {
		t.Errorf("less than the segments need: got %v, want ErrTooSmall", err)
	}
}
