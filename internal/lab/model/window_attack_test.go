package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// Two requests a second for new large objects, and 600 for one small object that is stored, shrank the window to a third of a
// second. So an object of the other clients was remembered only if it was requested again at once. On a cold cache hardly anything
// was stored then, and the sizes of the large objects, which are held back, went on counting.
func TestAFewRequestsOfAStrangerShrankTheWindow(t *testing.T) {
	const (
		popular, seconds = 300, 200
		honest, same     = 10, 600 // a second
		large            = 2       // a second
	)
	rng := rand.New(rand.NewPCG(1, 2))
	objects := make([]trace.Object, popular+1+seconds*large)
	for i := range objects {
		objects[i].Hi, objects[i].Lo = hash(uint64(i))
		if objects[i].Size = 18<<10 + rng.Int64N(4<<10); i > popular {
			objects[i].Size = 8 << 20
		}
	}
	s := Setting{
		Rule: admission.Rule{Policy: admission.SecondHit}, Generations: 2, Fitted: true, FalsePositiveRate: 0.01,
		CapacityBytes: 256 << 20, Eviction: LRU,
	}
	hits := func(attack bool) float64 {
		r, rng, next := newRun(t, s, objects), rand.New(rand.NewPCG(3, 4)), uint32(popular+1)
		hits := 0
		for range seconds {
			for n := range honest {
				i := uint32(popular * math.Pow(rng.Float64(), 2))
				if r.Request(trace.Access{Object: i}) == Hit {
					hits++
				}
				for range same / honest {
					if attack {
						r.Request(trace.Access{Object: popular})
					}
				}
				if attack && n%(honest/large) == 0 {
					r.Request(trace.Access{Object: next})
					next++
				}
			}
		}
		return 100 * float64(hits) / (seconds * honest)
	}
	testkit.Plain(t, "it is one goroutine")
	without, with := hits(false), hits(true)
	t.Logf("honest clients hit %.1f %% without the attack, and %.1f %% with it", without, with)
	if with < without-1 {
		t.Errorf("honest clients hit %.1f %% without the attack, and %.1f %% with it", without, with)
	}
}
