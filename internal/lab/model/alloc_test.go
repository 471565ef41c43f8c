package model

import (
	"fmt"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/test/testkit"
)

func TestRequestOfTwoTiersDoesNotAllocate(t *testing.T) {
	testkit.Plain(t, "it counts allocations")
	objects, accesses := madeUpForDisk(2, 10_000)
	for _, p := range []admission.Policy{admission.Always, admission.SecondHit} {
		s := onDiskToo()
		s.Policy = p
		r := newRun(t, s, objects)
		n := 0
		if got := testing.AllocsPerRun(9000, func() {
			r.Request(accesses[n])
			n++
		}); got != 0 {
			t.Errorf("%s: got %v allocations for a request, want 0", p, got)
		}
	}
}

// A request costs no allocation, so that a trace of any length runs in the memory
// of its objects. What the filter's fill foretells is read once in 256 unseen
// keys and is not counted here, as the mean is rounded down.
func TestRequestDoesNotAllocate(t *testing.T) {
	testkit.Plain(t, "it counts allocations")
	objects, accesses := madeUp(2, 2000, 10_000)
	for _, e := range exactEvictions() {
		for _, p := range []admission.Policy{admission.Always, admission.SecondHit, admission.Counting} {
			t.Run(fmt.Sprintf("%s/%s", e, p), func(t *testing.T) {
				s := exactSecondHit(uniqueBytes(objects) / 10)
				s.Policy, s.MoreThan, s.Eviction, s.StageBytes = p, 3, e, s.CapacityBytes/10
				s.RotateRequests, s.RotateKeys, s.Exact, s.FalsePositiveRate = 0, 1000, false, 0.01
				r := newRun(t, s, objects)
				n := 0
				if got := testing.AllocsPerRun(2000, func() {
					r.Request(accesses[n])
					r.Requests(accesses[n+1 : n+3])
					n += 3
				}); got != 0 {
					t.Errorf("got %v allocations for three requests, want 0", got)
				}
			})
		}
	}
}
