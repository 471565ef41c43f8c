package disk

import (
	"errors"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/device"
)

func TestEachComesToEveryRecord(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for n := range 50 {
		store(t, s, n, 1, n*3000)
	}
	s.Close()
	s = open(t, Options{Path: path})
	seen := map[string]int64{}
	if err := s.Each(func(i *Item) bool {
		seen[string(i.Key)] = i.BodyBytes
		if string(i.Key) == string(keyOf(7)) {
			i.Remove()
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		if got, ok := seen[string(keyOf(n))]; !ok || got != int64(n*3000) {
			t.Errorf("key %d: got %d, %v", n, got, ok)
		}
	}
	lacks(t, s, 7)
	if err := s.Each(func(*Item) bool { seen["calls"]++; return false }); err != nil || seen["calls"] != 1 {
		t.Errorf("stopped: got %d calls, %v", seen["calls"], err)
	}
}

// What waited to be written, and what lay in a segment that was not sealed, was left out: a sweep of purges would have dropped the marks of
// what it had not seen.
func TestEachComesToWhatIsNotSealed(t *testing.T) {
	var f faulty
	s := open(t, Options{Path: quickDir(t), Hook: f.hook})
	store(t, s, 1, 1, 100)
	store(t, s, 2, 1, 50_000)
	settle(t, s)
	answer, stuck := make(chan struct{}), make(chan struct{}, 1)
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
	store(t, s, 3, 1, 2<<20)
	<-stuck
	store(t, s, 4, 1, 100)
	seen := map[string]int{}
	waiting := 2
	if err := s.Each(func(i *Item) bool {
		seen[string(i.Key)]++
		if i.Segment == 0 {
			if string(i.Key) == string(keyOf(4)) {
				i.Remove()
			}
			if waiting--; waiting == 0 {
				f.set(func(device.Call) error { return nil })
				close(answer)
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 4; n++ {
		if seen[string(keyOf(n))] == 0 {
			t.Errorf("key %d: not seen", n)
		}
	}
	lacks(t, s, 4)
	holds(t, s, 3, 1, 2<<20)
}

// A record that moves from a segment which Each has not come to yet is seen where it moves to.
func TestEachComesToWhatMoves(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), MaxBytes: MinBytes, MeanObjectBytes: 500})
	const hot = 60 // a quarter of a segment, which does not stay for them
	for n := range 2000 {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	touch := func() {
		for n := range hot {
			s.Touch(hashOf(keyOf(n)))
		}
	}
	touch()
	seen := map[string]bool{}
	churned := false
	rewrites := s.Stats().Rewrites
	if err := s.Each(func(i *Item) bool {
		if !churned { // before this one counts as seen
			churned = true
			for n := 10_000; n < 16_000; n++ {
				store(t, s, n, 1, 1000)
				if n%100 == 0 {
					settle(t, s)
					touch()
				}
			}
			settle(t, s)
			return true
		}
		seen[string(i.Key)] = true
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if s.Stats().Rewrites-rewrites < hot {
		t.Fatalf("%d records have moved: the test shows nothing", s.Stats().Rewrites-rewrites)
	}
	for n := 1; n < hot; n++ {
		if _, _, ok := get(t, s, n); ok && !seen[string(keyOf(n))] {
			t.Errorf("key %d is there, and was not seen", n)
		}
	}
	holds(t, s, 50, 1, 1000)
}

func TestEachKeepsToItsRate(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), SweepRate: 1 << 20})
	for n := range 100 {
		store(t, s, n, 1, 4096)
	}
	settle(t, s)
	began := time.Now()
	if err := s.Each(func(*Item) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("it took %v for 400 KiB at 1 MiB a second", took)
	}
}

func TestEachEndsWithTheStore(t *testing.T) {
	s := open(t, Options{Path: quickDir(t), SweepRate: 1})
	for n := range 10 {
		store(t, s, n, 1, 4096)
	}
	settle(t, s)
	visits := make(chan error, 1)
	go func() { visits <- s.Each(func(*Item) bool { return true }) }()
	s.Close()
	if err := <-visits; !errors.Is(err, ErrOff) {
		t.Errorf("got %v, want ErrOff", err)
	}
}
