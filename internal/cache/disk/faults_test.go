package disk

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/test/testkit"
)

// faulty is a hook whose answer changes.
type faulty struct {
	answer atomic.Pointer[func(device.Call) error]
}

func (f *faulty) hook(c device.Call) error {
	if answer := f.answer.Load(); answer != nil {
		return (*answer)(c)
	}
	return nil
}

func (f *faulty) set(answer func(device.Call) error) { f.answer.Store(&answer) }

// until waits for what another goroutine brings about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(testkit.Patience)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it does not come", what)
		}
		runtime.Gosched() // real files: there is no virtual time for them
	}
}

const soon = 5 * time.Millisecond

// A device that fails all writes costs the directory, for as long as it does.
func TestADeviceThatFailsIsLeftAndTakenBack(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook, every: soon})
	store(t, s, 1, 1, 1000)
	settle(t, s)
	f.set(func(c device.Call) error {
		if c.Op.Writes() {
			return syscall.EIO
		}
		return nil
	})
	for n := 10; s.Err() == nil; n++ {
		if err := s.Put(hashOf(keyOf(n)), keyOf(n), nil, bodyOf(n, 1, 100_000)); err != nil {
			break
		}
		_ = s.Flush()
	}
	until(t, "failure", func() bool { return s.Err() != nil })
	lacks(t, s, 1)
	if err := s.Put(2, keyOf(2), nil, nil); !errors.Is(err, ErrOff) {
		t.Errorf("put: got %v, want ErrOff", err)
	}
	if err := s.Keep(); err == nil {
		t.Error("keep: want an error")
	}
	f.set(func(device.Call) error { return nil })
	until(t, "recovery", func() bool { return s.Err() == nil && s.volume.Load() != nil })
	filled(t, s)
	holds(t, s, 1, 1, 1000)
	store(t, s, 3, 1, 1000)
	settle(t, s)
	holds(t, s, 3, 1, 1000)
	if st := s.Stats(); st.Failures < 1 || st.WriteErrors < failuresToEnd {
		t.Errorf("got %+v", st)
	}
}

// While the directory had failed nobody could take out of it what was replaced or removed, and the old version was back with it.
func TestWhatIsReplacedWhileTheDirectoryHasFailedIsNotBack(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook, every: soon})
	for n := range 4 {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	for range 2 { // also the second time
		f.set(func(c device.Call) error {
			if c.Op.Writes() || c.Op == device.List {
				return syscall.EIO
			}
			return nil
		})
		for n := 10; s.Err() == nil; n++ {
			_ = s.Put(hashOf(keyOf(n)), keyOf(n), nil, bodyOf(n, 1, 100_000))
			_ = s.Flush()
		}
		s.Remove(hashOf(keyOf(1)))
		if err := s.Put(hashOf(keyOf(2)), keyOf(2), blockOf(2, 2), nil); !errors.Is(err, ErrOff) {
			t.Errorf("put: got %v, want ErrOff", err)
		}
		f.set(func(device.Call) error { return nil })
		until(t, "recovery", func() bool { return s.Err() == nil && s.volume.Load() != nil })
		filled(t, s)
		holds(t, s, 0, 1, 1000)
		lacks(t, s, 1)
		lacks(t, s, 2)
		holds(t, s, 3, 1, 1000)
		store(t, s, 1, 1, 1000)
		store(t, s, 2, 1, 1000)
		settle(t, s)
	}
}

