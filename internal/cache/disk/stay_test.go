package disk

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

const inDemand = 200 // keys: some segments of the shortest length, of records of 4,000 bytes

// wanted asks for keys from to below to.
func wanted(t *testing.T, s *Store, from, to int) (found int) {
	t.Helper()
	var h Hit
	defer h.Close()
	for n := from; n < to; n++ {
		if s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
			found++
		}
	}
	return found
}

// there returns how many of the keys below inDemand the index has. It is no hit.
func there(s *Store) (found int) {
	for k := range inDemand {
		if s.volume.Load().index.Has(hashOf(keyOf(k))) {
			found++
		}
	}
	return found
}

// untilStored stores records that nobody asks for, from key n on, until done says so. It returns the next key.
func untilStored(t *testing.T, s *Store, n int, done func() bool) int {
	t.Helper()
	for from := n; !done(); n++ {
		if n-from > 100_000 {
			t.Fatalf("it does not come to that: %+v", s.Stats())
		}
		store(t, s, n, 1, 4000)
		if n%59 == 0 {
			settle(t, s)
		}
	}
	settle(t, s)
	return n
}

// Of a segment that was wholly in demand half was lost whenever the hand came.
func TestASegmentInDemandLosesNothingAndIsNotWrittenAnew(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MeanObjectBytes: 2048})
	next := untilStored(t, s, 0, func() bool { return s.Stats().Bytes > 24<<20 })
	if found := wanted(t, s, 0, inDemand); found != inDemand {
		t.Fatalf("%d of %d are there", found, inDemand)
	}
	next = untilStored(t, s, next, func() bool { return s.Stats().Stays > 0 && s.Stats().EvictedSmall > 2000 })
	st := s.Stats()
	if found := there(s); found != inDemand || st.OverBudget != 0 {
		t.Errorf("%d of %d are left, %d of those in demand went", found, inDemand, st.OverBudget)
	}
	if st.RewriteBytes > 64*4200 { // the last segment also has records of others
		t.Errorf("%d bytes were written anew", st.RewriteBytes)
	}
	for n := range inDemand {
		holds(t, s, n, 1, 4000)
	}
	untilStored(t, s, next, func() bool { return s.Stats().EvictedSmall > 40_000 }) // five laps, and nobody asks
	if found := there(s); found != 0 || s.Stats().Bytes > s.Stats().MaxBytes {
		t.Errorf("%d are there that nobody asks for: %+v", found, s.Stats())
	}
}

// A segment that stays has room for nothing new, so one that is mostly dead goes, and what is in demand of it is written anew.
func TestASegmentThatIsMostlyDeadDoesNotStay(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MeanObjectBytes: 2048})
	next := untilStored(t, s, 0, func() bool { return s.Stats().Bytes > 24<<20 })
	v, kept := s.volume.Load(), map[int]bool{}
	for n := range inDemand {
		at := v.index.Find(hashOf(keyOf(n)), nil)[0]
		if seg := v.segments.slots[at.Segment].Load(); seg.number > 1 {
			break
		}
		if n%20 < 11 { // so two fifths of the segment are in demand, and less than half of what was written
			s.Remove(hashOf(keyOf(n)))
		} else {
			kept[n] = wanted(t, s, n, n+1) == 1
		}
	}
	untilStored(t, s, next, func() bool { return s.Stats().EvictedSmall > 1000 })
	st := s.Stats()
	if st.Stays != 0 || st.RewriteBytes < int64(len(kept))*4000 || st.OverBudget != 0 {
		t.Errorf("%d records are in demand, and got %+v", len(kept), st)
	}
	for n, there := range kept {
		if there {
			holds(t, s, n, 1, 4000)
		}
	}
}

