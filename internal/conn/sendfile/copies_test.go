//go:build linux

package sendfile

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/test/testkit"
)

const maxBytes = 8 * Least

func newCopies(t *testing.T) *Copies {
	t.Helper()
	c := New(Options{MaxBytes: maxBytes, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(c.Close)
	return c
}

// filled returns a body of which each byte is n.
func filled(n byte, size int) []byte { return bytes.Repeat([]byte{n}, size) }

// make makes the copy of b now. The goroutine of c has nothing to do meanwhile.
func (c *Copies) makeNow(s *Slot, b []byte) { c.make(body{s, b}) }

// open reports whether a descriptor is open.
func open(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

func TestABodyGetsACopyOnceItIsAskedForOften(t *testing.T) {
	c, b := newCopies(t), filled('a', Least+1)
	var s Slot
	for n := range every {
		if c.Take(&s, b) != nil {
			t.Fatalf("ask %d: got a copy", n+1)
		}
	}
	var found *Copy
	for deadline := time.Now().Add(testkit.Patience); found == nil; found = c.Take(&s, b) {
		if time.Now().After(deadline) {
			t.Fatal("no copy is made")
		}
	}
	defer found.Release()
	got := make([]byte, len(b)+1)
	if n, err := unix.Pread(found.Descriptor(), got, 0); err != nil || !bytes.Equal(got[:n], b) {
		t.Errorf("got %d bytes and error %v, want the body", n, err)
	}
	if _, err := unix.Write(found.Descriptor(), b); err == nil {
		t.Error("the copy can be written to")
	}
	if got, want := c.Bytes(), int64(Least+page); got != want {
		t.Errorf("got %d bytes, want whole pages: %d", got, want)
	}
}

func TestShortAndHugeBodiesGetNoCopy(t *testing.T) {
	c := newCopies(t)
	for _, size := range []int{Least - 1, maxBytes/objectShare + 1} {
		var s Slot
		b := filled('a', size)
		if size >= Least {
			c.makeNow(&s, b)
		}
		for range every {
			if c.Take(&s, b) != nil {
				t.Errorf("a body of %d bytes has a copy", size)
			}
		}
	}
	if New(Options{MaxBytes: Least}) != nil {
		t.Error("there are copies where none has room")
	}
}

func TestACopyGoesWithItsBodyAndItsLastUser(t *testing.T) {
	c, b := newCopies(t), filled('a', Least)
	var s Slot
	c.makeNow(&s, b)
	used := c.Take(&s, b)
	if used == nil {
		t.Fatal("there is no copy")
	}
	s.Drop()
	if c.Take(&s, b) != nil {
		t.Error("a body that has left has a copy")
	}
	if !open(used.Descriptor()) || c.Bytes() != Least {
		t.Errorf("a copy in use: open %v, %d bytes", open(used.Descriptor()), c.Bytes())
	}
	used.Release()
	if open(used.file) || c.Bytes() != 0 {
		t.Errorf("a copy without users: open %v, %d bytes", open(used.file), c.Bytes())
	}
	if c.makeNow(&s, b); c.Bytes() != 0 {
		t.Error("a body that has left gets a copy")
	}
}

func TestWhatIsNotAskedForMakesRoom(t *testing.T) {
	c := newCopies(t)
	slots, bodies := make([]Slot, 9), make([][]byte, 9)
	has := func(n int) bool {
		found := c.Take(&slots[n], bodies[n])
		if found != nil {
			found.recent.Store(false)
			found.Release()
		}
		return found != nil
	}
	for n := range slots {
		bodies[n] = filled(byte('a'+n), Least)
	}
	for n := range 8 {
		c.makeNow(&slots[n], bodies[n])
	}
	if c.Bytes() != maxBytes {
		t.Fatalf("got %d bytes, want all of %d", c.Bytes(), maxBytes)
	}
	for n := range 8 {
		if n != 5 {
			c.Take(&slots[n], bodies[n]).Release()
		}
	}
	if c.makeNow(&slots[8], bodies[8]); has(5) || !has(0) || !has(8) || c.Bytes() != maxBytes {
		t.Errorf("has the one that nobody asked for %v, another %v, the new one %v; %d bytes", has(5), has(0), has(8), c.Bytes())
	}
}

func TestACopyInUseIsCountedUntilItIsReleased(t *testing.T) {
	c := newCopies(t)
	slots, b := make([]Slot, 9), filled('a', Least)
	var used []*Copy
	for n := range 8 {
		c.makeNow(&slots[n], b)
		used = append(used, c.Take(&slots[n], b))
	}
	for range 3 { // the hand gives each a second chance
		c.makeNow(&slots[8], b)
		if c.Bytes() > maxBytes || c.Take(&slots[8], b) != nil {
			t.Fatalf("%d bytes, want no more than %d", c.Bytes(), maxBytes)
		}
	}
	for _, u := range used {
		u.Release()
	}
	c.makeNow(&slots[8], b)
	if got := c.Take(&slots[8], b); got == nil {
		t.Error("there is no copy although there is room")
	} else {
		got.Release()
	}
}

func TestDescriptorsBoundTheCopies(t *testing.T) {
	c, b := newCopies(t), filled('a', Least)
	if c.most < 1 || c.most > mostCopies {
		t.Fatalf("got %d copies at most", c.most)
	}
	c.most = 2
	var slots [3]Slot
	for n := range slots {
		c.makeNow(&slots[n], b)
	}
	if got := c.Bytes(); got != 2*Least {
		t.Errorf("got %d bytes of copies, want two copies", got)
	}
}

// TestACopyInUseKeepsItsDescriptor: copies that had left the list counted no more, while slow readers
// still had their files open.
func TestACopyInUseKeepsItsDescriptor(t *testing.T) {
	c, b := newCopies(t), filled('a', Least)
	c.most = 2
	var slots [3]Slot
	var used []*Copy
	for n := range 2 {
		c.makeNow(&slots[n], b)
		used = append(used, c.Take(&slots[n], b))
		slots[n].Drop()
	}
	if c.makeNow(&slots[2], b); c.Take(&slots[2], b) != nil || c.Files() != 2 {
		t.Error("there are three files, want two")
	}
	for _, u := range used {
		u.Release()
	}
	if c.makeNow(&slots[2], b); slots[2].copy.Load() == nil {
		t.Error("there is no copy although no file is open")
	}
}

// TestWantOfDescriptorsPasses: one error of any kind ended the copies until the next start.
func TestWantOfDescriptorsPasses(t *testing.T) {
	for err, want := range map[error]bool{unix.EMFILE: false, unix.ENFILE: false, unix.ENOMEM: false, unix.ENOSYS: true, unix.EPERM: true} {
		c := newCopies(t)
		if c.refused(fmt.Errorf("make a file: %w", err)); c.failed.Load() != want {
			t.Errorf("%v: for ever is %v, want %v", err, !want, want)
		}
	}
}

func TestCloseLetsGoOfAll(t *testing.T) {
	c, b := newCopies(t), filled('a', Least)
	var s, other Slot
	c.makeNow(&s, b)
	c.makeNow(&other, b)
	used := c.Take(&s, b)
	c.Close()
	if c.Bytes() != Least || c.Take(&other, b) != nil {
		t.Errorf("got %d bytes, want those of the copy in use", c.Bytes())
	}
	used.Release()
	if c.Bytes() != 0 {
		t.Errorf("got %d bytes, want none", c.Bytes())
	}
	var none *Copies
	none.Close()
	if none.Take(&s, b) != nil || none.Bytes() != 0 || none.Files() != 0 {
		t.Error("nil has copies")
	}
}

// TestManyAtOnce: askers, bodies that leave, and the goroutine that makes copies. What is taken
// holds its body, and in the end nothing is left.
func TestManyAtOnce(t *testing.T) {
	c := newCopies(t)
	var slots [24]Slot
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			var got [1]byte
			for n := range 4000 {
				i := (n*7 + worker*5) % len(slots)
				b := bodiesOf24()[i]
				if found := c.Take(&slots[i], b); found != nil {
					if _, err := unix.Pread(found.Descriptor(), got[:], Least-1); err != nil || got[0] != b[0] {
						t.Errorf("body %d: got %q and error %v", i, got, err)
					}
					found.Release()
				}
				if n == 3000 && i%3 == 0 {
					slots[i].Drop()
				}
			}
		})
	}
	all.Wait()
	if c.Bytes() > maxBytes {
		t.Errorf("got %d bytes, want at most %d", c.Bytes(), maxBytes)
	}
	c.Close()
	if c.Bytes() != 0 || c.Files() != 0 {
		t.Errorf("%d bytes and %d files are left", c.Bytes(), c.Files())
	}
}

var bodiesOf24 = sync.OnceValue(func() (out [24][]byte) {
	for i := range out {
		out[i] = filled(byte(i), Least)
	}
	return out
})

func TestTakeAllocatesNothing(t *testing.T) {
	c, b := newCopies(t), filled('a', Least)
	var s, none Slot
	c.makeNow(&s, b)
	if got := testing.AllocsPerRun(100, func() {
		c.Take(&s, b).Release()
		_ = c.Take(&none, b[:Least-1])
	}); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
