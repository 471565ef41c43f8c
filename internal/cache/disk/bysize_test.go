package disk

import (
	"testing"

	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/evicted"
)

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
