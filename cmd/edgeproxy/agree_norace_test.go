//go:build !race

package main

import (
	"math"
	"testing"

	"edgeproxy/config"
	"edgeproxy/internal/testkit"
	"edgeproxy/internal/trace"
)

// Real requests take too long under the race detector, and Ristretto drops the
// look-ups that it samples there, and with them all it knows.

func TestProxyStoresExactlyWhatSimulateForetellsOfRealRequests(t *testing.T) {
	f := func(log string, limit int64, keys int) {
		t.Helper()
		t.Run(log, func(t *testing.T) { storesExactly(t, readSequence(t, testkit.Trace(t, log), limit), keys) })
	}
	f("adaptsize.tr", 20_000, 1840)
	f("nasa-1995-08-01.tsv", 0, 100)
}

func TestSimulateGivesTheVerdictOfTheProxyOnEveryRealRequest(t *testing.T) {
	f := func(log string, limit int64) {
		t.Helper()
		t.Run(log, func(t *testing.T) { sameVerdicts(t, readSequence(t, testkit.Trace(t, log), limit)) })
	}
	f("adaptsize.tr", 30_000)
	f("nasa-1995-08-01.tsv", 0)
}

// The proxy's own eviction goes by chance, so the means have to agree, at 5 % of
// the unique bytes and with filters as they are used. Many small objects vary
// less, and show whether the reckoning has all that the proxy does: key and
// header take memory, and look-ups are what Ristretto judges by.
func TestProxyAndSimulateAgreeWhereRistrettoEvicts(t *testing.T) {
	f := func(name string, tolerance float64, read func(t *testing.T) *sequence) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			seq := read(t)
			log := seq.file(t)
			for _, policy := range []config.Policy{config.PolicySecondHit, config.PolicyAlways} {
				t.Run(string(policy), func(t *testing.T) { sameMeans(t, policy, seq, log, tolerance) })
			}
		})
	}
	f("small objects", 0.03, func(t *testing.T) *sequence {
		return readSequence(t, "zipf:objects=3000,requests=8000,size=lognormal:1KiB:1:16KiB", 0)
	})
	f("adaptsize.tr", 0.05, func(t *testing.T) *sequence { return readSequence(t, testkit.Trace(t, "adaptsize.tr"), 20_000) })
}

// sameMeans compares the means of some replays and as many simulations.
func sameMeans(t *testing.T, policy config.Policy, seq *sequence, log string, tolerance float64) {
	t.Helper()
	const runs = 5
	s := setup{policy: policy, rate: 0.01, capacity: seq.unique / 20}
	s.maxObject = s.capacity / 4
	s.keys = max(seq.cached(s.capacity), 1024) // the model makes no smaller filter
	var proxied, simulated tally
	for range runs {
		r := startReplay(t, &s, seq)
		r.run(func(int, trace.Access, answer) {})
		proxied.add(r.tally())
		simulated.add(foretold(t, log, &s, "--eviction", "ristretto"))
	}
	near := func(what string, got, want int64) {
		t.Helper()
		off := float64(want)/float64(got) - 1
		t.Logf("%s: %d of the proxy, %d of simulate, %+.1f %%", what, got/runs, want/runs, 100*off)
		if math.Abs(off) > tolerance {
			t.Errorf("%s: got %d on average of %d runs, and %d of simulate: want them within %.0f %%", what, got/runs, runs, want/runs, 100*tolerance)
		}
	}
	near("stores", proxied.Writes, simulated.Writes)
	near("bytes stored", proxied.WriteBytes, simulated.WriteBytes)
	near("hits", proxied.Hits, simulated.Hits)
}

// add adds what sameMeans looks at.
func (y *tally) add(o tally) {
	y.Writes += o.Writes
	y.WriteBytes += o.WriteBytes
	y.Hits += o.Hits
}
