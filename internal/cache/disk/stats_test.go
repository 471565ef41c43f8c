package disk

import (
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/evicted"
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

// A record that was hit once is not taken for one that never was: neither after laps in which nobody asked for it, nor where it
// was written anew, nor if it was hit before it was written.
func TestEvictionsSayWhetherARecordWasEverHit(t *testing.T) {
	f := func(kind string, length, records int, class evicted.Class) {
		t.Run(kind, func(t *testing.T) {
			s := open(t, Options{Path: quickDir(t), MeanObjectBytes: 2048})
			hit := make([]bool, records)
			for n := range records {
				store(t, s, n, 0, length)
				switch {
				case n%10 == 0: // mostly before it is written
					hit[n] = wanted(t, s, n, n+1) == 1
				case n%59 == 0:
					settle(t, s)
					from := n - 20 // some in a row, so that segments stay
					for k := from; n%118 == 0 && k < from+20; k++ {
						hit[k] = wanted(t, s, k, k+1) == 1 || hit[k]
					}
				}
			}
			settle(t, s)
			var want [2]int64 // never hit, hit
			for n, was := range hit {
				switch has := s.volume.Load().index.Has(hashOf(keyOf(n))); {
				case has:
				case was:
					want[1]++
				default:
					want[0]++
				}
			}
			st := s.Stats()
			if st.Full+st.Dropped+st.Lost+st.Damaged+st.Failures != 0 || st.MemoryHits == 0 || st.Rewrites+st.Stays+st.EvictedLarge == 0 {
				t.Fatalf("it shows nothing: %+v", st)
			}
			all, neverHit := st.Evicted.Sum()
			if all.Objects != st.EvictedSmall+st.EvictedLarge || all.Bytes != st.EvictedBytes {
				t.Errorf("got %+v by size, want the %d and %d of %d bytes that were evicted", all, st.EvictedSmall, st.EvictedLarge, st.EvictedBytes)
			}
			if got := [2]int64{neverHit.Objects, all.Objects - neverHit.Objects}; got != want || want[0] < 100 || want[1] < 100 {
				t.Errorf("got %d never hit and %d hit, want %d and %d", got[0], got[1], want[0], want[1])
			}
			if got := st.Evicted.All(class); got != all {
				t.Errorf("class %v: got %+v, want %+v", class, got, all)
			}
		})
	}
	f("small", 3000, 30_000, evicted.ClassOf(4<<10))
	f("large", layout.LargeFrom+1000, 4000, evicted.ClassOf(64<<10))
}

// The part that was hit is read from the index: of few records from each, of many from some.
func TestThePartOfTheRecordsThatWasHit(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MeanObjectBytes: 2048})
	if got := s.HitPart(); got != (HitPart{}) {
		t.Errorf("empty: got %+v", got)
	}
	const records = 1000
	for n := range records {
		store(t, s, n, 0, 3000)
	}
	settle(t, s)
	if got := s.HitPart(); got != (HitPart{Sampled: records}) {
		t.Errorf("nothing was hit: got %+v", got)
	}
	wanted(t, s, 0, 250)
	wanted(t, s, 0, 100) // again
	got, all := s.HitPart(), s.Stats().LiveBytes
	if got.Objects != 250 || got.Sampled != records || got.Bytes != all/4 {
		t.Errorf("got %+v, want a quarter of %d and of %d bytes", got, records, all)
	}
	g := Group{stores: []*Store{s, s}}
	if sum := g.HitPart(); sum != (HitPart{2 * got.Objects, 2 * got.Bytes, 2 * got.Sampled}) {
		t.Errorf("twice the same: got %+v", sum)
	}
	s.Close()
	if got := s.HitPart(); got != (HitPart{}) {
		t.Errorf("closed: got %+v", got)
	}
}

// What is evicted has lain since its segment was written, also where another process has written it.
func TestHowLongEvictedRecordsHadLain(t *testing.T) {
	f := func(name string, length int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			var ahead atomic.Int64 // how far ahead of the system's clock
			o := Options{Path: path, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
			s := open(t, o)
			n := 0
			more := func() {
				store(t, s, n, 0, length)
				n++
				if err := s.Flush(); err != nil { // nothing runs when the clock is moved
					t.Fatal(err)
				}
			}
			evicts := func(least, most time.Duration) {
				t.Helper()
				before := s.Stats()
				for now := before; now.EvictedSmall+now.EvictedLarge == before.EvictedSmall+before.EvictedLarge; now = s.Stats() {
					if more(); n > 100_000 {
						t.Fatal("nothing is evicted")
					}
				}
				if got := time.Duration(s.Stats().EvictedAge * float64(time.Second)); got < least || got > most {
					t.Errorf("got %v, want %v to %v", got, least, most)
				}
			}
			for s.Stats().Bytes < 24<<20 {
				more()
			}
			if got := s.Stats().EvictedAge; got != 0 {
				t.Errorf("nothing was evicted: got %v s", got)
			}
			ahead.Store(int64(time.Hour))
			evicts(time.Hour, 2*time.Hour)
			s.Close()
			ahead.Store(int64(9 * time.Hour))
			s = open(t, o)
			for s.Stats().Unfilled > 0 {
				more()
			}
			evicts(8*time.Hour, 10*time.Hour)
		})
	}
	f("small", 200_000)
	f("large", layout.LargeFrom+1000)
}
