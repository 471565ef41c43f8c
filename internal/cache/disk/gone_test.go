package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// This file tests that what was replaced or removed does not come back.

// broken fails what a device fails that takes no more writes, and cannot be opened either.
func broken(c device.Call) error {
	if c.Op.Writes() || c.Op == device.List {
		return syscall.EIO
	}
	return nil
}

// breakDown waits until the directory counts as failed. Until then its device fails.
func breakDown(t *testing.T, s *Store) {
	t.Helper()
	for n := 1000; s.Err() == nil; n++ {
		_ = s.Put(hashOf(keyOf(n)), keyOf(n), nil, bodyOf(n, 1, 100_000))
		_ = s.Flush()
	}
}

// recovered waits until the directory is in use again.
func recovered(t *testing.T, s *Store, f *faulty) {
	t.Helper()
	f.set(func(device.Call) error { return nil })
	until(t, "recovery", func() bool { return s.Err() == nil && s.volume.Load() != nil })
	filled(t, s)
}

// asked has the writer do what it may only do itself.
func asked(t *testing.T, s *Store, do func(v *volume)) {
	t.Helper()
	v := s.volume.Load()
	if err := v.wait(v.queue.ask(func() error { do(v); return nil }), nil); err != nil {
		t.Fatal(err)
	}
}

// What was replaced or removed while the directory still counted as working, and whose removal the device did not take, was back when the
// directory was.
func TestWhatWasRemovedJustBeforeTheFailureWasBack(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: soon})
	for n := range 6 {
		store(t, s, n, 1, 1000+n%2*100_000)
	}
	settle(t, s)
	f.set(broken)
	s.Remove(hashOf(keyOf(1)))
	store(t, s, 2, 2, 1000)
	store(t, s, 3, 2, 1000)
	s.Remove(hashOf(keyOf(4)))
	store(t, s, 4, 2, 1000)
	breakDown(t, s)
	recovered(t, s, &f)
	holds(t, s, 0, 1, 1000)
	for n := 1; n < 5; n++ {
		lacks(t, s, n)
	}
	holds(t, s, 5, 1, 101_000)
}

// A removal that was written and not synced is lost with the device's cache: the directory is back without the end of the log.
func TestARemovalThatWasNotSyncedWasForgottenWithTheDevice(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook, every: soon})
	for n := range 3 {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	s.Remove(hashOf(keyOf(1)))
	store(t, s, 2, 2, 100_000)
	settle(t, s)
	second, synced := "", int64(0)
	asked(t, s, func(v *volume) {
		synced = v.writer.log.size
		second = segmentName(v.writer.open[layout.Large-1].seg.number)
		if err := v.writer.logRemovals(); err != nil || len(v.writer.log.pending) > 0 || !v.writer.log.dirty {
			t.Errorf("logged: %v", err)
		}
	})
	f.set(broken)
	breakDown(t, s)
	until(t, "the end of the first opening", func() bool { return s.volume.Load() == nil })
	if err := errors.Join(os.Truncate(filepath.Join(path, removalsName), synced), os.Remove(filepath.Join(path, second))); err != nil {
		t.Fatal(err)
	}
	recovered(t, s, &f)
	holds(t, s, 0, 1, 1000)
	lacks(t, s, 1)
	lacks(t, s, 2)
}

// A record waited for the writer when the directory failed, and what it had replaced was back.
func TestWhatWaitedAtTheFailureBroughtBackWhatItHadReplaced(t *testing.T) {
	for _, taken := range []bool{false, true} {
		var f faulty
		s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: soon})
		for n := range 3 {
			store(t, s, n, 1, 1000)
		}
		settle(t, s)
		v := s.volume.Load()
		f.set(func(c device.Call) error {
			if taken && c.Op.Writes() { // the call is for the first of the puts that the writer has taken
				v.fail(syscall.EIO)
			}
			return broken(c)
		})
		answer := make(chan struct{})
		v.queue.ask(func() error { <-answer; return nil })
		store(t, s, 3, 1, 400_000)
		store(t, s, 1, 2, 1000)
		store(t, s, 2, 2, 1000)
		if !taken {
			v.fail(syscall.EIO)
		}
		close(answer)
		until(t, "the failure", func() bool { return s.Err() != nil })
		recovered(t, s, &f)
		holds(t, s, 0, 1, 1000)
		lacks(t, s, 1)
		lacks(t, s, 2)
	}
}

