package disk

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// anHourOn is a clock by which no file has changed lately.
func anHourOn() time.Time { return time.Now().Add(time.Hour) }

// heat finds key 1 as often as it takes to have its head kept.
func heat(t *testing.T, s *Store) {
	t.Helper()
	for range 3 {
		if _, _, ok := get(t, s, 1); !ok {
			t.Fatal("key 1 is not found")
		}
	}
}

// knownHead returns what is kept of the head of key n; nil if it is not.
func knownHead(t *testing.T, s *Store, n int) *known {
	t.Helper()
	var h Hit
	defer h.Free()
	if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
		t.Fatalf("key %d is not found", n)
	}
	return h.known
}

func TestTheHeadOfWhatIsAskedForOftenIsKept(t *testing.T) {
	s := open(t, Options{Path: t.TempDir()})
	lengths := []int{0, 1, 700, 20_000, 50_000, 70_000, 300_000}
	for n, length := range lengths {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	for n, length := range lengths {
		holds(t, s, n, 1, length)
		if knownHead(t, s, n) == nil { // its second hit
			t.Errorf("%d bytes: the head is not kept", length)
		}
		holds(t, s, n, 1, length)
		var h Hit
		if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) || (h.Body != nil) != (length <= 70_000) || h.Size() != int64(length) {
			t.Errorf("%d bytes: got a body of %d in memory, size %d", length, len(h.Body), h.Size())
		}
		h.Free()
	}
	if got := s.volume.Load().reader.hot.bytes.Load(); got <= 0 || got > hotBytes {
		t.Errorf("got %d bytes of heads", got)
	}
}

func TestAHeadThatIsKeptIsNoOldOne(t *testing.T) {
	s := open(t, Options{Path: t.TempDir()})
	for _, length := range []int{5000, 100_000} {
		store(t, s, 1, 1, length)
		settle(t, s)
		heat(t, s)
		store(t, s, 1, 2, length+1)
		holds(t, s, 1, 2, length+1) // it still waits
		settle(t, s)
		holds(t, s, 1, 2, length+1)
		heat(t, s)
		s.Remove(hashOf(keyOf(1)))
		lacks(t, s, 1)
		store(t, s, 1, 3, length)
		settle(t, s)
		holds(t, s, 1, 3, length)
	}
}

func TestWhatIsNotedOfARecordIsSeenBesideItsHead(t *testing.T) {
	s := open(t, Options{Path: t.TempDir()})
	store(t, s, 1, 1, 90_000)
	settle(t, s)
	heat(t, s)
	var h Hit
	defer h.Free()
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) || h.Patched {
		t.Fatalf("got patched %v before a Patch", h.Patched)
	}
	want := Patch{1, 2, 3}
	if err := s.Patch(hashOf(keyOf(1)), keyOf(1), h.Serial, want); err != nil {
		t.Fatal(err)
	}
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) || !h.Patched || h.Patch != want || h.known == nil {
		t.Errorf("got %v, patched %v, head kept %v", h.Patch, h.Patched, h.known != nil)
	}
}

func TestHeadsThatAreKeptAreBounded(t *testing.T) {
	var all hot
	kept := 0
	for n := range 4 * hotRecords {
		k := &known{number: 1}
		k.at.Offset = uint32(n)
		k.head.Shape = layout.Shape{BlockBytes: hotHeadBytes - 64}
		if all.keep(k) {
			kept++
		}
		if got := all.bytes.Load(); got > hotBytes {
			t.Fatalf("%d bytes of heads, want at most %d", got, int64(hotBytes))
		}
	}
	if kept < hotBytes/(3*hotHeadBytes) {
		t.Errorf("%d heads were kept", kept)
	}
	long := &known{}
	long.head.Shape = layout.Shape{BlockBytes: hotHeadBytes}
	if all.keep(long) {
		t.Error("a head that is too long was kept")
	}
}

func TestAHeadThatIsAskedForKeepsItsSlot(t *testing.T) {
	var all hot
	first := &known{number: 1}
	other := &known{number: 2} // a head of the same place, and so of the same slot
	if !all.keep(first) || all.find(first.at, 1) != first {
		t.Fatal("the first is not kept")
	}
	if all.keep(other) {
		t.Error("another took the slot of one that was asked for")
	}
	if !all.keep(other) || all.find(first.at, 1) != nil || all.find(first.at, 2) != other {
		t.Error("one that was asked for once keeps its slot for ever")
	}
}

