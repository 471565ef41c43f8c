package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/device"
)

// stream stores key n by a draft, in uneven pieces.
func stream(s *Store, n, version, length int, known bool) error {
	d, err := draft(s, n, version, length, known)
	if err != nil {
		return err
	}
	return d.Commit(keyOf(n), blockOf(n, version))
}

// draft returns a draft of key n that has all of its body.
func draft(s *Store, n, version, length int, known bool) (*Draft, error) {
	said := int64(-1)
	if known {
		said = int64(length)
	}
	d, err := s.Create(hashOf(keyOf(n)), said, 0)
	if err != nil {
		return nil, err
	}
	body := bodyOf(n, version, length)
	for piece := 1; len(body) > 0; piece = min(piece*3+1, 100_000) {
		part := body[:min(piece, len(body))]
		if got, err := d.Write(part); err != nil || got != len(part) {
			d.Abort()
			return nil, err
		}
		body = body[len(part):]
	}
	return d, nil
}

// draftLengths are bodies on both sides of a buffer and of a segment, in a store of 64 MiB.
var draftLengths = []int{0, 1, 40_000, 64 << 10, 64<<10 + 1, 128 << 10, 128<<10 + 1, 200_000, 512<<10 - 40_000, 512 << 10, 1<<20 + 5, 5 << 20}

func TestADraftIsFoundOnceItIsCommitted(t *testing.T) {
	for _, known := range []bool{true, false} {
		path := t.TempDir()
		o := Options{Path: path, MaxBytes: 64 << 20}
		s := open(t, o)
		for n, length := range draftLengths {
			d, err := draft(s, n, 1, length, known)
			if err != nil {
				t.Fatal(err)
			}
			lacks(t, s, n)
			if s.Holds(hashOf(keyOf(n))) {
				t.Errorf("%d bytes: held before it is committed", length)
			}
			if err := d.Commit(keyOf(n), blockOf(n, 1)); err != nil {
				t.Fatal(err)
			}
			d.Abort() // does nothing any more
			holds(t, s, n, 1, length)
		}
		settle(t, s)
		check := func() {
			t.Helper()
			for n, length := range draftLengths {
				holds(t, s, n, 1, length)
				var h Hit
				if length > wholeBytes && s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
					if _, at, ok := h.File(); ok != s.volume.Load().lends.Load() || at%4096 != 0 {
						t.Errorf("%d bytes: they lie at %d, %v, want at a page", length, at, ok)
					}
				}
				h.Close()
			}
		}
		check()
		st := s.Stats()
		if got := onDisk(t, path); st.Puts != int64(len(draftLengths)) || st.Drafts != 0 || st.WaitingBytes != 0 || got > st.Bytes || got < st.Bytes-1<<20 {
			t.Errorf("known %v: %d bytes on the disk, %+v", known, got, st)
		}
		s.Close()
		s = open(t, o)
		filled(t, s)
		check()
		if again := s.Stats(); again.Recovered != 0 || again.Bytes > st.Bytes {
			t.Errorf("known %v: got %+v, before %+v", known, again, st)
		}
		s.Remove(hashOf(keyOf(9)))
		lacks(t, s, 9)
		s.Close()
	}
}

// TestAShortDraftTakesNoLongBuffer: each took 1 MiB of zeroed memory, of whatever length its body was.
func TestAShortDraftTakesNoLongBuffer(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), MaxBytes: 1 << 30})
	f := func(length int, known bool, want int) {
		t.Helper()
		d, err := draft(s, 1, 1, length, known)
		if err != nil {
			t.Fatal(err)
		}
		if got := cap(d.buffer); got != want {
			t.Errorf("%d bytes, known %v: got a buffer of %d bytes, want %d", length, known, got, want)
		}
		if err := d.Commit(keyOf(1), blockOf(1, 1)); err != nil {
			t.Fatal(err)
		}
		holds(t, s, 1, 1, length)
	}
	f(1, true, 4<<10)
	f(16_000, true, 16<<10)
	f(16_000, false, 64<<10)
	f(100_000, true, 100<<10)
	f(100_000, false, 128<<10)
	f(1<<20, true, 1<<20)
	f(1<<20, false, 1<<20)
	f(1<<20+5, true, 4<<10)  // the body ends after the first piece
	f(1<<20+5, false, 1<<20) // the same without a length
}

func TestAnAbortedDraftLeavesNothing(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: 64 << 20})
	for n := range draftLengths {
		store(t, s, n, 1, 50_000)
	}
	settle(t, s)
	before := s.Stats().Bytes
	for _, known := range []bool{true, false} {
		for n, length := range draftLengths {
			d, err := draft(s, n, 2, length, known)
			if err != nil {
				t.Fatal(err)
			}
			d.Abort()
			d.Abort()
			if err := d.Commit(keyOf(n), nil); !errors.Is(err, ErrOff) {
				t.Errorf("commit after it: got %v", err)
			}
		}
	}
	if _, err := s.volume.Load().askParts(); err != nil { // the writer has given back what was asked before
		t.Fatal(err)
	}
	for n := range draftLengths {
		holds(t, s, n, 1, 50_000)
	}
	st := s.Stats()
	if got := onDisk(t, path); st.Bytes > before+idleDrafts*3*4096 || got > st.Bytes || st.Drafts != 0 || s.volume.Load().drafts.pledged.Load() != 0 {
		t.Errorf("%d bytes, %d on the disk, before %d; %+v", st.Bytes, got, before, st)
	}
}