// What is on the disk need not be remembered: each hash that is costs records of other keys when the directory is back.
func TestWhatIsSyncedIsNotRemembered(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: soon, Now: func() time.Time { return time.Unix(0, now.Load()) }})
	store(t, s, 1, 1, 1000)
	store(t, s, 2, 1, 1000)
	settle(t, s)
	s.Remove(hashOf(keyOf(1)))
	store(t, s, 2, 2, 1000)
	settle(t, s)
	if has := s.volume.Load().recent.Load().has(hashOf(keyOf(1))); !has {
		t.Error("the removal is not remembered")
	}
	now.Add(int64(settleAfter))
	until(t, "that it is forgotten", func() bool { return s.volume.Load().recent.Load().empty() })
	asked(t, s, func(v *volume) {
		if v.before != nil || v.writer.log.dirty || len(v.writer.log.pending) > 0 {
			t.Error("it was forgotten before it was synced")
		}
	})
	f.set(broken)
	breakDown(t, s)
	recovered(t, s, &f)
	lacks(t, s, 1)
	holds(t, s, 2, 2, 1000)
}

// The fill began, and looked for removals, before others could see the volume: who noted a removal in between was seen by neither.
func TestTheFillBeganBeforeTheVolumeWasSeen(t *testing.T) {
	path := quickDir(t)
	o, err := small(Options{Path: path, MinFree: 1, every: time.Hour}).filled()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(o)
	looked := false
	o.Hook = func(c device.Call) error {
		if c.Op == device.FreeRoom { // the first step of start
			looked = true
			if s.volume.Load() == nil {
				t.Error("the volume starts, and nobody can see it")
			}
		}
		return nil
	}
	v, err := openVolume(o, &s.counts, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.begin(v)
	s.wg.Go(func() { s.watch(v) })
	s.Close()
	if !looked {
		t.Error("the hook was not called")
	}
}

// A removal that is noted too late for the fill removes the record itself.
func TestARemovalThatIsNotedAfterTheFillIsDone(t *testing.T) {
	s := open(t, Options{Path: stored(t, 1000, 1000), every: time.Hour})
	filled(t, s)
	s.miss(hashOf(keyOf(1)))
	holds(t, s, 0, 1, 1000)
	lacks(t, s, 1)
}

// A put or a removal that began before the directory failed, and ended when it was back, changed only the volume that was gone.
func TestAChangeOfAVolumeThatWasReplacedWasLost(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: soon})
	for n := range 3 {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	old := s.volume.Load()
	f.set(broken)
	breakDown(t, s)
	recovered(t, s, &f)
	old.remove(hashOf(keyOf(1)))
	s.changed(old, hashOf(keyOf(1)))
	holds(t, s, 0, 1, 1000)
	lacks(t, s, 1)
}

// A draft that began before the directory failed, and was committed when it was back, left the record before it in the index.
func TestADraftOverAFailureLeftTheRecordBefore(t *testing.T) {
	for _, length := range []int{1000, 300_000} {
		var f faulty
		s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: soon})
		store(t, s, 1, 1, 1000)
		settle(t, s)
		d, err := s.Create(hashOf(keyOf(1)), int64(length), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Write(bodyOf(1, 2, length)); err != nil {
			t.Fatal(err)
		}
		f.set(broken)
		breakDown(t, s)
		recovered(t, s, &f)
		if err := d.Commit(keyOf(1), blockOf(1, 2)); err == nil {
			t.Error("commit: want an error")
		}
		lacks(t, s, 1)
	}
}

// When the directory failed again before the index was filled, what had been removed during the first failure was back.
func TestASecondFailureForgotWhatWasRemovedInTheFirst(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: soon})
	store(t, s, 0, 1, 1000)
	store(t, s, 1, 1, 1000)
	settle(t, s)
	f.set(broken)
	breakDown(t, s)
	s.Remove(hashOf(keyOf(1)))
	fill := make(chan struct{})
	f.set(func(c device.Call) error {
		if c.Op == device.Open && strings.HasSuffix(c.Name, segmentSuffix) {
			<-fill
		}
		return nil
	})
	until(t, "the second opening", func() bool { return s.Err() == nil && s.volume.Load() != nil })
	second := s.volume.Load()
	f.set(broken)
	second.fail(syscall.EIO)
	until(t, "the second failure", func() bool { return s.Err() != nil })
	close(fill)
	recovered(t, s, &f)
	holds(t, s, 0, 1, 1000)
	lacks(t, s, 1)
}

