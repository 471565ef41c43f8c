package disk

import (
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// A store of objects shorter than its index was made for forgot all that the index had no room for, also at a start.
func TestTheIndexGrowsWithWhatIsStored(t *testing.T) {
	o := Options{Path: quickDir(t), MaxBytes: 16 << 20, every: soon} // 1024 objects
	s := open(t, o)
	const objects = 5000
	for n := range objects {
		store(t, s, n, 1, 1000)
		if n%50 == 0 {
			settle(t, s)
			until(t, "room in the index", func() bool { return s.volume.Load().index.Fits(0) })
		}
	}
	settle(t, s)
	st := s.Stats()
	if st.Objects != objects || st.IndexGrown < 2 || st.Lost != 0 {
		t.Errorf("got %+v", st)
	}
	for n := range objects {
		holds(t, s, n, 1, 1000)
	}
	s.Close()
	s = open(t, o)
	filled(t, s)
	st = s.Stats()
	if st.Objects < objects-2 || st.IndexGrown == 0 { // one of two records with the same tag is forgotten
		t.Errorf("after a restart: %+v", st)
	}
}

// There is an end to what the index may take.
func TestTheIndexDoesNotGrowForEver(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), every: soon})
	v := s.volume.Load()
	for n, length := range lengths { // into segments that are not sealed
		if n%3 == 0 {
			if err := stream(s, n, 1, length, false); err != nil {
				t.Fatal(err)
			}
		} else {
			store(t, s, n, 1, length)
		}
	}
	settle(t, s)
	for range 10 {
		v.loader.growing.Lock()
		v.loader.grow(0)
		v.loader.growing.Unlock()
	}
	for n, length := range lengths {
		holds(t, s, n, 1, length)
	}
	if got := s.Stats().IndexGrown; got != 6 || v.index.Objects() > growTo*1100 {
		t.Errorf("it has grown %d times, to room for %d objects", got, v.index.Objects())
	}
}

// The index is replaced again and again while records are put, streamed, moved, evicted and removed.
func TestTheIndexGrowsBesideAllElse(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MaxBytes: 8 << 20, MeanObjectBytes: 1000})
	v := s.volume.Load()
	var stop atomic.Bool
	var grown atomic.Int64
	var growing sync.WaitGroup
	growing.Go(func() {
		for ; !stop.Load(); grown.Add(1) {
			v.loader.growing.Lock()
			v.loader.growTo(12_000)
			v.loader.growing.Unlock()
		}
	})
	defer growing.Wait()
	defer stop.Store(true)
	const keys = 400
	version := map[int]int{} // 0: removed
	length := func(n, version int) int { return (n%7*9000 + version*37) % 50_000 }
	for step := 1; step < testkit.Times(2500, 1000); step++ {
		n := step * 7919 % keys
		switch {
		case step%11 == 0:
			s.Remove(hashOf(keyOf(n)))
			version[n] = 0
			lacks(t, s, n)
			continue
		case step%97 == 0:
			if err := stream(s, n, step, 100_000, true); err != nil {
				t.Fatal(err)
			}
			s.Remove(hashOf(keyOf(n)))
			version[n] = 0
		default:
			store(t, s, n, step, length(n, step))
			version[n] = step
		}
		if step%50 == 0 {
			was := grown.Load()
			until(t, "another growth", func() bool { return grown.Load() > was })
			settle(t, s)
			for n, version := range version {
				if version == 0 {
					lacks(t, s, n)
				} else if _, body, ok := get(t, s, n); ok && string(body) != string(bodyOf(n, version, length(n, version))) {
					t.Fatalf("step %d: key %d is not version %d", step, n, version)
				}
			}
		}
	}
	stop.Store(true)
	growing.Wait()
	settle(t, s)
	found := 0
	for n, version := range version {
		if _, _, ok := get(t, s, n); ok {
			found++
			holds(t, s, n, version, length(n, version))
		}
	}
	if st := s.Stats(); found < keys/4 || st.Damaged != 0 || st.EvictedLarge+st.EvictedSmall == 0 {
		t.Errorf("%d keys are there, %+v", found, st)
	}
}
