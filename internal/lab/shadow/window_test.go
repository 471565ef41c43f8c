package shadow

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

// watched is a filter that tells of its rotations.
type watched struct {
	filter
	rotating func(cause bloom.Cause)
}

func (w *watched) Rotate(now time.Time, cause bloom.Cause) bool {
	w.rotating(cause)
	return w.filter.Rotate(now, cause)
}

// watch has rotating called at every rotation of the only window of s.
func watch(s *Shadow, rotating func(bloom.Cause)) {
	w := s.filters.windows[0]
	w.filter = &watched{filter: w.filter, rotating: rotating}
}

// A rotation takes milliseconds on a busy processor. No other request, nor Stats, may
// wait for it, and none may begin another.
func TestARotationHoldsUpNoOtherRequest(t *testing.T) {
	f := func(name string, cause bloom.Cause, due func(s *Shadow) time.Time) {
		t.Run(name, func(t *testing.T) {
			s := newShadow(t, options(100, secondHit))
			rotations := 0
			watch(s, func(got bloom.Cause) {
				if rotations++; got != cause {
					t.Errorf("got a rotation for %v, want %v", got, cause)
				}
				if !s.mu.TryLock() {
					t.Fatal("while it rotates: got the lock held, want it free")
				}
				s.mu.Unlock()
				before := s.Stats()[0].Requests
				s.Request(unused, 1, 2, 10, true, begin.Add(time.Minute))
				if got := s.Stats()[0].Requests; got != before+1 {
					t.Errorf("while it rotates: got %d requests, want %d", got, before+1)
				}
			})
			hi, lo := hash(1 << 40)
			s.Request(unused, hi, lo, 10, true, due(s))
			if rotations != 1 {
				t.Errorf("got %d rotations, want 1", rotations)
			}
		})
	}
	f("by time", bloom.CauseTime, func(*Shadow) time.Time { return begin.Add(time.Minute) })
	f("by fill", bloom.CauseFull, func(s *Shadow) time.Time {
		for key := range uint64(99) {
			hi, lo := hash(key)
			s.Request(unused, hi, lo, 10, true, begin)
		}
		return begin
	})
}

// Requests that find a window over at the same moment rotate it once, or it would
// forget twice as fast under load.
func TestAWindowRotatesOnceHoweverManyFindItOver(t *testing.T) {
	s := newShadow(t, options(1000, moreThan2))
	var rotations atomic.Int64
	watch(s, func(bloom.Cause) { rotations.Add(1) })
	const periods, workers = 300, 4
	for period := range periods {
		now := begin.Add(time.Duration(period+1) * time.Minute)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() { s.Request(unused, 1, 2, 10, true, now) })
		}
		wg.Wait()
	}
	if got := rotations.Load(); got != periods {
		t.Errorf("got %d rotations in %d periods, want one in each", got, periods)
	}
}