func TestADraftTakesThePlaceOfWhatWasThere(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for version := 1; version < 12; version++ {
		length := version * 30_000
		if version%3 == 0 {
			store(t, s, 1, version, length)
			if version%2 == 0 {
				settle(t, s)
			}
		} else if err := stream(s, 1, version, length, version%2 == 0); err != nil {
			t.Fatal(err)
		}
		holds(t, s, 1, version, length)
	}
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	holds(t, s, 1, 11, 330_000)
	if st := s.Stats(); st.Objects != 1 {
		t.Errorf("got %d objects, want 1", st.Objects)
	}
}

// Of a draft and what is put or removed beside it, the last counts.
func TestWhatIsRemovedWhileADraftIsCommittedIsGone(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), Hook: f.hook})
	for n, then := range []func(n int){
		func(n int) { s.Remove(hashOf(keyOf(n))) },
		func(n int) { store(t, s, n, 2, 100) },
	} {
		d, err := draft(s, n, 1, 300_000, true)
		if err != nil {
			t.Fatal(err)
		}
		answer, stuck := make(chan struct{}), make(chan struct{}, 1)
		settle(t, s)
		f.set(func(c device.Call) error {
			if c.Op == device.Write {
				select {
				case stuck <- struct{}{}:
				default:
				}
				<-answer
			}
			return nil
		})
		committed := make(chan error, 1)
		go func() { committed <- d.Commit(keyOf(n), blockOf(n, 1)) }()
		<-stuck // in its last piece
		until(t, "commit", func() bool { return s.Stats().Waiting > 0 })
		then(n)
		close(answer)
		if err := <-committed; err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	lacks(t, s, 0)
	holds(t, s, 1, 2, 100)
	settle(t, s)
	lacks(t, s, 0)
	holds(t, s, 1, 2, 100)
}

func TestTheBoundIsKeptByDrafts(t *testing.T) {
	path := quickDir(t)
	const bound = 20 << 20
	s := open(t, Options{Path: path, MaxBytes: bound})
	r := rand.New(rand.NewPCG(1, 2))
	var under []*Draft
	for n := range 400 {
		length := 70_000 + r.IntN(900_000)
		d, err := draft(s, n, 1, length, n%3 == 0)
		if err != nil {
			if !errors.Is(err, ErrBusy) { // a quarter of the bound is the drafts'
				t.Fatal(err)
			}
		} else {
			under = append(under, d)
		}
		if len(under) > 3 || err != nil {
			if n%5 == 0 {
				under[0].Abort()
			} else if err := under[0].Commit(keyOf(1000+n), blockOf(1, 1)); err != nil {
				t.Fatal(err)
			}
			under = under[1:]
		}
		store(t, s, 5000+n, 1, n%60*1000)
		if got := onDisk(t, path); got > bound {
			t.Fatalf("after %d: %d bytes on the disk, want at most %d", n, got, bound)
		}
	}
	for _, d := range under {
		d.Abort()
	}
	settle(t, s)
	st := s.Stats()
	if got := onDisk(t, path); got > st.Bytes || st.Bytes > bound || st.Bytes < bound*6/10 || st.EvictedLarge == 0 || st.Full != 0 {
		t.Errorf("%d bytes on the disk, %+v", got, st)
	}
	s.Close()
	s = open(t, Options{Path: path, MaxBytes: bound})
	filled(t, s)
	if again := s.Stats(); again.Bytes > st.Bytes || again.Recovered != 0 || again.Objects != st.Objects {
		t.Errorf("after a restart: %+v, before: %+v", again, st)
	}
}