// checked has all of the body of key 1 checked, and returns the error.
func checked(t *testing.T, s *Store) error {
	t.Helper()
	var h Hit
	defer h.Free()
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) {
		t.Fatal("key 1 is not found")
	}
	return h.Check(0, h.Size())
}

func TestABodyThatWasCheckedIsNotCheckedAgain(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), Now: anHourOn})
	store(t, s, 1, 1, 300_000)
	settle(t, s)
	heat(t, s)
	k := knownHead(t, s, 1)
	if err := checked(t, s); err != nil {
		t.Fatal(err)
	}
	p := k.proof.Load()
	if p == nil || !p.has(0, 4) {
		t.Fatalf("got %+v, want all five chunks", p)
	}
	var h Hit
	defer h.Free()
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) {
		t.Fatal("not found")
	}
	f, at, _ := h.file()
	resident := f.Resident(at, h.Size()) // an older Linux does not tell
	h.chunkAt = -2
	if err := h.Check(0, h.Size()); err != nil {
		t.Fatal(err)
	}
	if read := h.chunkAt != -2; read == resident {
		t.Errorf("in memory, as far as the system tells: %v; read again: %v", resident, read)
	}
}

// A file that somebody else has written to while the store runs gives no wrong byte, also where what it had was checked.
func TestABodyIsCheckedAgainWhenItsFileHasChanged(t *testing.T) {
	path := t.TempDir()
	s := open(t, Options{Path: path, Now: anHourOn})
	store(t, s, 1, 1, 300_000)
	settle(t, s)
	heat(t, s)
	for range 2 {
		if err := checked(t, s); err != nil {
			t.Fatal(err)
		}
	}
	k := knownHead(t, s, 1)
	stamp := func() time.Time {
		at, ok := s.volume.Load().segments.slot(k.number).Load().file.Load().Stamp()
		if !ok {
			t.Skip("this system tells no times of changes")
		}
		return at
	}
	before := stamp()
	name := path + "/" + segmentName(k.number)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, bodyOf(1, 1, 300_000)[200_000:200_100])]++
	until(t, "another stamp", func() bool { // the clock of the file system goes in steps
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return !stamp().Equal(before)
	})
	if err := checked(t, s); err == nil {
		t.Error("the damage is not seen")
	}
	lacks(t, s, 1)
}

func TestABodyIsCheckedAgainAfterAWhile(t *testing.T) {
	var mu sync.Mutex
	now := anHourOn()
	s := open(t, Options{Path: t.TempDir(), Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	store(t, s, 1, 1, 300_000)
	settle(t, s)
	heat(t, s)
	proven := func() *proof {
		t.Helper()
		if err := checked(t, s); err != nil {
			t.Fatal(err)
		}
		return knownHead(t, s, 1).proof.Load()
	}
	first := proven()
	if first == nil || proven() != first {
		t.Error("nothing is remembered")
	}
	for _, step := range []time.Duration{proofLasts, -time.Second} { // also where the clock goes back
		was := proven()
		mu.Lock()
		now = now.Add(step)
		mu.Unlock()
		if proven() == was {
			t.Errorf("%v later the same proof counts", step)
		}
	}
}

func TestWhatHasJustChangedIsNotRemembered(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), Now: func() time.Time { return time.Unix(1, 0) }})
	store(t, s, 1, 1, 300_000)
	settle(t, s)
	heat(t, s)
	if err := checked(t, s); err != nil {
		t.Fatal(err)
	}
	if p := knownHead(t, s, 1).proof.Load(); p != nil {
		t.Errorf("got %+v: a change within the same step of the clock would not be seen", p)
	}
}

func TestSparesAreBoundedAndHaveOneUser(t *testing.T) {
	var all spares
	for _, size := range spareSizes {
		first, second := all.take(size), all.take(size)
		if len(first) != size || &first[0] == &second[0] {
			t.Fatalf("%d: two users of one buffer, or %d bytes", size, len(first))
		}
		all.give(first)
		if again := all.take(size - 1); &again[0] != &first[0] || len(again) != size-1 {
			t.Errorf("%d: what was given back is not used", size)
		}
		for range 2*spareBytes/size + 10 {
			all.give(make([]byte, size))
		}
	}
	for i := range all.classes {
		if got := len(all.classes[i].free) * spareSizes[i]; got > spareBytes {
			t.Errorf("%d bytes of one length are kept, want at most %d", got, spareBytes)
		}
	}
	if b := all.take(wholeBytes + 1); len(b) != wholeBytes+1 {
		t.Errorf("got %d bytes", len(b))
	}
	all.give(make([]byte, 5))
}