// A start knows no hits, and what has stayed is in the oldest files. By their numbers it went first.
func TestASegmentThatHasStayedIsNotTheFirstToGoAfterAStart(t *testing.T) {
	var ahead atomic.Int64 // how far ahead of the system's clock
	o := Options{Path: quickDir(t), MeanObjectBytes: 2048, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
	s := open(t, o)
	next := untilStored(t, s, 0, func() bool { return s.Stats().Bytes > 24<<20 })
	wanted(t, s, 0, inDemand)
	ahead.Store(int64(time.Hour))
	next = untilStored(t, s, next, func() bool { return s.Stats().Stays >= 2 })
	s.Close()
	s = open(t, o)
	filled(t, s)
	before := there(s)
	untilStored(t, s, next, func() bool { return s.Stats().EvictedSmall > 3000 })
	if after := there(s); after < before*8/10 || before < 100 {
		t.Errorf("%d of %d that had stayed are left", after, before)
	}
}

// The hand makes room whatever is in demand of small records: also where all of them are, each time that it comes. Sizes, removals
// and what is asked for are made up.
func TestTheHandMakesRoomWhateverIsInDemand(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			share := []float64{1, 1, 0.9, 0.5}[seed%4] // share of the keys in demand
			large := []float64{0, 0.02, 0.1}[seed%3]   // share of large records
			var v atomic.Pointer[volume]
			var mu sync.Mutex
			hashes := map[uint64]bool{}
			stays, most := 0, 0 // without room being made
			hook := func(c device.Call) error {
				mu.Lock()
				defer mu.Unlock()
				switch now := v.Load(); {
				case now == nil:
				case c.Op == device.Touch:
					stays++
					most = max(most, stays)
				case c.Op == device.Remove || c.Op == device.Punch:
					stays = 0
				case c.Op == device.Read: // a footer is read before the hand asks the index
					for h := range hashes {
						now.reader.touch(h)
					}
				}
				return nil
			}
			s := open(t, Options{Path: quickDir(t), MaxBytes: 8 << 20, MeanObjectBytes: 2048, Hook: hook})
			v.Store(s.volume.Load())
			for n := range 2500 {
				length := 500 + rng.IntN(6000)
				if rng.Float64() < large {
					length = 33_000 + rng.IntN(200_000)
				}
				if length < layout.LargeFrom && rng.Float64() < share {
					mu.Lock()
					hashes[hashOf(keyOf(n))] = true
					mu.Unlock()
				}
				store(t, s, n, 1, length)
				if n > 50 && rng.IntN(5) == 0 {
					gone := hashOf(keyOf(n - rng.IntN(50)))
					s.Remove(gone)
					mu.Lock()
					delete(hashes, gone)
					mu.Unlock()
				}
				if n%100 == 99 {
					settle(t, s)
					store(t, s, n, 2, 3000)
					settle(t, s)
					if _, _, ok := get(t, s, n); !ok {
						t.Fatalf("key %d: what was stored last is not there: %+v", n, s.Stats())
					}
				}
			}
			settle(t, s)
			st := s.Stats()
			if st.Full+st.Dropped+st.Failures+st.Damaged != 0 || st.Bytes > st.MaxBytes || st.EvictedSmall+st.EvictedLarge == 0 {
				t.Errorf("got %+v", st)
			}
			mu.Lock()
			defer mu.Unlock()
			if most > stayMost || share == 1 && st.Stays == 0 {
				t.Errorf("%d segments stayed, %d of them without room being made, want %d at most", st.Stays, most, stayMost)
			}
		})
	}
}

// What is left of a segment is written anew late, to write little, but not where files get too many.
func TestSegmentsAreWrittenAnewEarlierWhereThereAreTooMany(t *testing.T) {
	f := func(maxBytes int64, files int, want float64) {
		t.Helper()
		g := segments{maxBytes: maxBytes, segmentBytes: 64 << 20, files: files}
		if got := g.sparseLocked(); got != want {
			t.Errorf("%d segments of a store of %d bytes: got %v, want %v", files, maxBytes, got, want)
		}
	}
	f(64<<30, 1024, sparseShare)
	f(64<<30, 3*1024, sparseShare)
	f(64<<30, 3*1024+1, crowdedShare)
	f(2<<40, slotCount/2, sparseShare)
	f(2<<40, slotCount/2+1, crowdedShare)
}

// A look-up that read the index just before a record moved to another segment found nothing at the old place. So what is asked for most often was
// fetched anew now and then.
func TestARecordIsFoundWhileItMoves(t *testing.T) {
	const hot, moves = 50, 500
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, MeanObjectBytes: 500})
	for n := range hot {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var h Hit
			defer h.Close()
			for n := 0; ; n = (n + 1) % hot {
				select {
				case <-stop:
					return
				default:
				}
				if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
					t.Errorf("key %d: not found after %d moves", n, s.Stats().Rewrites)
					return
				}
			}
		})
	}
	for n := 1000; s.Stats().Rewrites < moves; n++ {
		store(t, s, n, 1, 1000)
		if n%100 == 0 {
			settle(t, s)
			for n := range hot {
				s.Touch(hashOf(keyOf(n)))
			}
		}
	}
	close(stop)
	readers.Wait()
}