// Remove did nothing where the directory was read-only. When it failed and was back as one that is not, all removals were undone.
func TestARemovalFromAReadOnlyDirectoryDidNothing(t *testing.T) {
	var f faulty
	path := stored(t, 1000, 1000, 1000)
	readOnly := func(c device.Call) error {
		if c.Op.Writes() {
			return syscall.EROFS
		}
		return nil
	}
	f.set(readOnly)
	s := open(t, Options{Path: path, Hook: f.hook, every: soon})
	filled(t, s)
	s.Remove(hashOf(keyOf(1)))
	if err := s.Put(hashOf(keyOf(2)), keyOf(2), nil, nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
	lacks(t, s, 1)
	lacks(t, s, 2)
	f.set(broken)
	s.volume.Load().fail(errHung)
	until(t, "the failure", func() bool { return s.Err() != nil })
	recovered(t, s, &f)
	holds(t, s, 0, 1, 1000)
	lacks(t, s, 1)
	lacks(t, s, 2)
}

// A sweep removed a record that waited to be written, and the one that it had replaced was found again.
func TestASweepOfAWaitingRecordBroughtBackTheOneBefore(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: time.Hour})
	store(t, s, 1, 1, 1000)
	store(t, s, 2, 1, 1000)
	settle(t, s)
	answer := make(chan struct{})
	busy := make(chan struct{}, 100)
	s.volume.Load().queue.ask(func() error { busy <- struct{}{}; <-answer; return nil })
	<-busy
	store(t, s, 1, 2, 1000)
	if err := s.Each(func(i *Item) bool { i.Remove(); return false }); err != nil {
		t.Fatal(err)
	}
	lacks(t, s, 1)
	close(answer)
	settle(t, s)
	lacks(t, s, 1)
	holds(t, s, 2, 1, 1000)
}

// A record for which there was no room was given up, and the one that it had replaced was found again.
func TestARecordWithoutRoomBroughtBackTheOneBefore(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, every: time.Hour})
	store(t, s, 1, 1, 1000)
	settle(t, s)
	asked(t, s, func(v *volume) {
		v.segments.mu.Lock()
		limit := v.segments.limit
		v.segments.limit = 0
		v.segments.mu.Unlock()
		open := v.writer.open
		v.writer.open = [2]*appender{} // so that nothing can be evicted
		p := &put{Record: layout.Record{Hash: hashOf(keyOf(1)), Key: keyOf(1)}}
		p.shape, _ = layout.ShapeOf(len(p.Key), 0, 0)
		if err := v.queue.add(p); err != nil {
			t.Error(err)
		}
		v.writer.writePut(p)
		v.queue.take()
		v.writer.open = open
		v.segments.mu.Lock()
		v.segments.limit = limit
		v.segments.mu.Unlock()
	})
	if st := s.Stats(); st.Full != 1 {
		t.Errorf("got %+v, want one without room", st)
	}
	lacks(t, s, 1)
}

// The file of an evicted segment could not be removed. Nothing said that its records were replaced or removed later, and the next opening had them.
func TestAFileThatCouldNotBeRemovedBroughtBackItsRecords(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook, every: soon})
	store(t, s, 0, 1, 1000)
	settle(t, s)
	noRemoval := func(c device.Call) error {
		if c.Op == device.Remove {
			return syscall.EIO
		}
		return nil
	}
	f.set(noRemoval)
	asked(t, s, func(v *volume) {
		if err := v.writer.seal(layout.Small); err != nil {
			t.Error(err)
		}
		v.writer.drop(v.segments.small[0])
	})
	lacks(t, s, 0)
	s.Remove(hashOf(keyOf(0)))
	if err := s.Keep(); err == nil {
		t.Error("keep: want an error")
	}
	asked(t, s, func(v *volume) { v.writer.settle() })
	old := s.volume.Load()
	f.set(broken)
	old.fail(syscall.EIO)
	until(t, "the failure", func() bool { return s.Err() != nil })
	recovered(t, s, &f)
	lacks(t, s, 0)
	f.set(noRemoval)
	asked(t, s, func(v *volume) {
		v.writer.drop(v.segments.small[0])
		for range failuresToEnd {
			v.writer.settle()
		}
	})
	if err := s.Err(); err != nil {
		t.Errorf("the directory has failed, as one file cannot be removed: %v", err)
	}
	f.set(func(device.Call) error { return nil })
	if err := s.Keep(); err != nil {
		t.Errorf("keep: %v", err)
	}
	if n := s.volume.Load().hidden.Load(); n != 0 {
		t.Errorf("%d segments are hidden, want none", n)
	}
	if used, there := s.Stats().Bytes, onDisk(t, path); used < there || used > there+32<<10 {
		t.Errorf("%d bytes are counted, %d are on the disk", used, there)
	}
}

