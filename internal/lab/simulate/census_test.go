package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/lab/trace"
)

// at makes requests for objects at so many seconds.
func at(pairs ...int64) (out []trace.Access) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, trace.Access{At: 1e18 + pairs[i]*int64(time.Second), Object: uint32(pairs[i+1])})
	}
	return out
}

func TestCensusCountsTheKeysOfAPeriod(t *testing.T) {
	f := func(name string, rule Rotation, requests []trace.Access, wantMean, wantPeak int64) {
		t.Helper()
		c := &census{rule: rule, last: make([]uint32, 10)}
		c.replay(requests[:len(requests)/2])
		c.replay(requests[len(requests)/2:])
		if c.mean() != wantMean || c.peak != wantPeak {
			t.Errorf("%s: got mean %d, peak %d, want %d and %d", name, c.mean(), c.peak, wantMean, wantPeak)
		}
	}
	minute, three := Rotation{Unit: ByTime, Every: time.Minute}, Rotation{Unit: ByRequests, Count: 3}

	f("nothing", minute, nil, 0, 0)
	f("one period that has not ended", minute, at(0, 1, 10, 2, 59, 1), 2, 2)
	f("a period ends after its time", minute, at(0, 1, 59, 2, 60, 1), 2, 2)
	f("periods follow each other, whenever the requests come", minute, at(0, 1, 70, 1, 119, 2, 120, 3), 2, 2) // 1, then 2 keys; 1.5 is 2
	f("empty periods do not count", minute, at(0, 1, 1, 2, 7200, 1, 7201, 2, 9000, 1), 2, 2)
	f("the last period may be the busiest", minute, at(0, 1, 60, 1, 61, 2, 62, 3), 1, 3)
	f("requests, times are of no matter", three, at(0, 1, 0, 1, 0, 1, 0, 1, 0, 2, 0, 3, 0, 4), 2, 3)
}

// The filter of a rule by time must hold what the model's own window holds, or
// it would rotate by fill where the proxy would too, but unsaid.
func TestCensusAgreesWithCountingByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var requests []trace.Access
	now := int64(1e18)
	for range 3000 {
		now += rng.Int64N(int64(40 * time.Second))
		requests = append(requests, trace.Access{At: now, Object: uint32(rng.IntN(60))})
	}
	every := int64(10 * time.Minute)
	keys := map[int64]map[uint32]bool{}
	for _, a := range requests {
		period := (a.At - requests[0].At) / every
		if keys[period] == nil {
			keys[period] = map[uint32]bool{}
		}
		keys[period][a.Object] = true
	}
	peak := 0
	for _, k := range keys {
		peak = max(peak, len(k))
	}
	c := &census{rule: Rotation{Unit: ByTime, Every: time.Duration(every)}, last: make([]uint32, 60)}
	c.replay(requests)
	if int(c.peak) != peak || int(c.whole) != len(keys)-1 {
		t.Errorf("got peak %d after %d periods, want %d after %d", c.peak, c.whole, peak, len(keys)-1)
	}
}

func TestCensusLivesThroughAllItsNumbers(t *testing.T) {
	c := &census{rule: Rotation{Unit: ByRequests, Count: 2}, last: make([]uint32, 3)}
	c.replay(at(0, 0, 0, 1))
	c.period = math.MaxUint32 // so many periods may have ended
	c.last[0], c.last[1] = c.period, c.period
	c.replay(at(0, 0, 0, 0, 0, 2))
	if c.period != 2 || c.peak != 2 || c.keys != 1 || c.sum != 3 {
		t.Errorf("got period %d, peak %d, %d keys, sum %d, want 2, 2, 1 and 3", c.period, c.peak, c.keys, c.sum)
	}
}

func TestRoomyIsAboveTheBusiestPeriod(t *testing.T) {
	f := func(peak, want int64) {
		t.Helper()
		if got := (&census{peak: peak}).peakWithHeadroom(); got != want {
			t.Errorf("%d keys: got %d, want %d", peak, got, want)
		}
	}
	f(0, 100)
	f(89, 100)
	f(1000, 1101)
	f(2_000_000_000, 1_000_000_000)
}