// A device that hangs in a write, and then in reads, keeps nobody waiting.
func TestADeviceThatHangsKeepsNobodyWaiting(t *testing.T) {
	for _, op := range []device.Op{device.Write, device.Sync, device.Read} {
		var f faulty
		var ahead atomic.Int64 // how far the clock is ahead: a busy machine must not look like a device that hangs
		path := quickDir(t)
		s := open(t, Options{
			Path: path, MaxBytes: MinBytes, Hook: f.hook, every: soon, QueueBytes: 600_000, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
			Deadline: time.Hour, ReadDeadline: 300 * time.Millisecond, ReadWait: 30 * time.Millisecond, Reads: 4,
		})
		store(t, s, 1, 1, 1000)
		store(t, s, 2, 1, 200_000)
		settle(t, s)
		answer := make(chan struct{})
		f.set(func(c device.Call) error {
			if c.Op == op {
				<-answer
			}
			return nil
		})
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				var h Hit
				s.Find(hashOf(keyOf(1)), keyOf(1), &h)
				h.Close()
			})
		}
		for n := range 40 {
			_ = s.Put(hashOf(keyOf(100+n)), keyOf(100+n), nil, bodyOf(100+n, 1, 60_000))
		}
		all.Wait()
		if took := time.Since(began); took > testkit.Patience {
			t.Errorf("%s: requests waited for %v", op, took)
		}
		if op != device.Read {
			until(t, "failure", func() bool { ahead.Add(int64(time.Minute)); return s.Err() != nil })
			if !errors.Is(s.Err(), errHung) {
				t.Errorf("%s: got %v, want errHung", op, s.Err())
			}
		} else if st := s.Stats(); st.SlowReads == 0 {
			t.Error("no read was given up")
		}
		close(answer)
		until(t, "recovery", func() bool { return s.Err() == nil && s.volume.Load() != nil })
		filled(t, s)
		var body []byte
		until(t, "hits", func() (ok bool) { _, body, ok = get(t, s, 1); return ok })
		if !bytes.Equal(body, bodyOf(1, 1, 1000)) {
			t.Errorf("%s: got other bytes than were put", op)
		}
		s.Close()
	}
}

func TestMoreThanTheQueueTakesIsRefusedAtOnce(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, QueueBytes: 500_000})
	store(t, s, 7, 1, 100)
	settle(t, s)
	answer := make(chan struct{})
	f.set(func(c device.Call) error {
		if c.Op == device.Write {
			<-answer
		}
		return nil
	})
	busy := 0
	for n := range 30 {
		if err := s.Put(hashOf(keyOf(n)), keyOf(n), blockOf(n, 2), bodyOf(n, 2, 50_000)); errors.Is(err, ErrBusy) {
			busy++
			lacks(t, s, n) // not the old one either
		} else if err != nil {
			t.Fatal(err)
		} else {
			holds(t, s, n, 2, 50_000)
		}
	}
	if busy < 15 || busy > 25 {
		t.Errorf("%d of 30 are refused: want about 21", busy)
	}
	if st := s.Stats(); st.Busy != int64(busy) || st.WaitingBytes > 500_000 {
		t.Errorf("got %+v", st)
	}
	close(answer)
	settle(t, s)
	store(t, s, 99, 1, 50_000)
}

// ENOSPC makes the store take less room, and go on.
func TestAFullFileSystemMakesRoom(t *testing.T) {
	var f faulty
	var written atomic.Int64
	var limit atomic.Int64
	limit.Store(2 << 20)
	f.set(func(c device.Call) error {
		switch {
		case c.Op == device.Write && written.Add(c.Bytes) > limit.Load():
			written.Add(-c.Bytes)
			return &device.ShortError{Bytes: c.Bytes / 3, Err: syscall.ENOSPC}
		case c.Op == device.Punch:
			written.Add(-c.Bytes)
		case c.Op == device.Remove:
			written.Add(-100_000)
		}
		return nil
	})
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, Hook: f.hook, every: time.Hour})
	for n := range 300 {
		store(t, s, n, 1, 10_000+n%5*20_000)
		_ = s.Flush()
	}
	st := s.Stats()
	if s.Err() != nil || st.NoSpace == 0 || st.EvictedLarge+st.EvictedSmall == 0 {
		t.Errorf("got %v, %+v", s.Err(), st)
	}
	limit.Store(1 << 40)
	store(t, s, 1000, 1, 10_000)
	settle(t, s)
	holds(t, s, 1000, 1, 10_000)
}