func TestWhatADraftMayNotIsRefused(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MaxObjectBytes: 1 << 20, WriteRate: 8 << 10, QueueBytes: 16 << 20})
	f := func(length, head int64, want error) {
		t.Helper()
		if _, err := s.Create(1, length, head); !errors.Is(err, want) {
			t.Errorf("%d bytes, head of %d: got %v, want %v", length, head, err, want)
		}
	}
	f(1<<20+1, 0, ErrTooLarge)
	f(100, 2<<20, ErrTooLarge)
	f(600_000, 0, ErrRate) // more than a minute's worth
	d, err := s.Create(1, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write(make([]byte, 101)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than was said: got %v, want ErrTooLarge", err)
	}
	d.Abort()
	if d, err = s.Create(1, 100, 0); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(keyOf(1), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("less than was said: got %v, want ErrUnexpectedEOF", err)
	}
	s = open(t, Options{Path: quickDir(t)})
	if d, err = s.Create(1, 200_000, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write(make([]byte, 200_000)); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(keyOf(1), make([]byte, 5000)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a longer head than was said: got %v, want ErrTooLarge", err)
	}
	var all []*Draft
	for range maxDrafts {
		d, err := s.Create(1, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	if _, err := s.Create(1, 100, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: got %v, want ErrBusy", err)
	}
	for _, d := range all {
		d.Abort()
	}
	if st := s.Stats(); st.Drafts != 0 || st.Busy != 1 {
		t.Errorf("got %+v", st)
	}
}

// A disk that does not keep up costs the draft, and keeps nobody waiting.
func TestADraftThatTheDiskIsTooSlowForIsLost(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: 64 << 20, Hook: f.hook, QueueBytes: 1 << 20})
	store(t, s, 1, 1, 100)
	store(t, s, 2, 1, 100)
	settle(t, s)
	short, err := draft(s, 2, 2, 300_000, true)
	if err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	answer := make(chan struct{})
	f.set(func(c device.Call) error {
		if c.Op == device.Write {
			<-answer
		}
		return nil
	})
	v := s.volume.Load()
	patient := v.o.ReadDeadline
	v.o.ReadDeadline = 50 * time.Millisecond // only this goroutine waits for reads and commits
	if err := short.Commit(keyOf(2), blockOf(2, 2)); !errors.Is(err, ErrSlow) {
		t.Errorf("commit: got %v, want ErrSlow", err)
	}
	v.o.ReadDeadline = patient
	if _, err := draft(s, 1, 2, 4<<20, true); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	close(answer)
	settle(t, s)
	until(t, "the writer is done with the drafts", func() bool { return s.Stats().WaitingBytes == 0 }) // which no flush waits for
	holds(t, s, 1, 1, 100)
	lacks(t, s, 2) // neither the old one nor the new one
	if err := stream(s, 1, 3, 900_000, true); err != nil {
		t.Error(err)
	}
	holds(t, s, 1, 3, 900_000)
	if st := s.Stats(); st.Drafts != 0 || st.DraftsLost != 2 || st.Busy != 1 || st.WaitingBytes != 0 {
		t.Errorf("got %+v", st)
	}
}

func TestADraftOnADeviceThatFails(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: 64 << 20, Hook: f.hook, every: soon})
	for _, failing := range []device.Op{device.Write, device.Create} {
		d, err := s.Create(hashOf(keyOf(1)), -1, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.set(func(c device.Call) error {
			if c.Op == failing {
				return syscall.EIO
			}
			return nil
		})
		_, err = d.Write(bodyOf(1, 1, 3<<20))
		if err == nil {
			err = d.Commit(keyOf(1), nil)
		}
		if err == nil {
			t.Errorf("%s: want an error", failing)
		}
		d.Abort()
		f.set(func(device.Call) error { return nil })
		until(t, "recovery", func() bool { return s.Err() == nil && s.volume.Load() != nil })
		lacks(t, s, 1)
	}
	if err := stream(s, 1, 2, 300_000, true); err != nil {
		t.Fatal(err)
	}
	holds(t, s, 1, 2, 300_000)
}

// Closing does not wait for drafts, and leaves nothing of them.
func TestADraftOfAStoreThatIsClosed(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	if err := stream(s, 1, 1, 200_000, true); err != nil {
		t.Fatal(err)
	}
	d, err := draft(s, 2, 1, 500_000, false)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := d.Commit(keyOf(2), nil); err == nil {
		t.Error("want an error")
	}
	s = open(t, Options{Path: path})
	filled(t, s)
	holds(t, s, 1, 1, 200_000)
	lacks(t, s, 2)
	if st := s.Stats(); st.Recovered != 0 || st.Bytes > 400_000 {
		t.Errorf("got %+v", st)
	}
}

// Drafts, puts, removals and look-ups of the same keys, all at once: what is found is always one whole version.
func TestDraftsBesideAllElse(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MaxBytes: 16 << 20})
	const keys, rounds = 12, 150
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			for round := range rounds {
				n, version := r.IntN(keys), w*rounds+round
				switch r.IntN(5) {
				case 0:
					s.Remove(hashOf(keyOf(n)))
				case 1:
					_ = s.Put(hashOf(keyOf(n)), keyOf(n), blockOf(n, version), bodyOf(n, version, 1000+version*100))
				default:
					if err := stream(s, n, version, 1000+version*700, version%2 == 0); err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrSlow) {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				block, body, ok := get(t, s, n%keys)
				if !ok {
					continue
				}
				var key, version int
				if _, err := fmt.Sscanf(block, "block %d of version %d", &key, &version); err != nil || key != n%keys || !bytes.Equal(body, bodyOf(key, version, len(body))) {
					t.Errorf("key %d: got %q and %d bytes", n%keys, block, len(body))
					return
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	settle(t, s)
	until(t, "the writer is done with the drafts", func() bool { return s.Stats().WaitingBytes == 0 }) // which no flush waits for
	if st := s.Stats(); st.Damaged != 0 || st.Drafts != 0 || s.volume.Load().drafts.pledged.Load() != 0 {
		t.Errorf("got %+v", st)
	}
}
