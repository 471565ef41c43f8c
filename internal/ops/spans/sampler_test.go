package spans

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSamplerDrawsItsShare(t *testing.T) {
	const n = 100_000
	drawn := func(s *Sampler) (k int) {
		for range n {
			if s.Draw() {
				k++
			}
		}
		return k
	}
	if got := drawn(NewSampler(0, 1)) + drawn(nil); got != 0 {
		t.Errorf("share 0, and none: got %d", got)
	}
	if got := drawn(NewSampler(1, 1)); got != n {
		t.Errorf("share 1: got %d of %d", got, n)
	}
	if got := drawn(NewSampler(0.1, 1)); got < n/10-700 || got > n/10+700 { // more than seven standard deviations
		t.Errorf("share 0.1: got %d of %d", got, n)
	}
}

func TestSamplerHoldsItsLimitInEachSecond(t *testing.T) {
	s := NewSampler(1, 10)
	var at atomic.Int64
	at.Store(1_700_000_000)
	second := func() (taken int64) {
		var n atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 25 {
					if s.Take(time.Unix(at.Load(), 0)) {
						n.Add(1)
					}
				}
			})
		}
		all.Wait()
		return n.Load()
	}
	for range 3 {
		if got := second(); got != 10 {
			t.Errorf("got %d in a second, want 10", got)
		}
		at.Add(1)
	}
	// A long request is looked at when it ends, with the time when it began: that brings no
	// second back.
	if s.Take(time.Unix(at.Load()-100, 0)) {
		t.Error("an old request begins a new count")
	}
}

func TestSamplerDoesNotAllocate(t *testing.T) {
	s := NewSampler(0.5, 100)
	at := time.Unix(1000, 0)
	if got := testing.AllocsPerRun(1000, func() { _ = s.Draw() && s.Take(at) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