func TestAFullFileSystemTookTheCacheInSilence(t *testing.T) {
	var f faulty
	var log testkit.Buffer
	path := quickDir(t)
	d, err := device.OpenDir(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	room, err := d.Room()
	_ = d.Close()
	if err != nil {
		t.Skip(err)
	}
	open(t, Options{Path: path, MaxBytes: MinBytes, MinFree: room.Total, Hook: f.hook, Log: slog.New(slog.NewTextHandler(&log, nil)), every: soon})
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "nearly full") {
		t.Errorf("got %q, want a warning", got)
	}
	f.set(func(c device.Call) error {
		if c.Op == device.FreeRoom {
			return device.ErrUnsupported // so there is no bound but MaxBytes
		}
		return nil
	})
	until(t, "that it is over", func() bool { return strings.Contains(log.String(), "has room again") })
	if n := strings.Count(log.String(), "nearly full"); n != 1 {
		t.Errorf("warned %d times, want once", n)
	}
}

func TestFreeRoomIsLeft(t *testing.T) {
	path := quickDir(t)
	d, err := device.OpenDir(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	room, err := d.Room()
	_ = d.Close()
	if err != nil {
		t.Skip(err)
	}
	s := open(t, Options{Path: path, MaxBytes: MinBytes, MinFree: room.Total, every: soon}) // there is never so much
	until(t, "a lower bound", func() bool { return s.Stats().MaxBytes < MinBytes })
	for n := range 20 {
		store(t, s, n, 1, 50_000)
	}
	_ = s.Flush()
	if st := s.Stats(); st.Full == 0 || st.Bytes > 1<<20 {
		t.Errorf("got %+v", st)
	}
}

func TestTheWriteRateIsKept(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	s := open(t, Options{
		Path: quickDir(t), MaxBytes: 16 << 20, WriteRate: 1 << 20, every: time.Hour,
		Now: func() time.Time { return time.Unix(0, now.Load()) },
	})
	begin := s.Stats().WriteBytes
	for second := range int64(8) {
		for n := range 40 {
			err := s.Put(uint64(n), keyOf(n), nil, bodyOf(n, int(second), 100_000))
			if err != nil && !errors.Is(err, ErrRate) {
				t.Fatal(err)
			}
			_ = s.Flush()
		}
		if got, most := s.Stats().WriteBytes-begin, (second+2)<<20+1<<18; got > most || got < (second+1)<<20-1<<18 {
			t.Errorf("after %d s: %d bytes written, want at most %d", second, got, most)
		}
		now.Add(int64(time.Second))
	}
	if s.Stats().OverRate == 0 {
		t.Error("nothing was refused")
	}
}

// The directory is removed, and another one is made in its place: nothing is written there.
func TestADirectoryThatIsReplacedIsNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	s := open(t, Options{Path: path, MaxBytes: MinBytes, every: soon})
	store(t, s, 1, 1, 1000)
	settle(t, s)
	away := path + ".away"
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	until(t, "failure", func() bool { return errors.Is(s.Err(), device.ErrLost) || errors.Is(s.Err(), os.ErrNotExist) })
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	until(t, "a look at it", func() bool { return errors.Is(s.Err(), ErrOther) })
	if files, _ := os.ReadDir(path); len(files) != 0 {
		t.Errorf("got %d files in the other directory", len(files))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	until(t, "recovery", func() bool { return s.Err() == nil && s.volume.Load() != nil })
	filled(t, s)
	holds(t, s, 1, 1, 1000)
}

// What cannot be written to is read.
func TestAReadOnlyDirectoryIsRead(t *testing.T) {
	var f faulty
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes})
	store(t, s, 1, 1, 1000)
	s.Close()
	f.set(func(c device.Call) error {
		if c.Op.Writes() {
			return syscall.EROFS
		}
		return nil
	})
	s = open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook, every: soon})
	filled(t, s)
	holds(t, s, 1, 1, 1000)
	if err := s.Put(1, keyOf(1), nil, nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
	if st := s.Stats(); st.Failures != 0 || st.ReadOnly != 1 {
		t.Errorf("got %+v", st)
	}
}