// A record was evicted while a client read it, so its bytes stayed. It was removed, and was back after a restart.
func TestWhatIsReadWhenItIsEvictedAndThenRemovedWasBack(t *testing.T) {
	path := t.TempDir()
	s := open(t, Options{Path: path, MaxBytes: MinBytes})
	store(t, s, 0, 1, 100_000)
	settle(t, s)
	var h Hit
	if !s.Find(hashOf(keyOf(0)), keyOf(0), &h) {
		t.Fatal("not found")
	}
	for n := range 100 {
		store(t, s, n+1, 1, 100_000)
		settle(t, s)
	}
	if s.Holds(hashOf(keyOf(0))) {
		t.Fatal("it was not evicted")
	}
	s.Remove(hashOf(keyOf(0)))
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	h.Close()
	s = open(t, Options{Path: path, MaxBytes: MinBytes})
	filled(t, s)
	lacks(t, s, 0)
}

// A write failed after all bytes of the record were in the file, and so did what should have cut them off. The record was removed, and was back after a
// restart.
func TestAWriteThatFailedAtItsEndBroughtBackItsRecord(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook, every: time.Hour})
	failures := 0
	f.set(func(c device.Call) error {
		if c.Op == device.Write && failures == 0 {
			failures++
			return &device.ShortError{Bytes: c.Bytes - 1, Err: syscall.EIO} // the last byte only pads
		}
		if (c.Op == device.Write || c.Op == device.Cut) && failures < 3 {
			failures++
			return syscall.EIO
		}
		return nil
	})
	store(t, s, 1, 1, 1000)
	_ = s.Flush()
	if failures != 3 || s.Err() != nil {
		t.Fatalf("%d calls failed, %v", failures, s.Err())
	}
	s.Remove(hashOf(keyOf(1)))
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, Options{Path: path, MaxBytes: MinBytes})
	filled(t, s)
	lacks(t, s, 1)
}

// A segment could not be read at one opening, and could at the next: what had been removed in between was back.
func TestASegmentThatCouldNotBeReadForgotRemovals(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	var f faulty
	path := stored(t, 1000, 1000)
	unreadable := func(c device.Call) error {
		if c.Op == device.Open && strings.HasSuffix(c.Name, segmentSuffix) {
			return syscall.EIO
		}
		return nil
	}
	f.set(unreadable)
	s := open(t, Options{Path: path, Hook: f.hook, every: time.Hour, Now: func() time.Time { return time.Unix(0, now.Load()) }})
	filled(t, s)
	s.Remove(hashOf(keyOf(1)))
	asked(t, s, func(v *volume) { v.writer.settle(); v.writer.settle() })
	s.volume.Load().fail(syscall.EIO)
	until(t, "the next opening is told", func() bool { return s.missed.Load().has(hashOf(keyOf(1))) })
}

// Between the failure of a directory and its replacement, a group took it for one without strays.
func TestAGroupTookAFailedDirectoryForOneWithoutStrays(t *testing.T) {
	o, err := small(Options{Path: stored(t, 1000), every: time.Hour}).filled()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(o)
	v, err := openVolume(o, &s.counts, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.begin(v)
	filled(t, s)
	if s.fills() {
		t.Error("all is known, and it says otherwise")
	}
	v.fail(syscall.EIO)
	if !s.fills() {
		t.Error("what it has is not known, and it says otherwise")
	}
	s.wg.Go(func() { s.watch(v) })
	s.Close()
}
