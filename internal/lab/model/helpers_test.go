package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
)

// hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func hash(key uint64) (hi, lo uint64) {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	return mix(key + 0x9e3779b97f4a7c15), mix(key ^ 0x6a09e667f3bcc909)
}

// madeUp returns objects of 0 to 2,000 bytes, some of them large, and requests
// for them, the popular ones by a power law, some milliseconds apart.
func madeUp(seed uint64, objects, requests int) ([]trace.Object, []trace.Access) {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]trace.Object, objects)
	for i := range out {
		out[i].Size = rng.Int64N(2000)
		if rng.IntN(20) == 0 {
			out[i].Size *= 30
		}
		out[i].Hi, out[i].Lo = hash(seed<<32 + uint64(i))
	}
	accesses := make([]trace.Access, requests)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	for n := range accesses {
		at += rng.Int64N(int64(20 * time.Millisecond))
		i := int(math.Pow(float64(objects), rng.Float64())) - 1 // log-uniform: Zipf with exponent 1
		accesses[n] = trace.Access{Object: uint32(i), Head: rng.IntN(7) == 0, At: at}
	}
	return out, accesses
}

func uniqueBytes(objects []trace.Object) (n int64) {
	for _, o := range objects {
		n += o.Size
	}
	return n
}

// newRun returns a Run that is closed when the test ends.
func newRun(t testing.TB, s Setting, objects []trace.Object) *Run {
	t.Helper()
	r, err := New(s, objects)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// play returns what a Run of s makes of the accesses.
func play(t testing.TB, s Setting, objects []trace.Object, accesses []trace.Access) Result {
	t.Helper()
	r := newRun(t, s, objects)
	for _, a := range accesses {
		r.Request(a)
	}
	return r.Result()
}

// exactSecondHit is a setting to change from.
func exactSecondHit(capacity int64) Setting {
	return Setting{
		Rule: admission.Rule{Policy: admission.SecondHit}, Generations: 2, RotateRequests: 500, Exact: true,
		CapacityBytes: capacity, Eviction: LRU,
	}
}

// blindEvictions are the evictions that do not know the future.
func blindEvictions() []Eviction {
	return slices.DeleteFunc(Evictions(), func(e Eviction) bool { return e == Clairvoyant })
}

// exactEvictions are those of them that are the same in each run.
func exactEvictions() []Eviction { return slices.DeleteFunc(blindEvictions(), Eviction.OfTheProxy) }