// Where nothing can be punched out, large records go with their segments, and the bound holds.
func TestWithoutPunching(t *testing.T) {
	var f faulty
	f.set(func(c device.Call) error {
		if c.Op == device.Punch {
			return syscall.EOPNOTSUPP
		}
		return nil
	})
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes, Hook: f.hook})
	for n := range 400 {
		store(t, s, n, 1, n%9*12_000)
		if n%10 == 0 {
			settle(t, s)
			get(t, s, n-5)
		}
	}
	settle(t, s)
	st := s.Stats()
	if got := onDisk(t, path); got > MinBytes || st.Punches || st.EvictedLarge == 0 || st.Bytes < MinBytes/2 {
		t.Errorf("%d bytes on the disk, %+v", got, st)
	}
	holds(t, s, 399, 1, 399%9*12_000)
}

// A body that is being read stays what it is, though its record is evicted meanwhile.
func TestWhatIsReadIsNotPunchedOut(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), MaxBytes: MinBytes}) // no file is lent where there is no page cache to write past
	store(t, s, 1, 1, 200_000)
	settle(t, s)
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) {
		t.Fatal("not found")
	}
	f, offset, ok := h.File()
	if !ok || offset%4096 != 0 {
		t.Errorf("file: got offset %d, %v, want one on a page", offset, ok)
	}
	s.Remove(hashOf(keyOf(1)))
	for n := 2; n < 200; n++ {
		store(t, s, n, 1, 60_000)
		if n%20 == 0 {
			settle(t, s)
		}
	}
	lacks(t, s, 1)
	body := make([]byte, h.Size())
	if _, err := f.ReadAt(body, offset); err != nil || string(body) != string(bodyOf(1, 1, 200_000)) {
		t.Errorf("by the file: %v, or other bytes", err)
	}
	if _, err := h.ReadAt(body, 0); err != nil || string(body) != string(bodyOf(1, 1, 200_000)) {
		t.Errorf("by ReadAt: %v, or other bytes", err)
	}
}

// A record that waited for its reader was counted out twice, once as one that waits and once when the hand came to it: the
// directory grew beyond its bound by as much.
func TestARecordThatWaitedForItsReaderWasFreedTwice(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path, MaxBytes: MinBytes})
	for n := range 5 { // four are a segment, which is sealed for the fifth
		store(t, s, n+1, 1, 60_000)
		settle(t, s)
	}
	holds(t, s, 2, 1, 60_000) // so that the segment stays
	var h Hit
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) {
		t.Fatal("not found")
	}
	s.Remove(hashOf(keyOf(1)))
	settle(t, s)
	h.Close()
	for n := 6; n < 100; n++ {
		store(t, s, n, 1, 60_000)
		settle(t, s)
		if used, there := s.Stats().Bytes, onDisk(t, path); used < there {
			t.Fatalf("after %d records: %d bytes are counted, %d are on the disk", n, used, there)
		}
	}
}

// TestWhatIsReadForLongWaitedOnceMoreWithEachLap: a record that a slow client is sent waits to be freed, once, however often the hand goes over it.
func TestWhatIsReadForLongWaitedOnceMoreWithEachLap(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), MaxBytes: MinBytes})
	store(t, s, 0, 1, 100_000)
	settle(t, s)
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(0)), keyOf(0), &h) {
		t.Fatal("not found")
	}
	for n := range 400 { // ten times as much as there is room for
		store(t, s, n+1, 1, 100_000)
		settle(t, s)
	}
	lacks(t, s, 0)
	v, waiting := s.volume.Load(), 0
	if err := v.wait(v.queue.ask(func() error { waiting = len(v.writer.limbo); return nil }), nil); err != nil {
		t.Fatal(err)
	}
	if waiting != 1 {
		t.Errorf("it waits %d times, want once", waiting)
	}
}
