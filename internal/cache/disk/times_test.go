package disk

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestTimesAreCountedInTheirClass(t *testing.T) {
	var c timing
	f := func(took time.Duration, class int) {
		t.Helper()
		before := c.load()
		c.note(took)
		after := c.load()
		if after.Counts[class] != before.Counts[class]+1 || after.Count() != before.Count()+1 || after.Sum != before.Sum+took {
			t.Errorf("%v: got %+v after %+v, want one more in class %d", took, after, before, class)
		}
	}
	f(0, 0)
	f(50*time.Microsecond, 0)
	f(50*time.Microsecond+1, 1)
	f(10*time.Second, len(TimeBounds)-1)
	f(11*time.Second, len(TimeBounds))
}

func TestLiveBytesAreThoseOfWhatCanBeFound(t *testing.T) {
	s := open(t, Options{Path: t.TempDir()})
	want := int64(0)
	for i := range 200 {
		n := 500 * (1 + i*7%200)
		if err := s.Put(hashOf(keyOf(i)), keyOf(i), nil, bodyOf(i, 1, n)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			want += int64(n)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 200; i += 2 {
		s.Remove(hashOf(keyOf(i)))
	}
	st := s.Stats()
	if st.Objects != 100 || st.LiveBytes < want || float64(st.LiveBytes) > 1.15*float64(want) || st.LiveBytes > st.Bytes {
		t.Errorf("got %d objects of %d bytes in %d, want 100 of some more than %d", st.Objects, st.LiveBytes, st.Bytes, want)
	}
	if st.WriteTimes.Count() == 0 {
		t.Error("no write was measured")
	}
}

func TestRoomIsThatOfTheNearestDirectory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says")
	}
	here := t.TempDir()
	_, want, err := Room(here)
	if err != nil || want <= 0 {
		t.Fatalf("got %d, %v", want, err)
	}
	if free, total, err := Room(filepath.Join(here, "not", "there")); err != nil || total != want || free <= 0 || free > total {
		t.Errorf("got %d of %d free, %v, want %d in all", free, total, err, want)
	}
}
