package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// countingScraper counts up one request a look, and fails from look failAt on.
type countingScraper struct {
	takes  time.Duration
	failAt int64
	err    error
	n      int64
}

func (s *countingScraper) scrape(context.Context) (counts, error) {
	time.Sleep(s.takes)
	s.n++
	if s.failAt > 0 && s.n >= s.failAt {
		return counts{}, s.err
	}
	return counts{requests: s.n}, nil
}

func TestLooksAreBoundedInNumber(t *testing.T) {
	f := func(run time.Duration, every time.Duration, wantLooks int, wantEvery time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			m := startSampler(t.Context(), &countingScraper{}, every)
			time.Sleep(run + time.Millisecond)
			m.Close()
			if len(m.samples) != wantLooks || m.every != wantEvery || m.err != nil {
				t.Errorf("%s: got %d looks, now every %s (%v); want %d, every %s", run, len(m.samples), m.every, m.err, wantLooks, wantEvery)
			}
			for i := 1; i < len(m.samples); i++ {
				if m.samples[i].requests <= m.samples[i-1].requests {
					t.Fatalf("look %d is of before look %d", i, i-1)
				}
			}
		})
	}
	f(10*time.Second, time.Second, 10, time.Second)
	f((maxSamplesKept-1)*time.Second, time.Second, maxSamplesKept-1, time.Second)
	f(maxSamplesKept*time.Second, time.Second, maxSamplesKept/2, 2*time.Second)
	f((maxSamplesKept+10)*time.Second, time.Second, maxSamplesKept/2+5, 2*time.Second)
	f(4*maxSamplesKept*time.Second, time.Second, maxSamplesKept/2, 8*time.Second)
}

func TestLookThatFailsEndsTheLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("gone")
		m := startSampler(t.Context(), &countingScraper{failAt: 3, err: why}, time.Second)
		time.Sleep(time.Minute)
		m.Close()
		if len(m.samples) != 2 || !errors.Is(m.err, why) || m.cost.samples != 3 {
			t.Errorf("got %d looks of %d, error %v; want 2 of 3 and %v", len(m.samples), m.cost.samples, m.err, why)
		}
		r := policyRun{}
		r.keepSamples(m, counts{requests: 1})
		if len(r.samples) != 3 || r.samples[0].requests != 0 || r.samples[2].requests != 1 || len(r.warnings) != 1 {
			t.Errorf("got looks %+v, warnings %q; want zero and two since the first count, and one warning", r.samples, r.warnings)
		}
	})
}

func TestMissingMetricIsNoEndOfTheLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startSampler(t.Context(), &countingScraper{failAt: 1, err: &missingError{}}, time.Second)
		time.Sleep(3500 * time.Millisecond)
		m.Close()
		if len(m.samples) != 3 || m.err != nil {
			t.Errorf("got %d looks, error %v; want 3 and none", len(m.samples), m.err)
		}
	})
}

func TestCostOfALookIsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startSampler(t.Context(), &countingScraper{takes: 30 * time.Millisecond}, time.Second)
		time.Sleep(5500 * time.Millisecond)
		m.Close()
		if got := m.cost.mean(); got != 30*time.Millisecond || m.cost.samples != 5 {
			t.Errorf("got %d looks, %s each; want 5, 30ms", m.cost.samples, got)
		}
	})
	if got := (sampleCost{}).mean(); got != 0 {
		t.Errorf("no look: got %s, want 0s", got)
	}
}

func TestShortRunsAreLookedAtSeldom(t *testing.T) {
	f := func(planned, want time.Duration) {
		t.Helper()
		if got := sampleInterval(planned); got != want {
			t.Errorf("run of %s: got a look every %s, want %s", planned, got, want)
		}
	}
	f(0, 250*time.Millisecond)
	f(50*time.Second, 250*time.Millisecond)
	f(200*time.Second, time.Second)
}
