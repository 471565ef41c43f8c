package edge

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// Real requests take too long under the race detector, and Ristretto drops the
// look-ups that it samples there, and with them all it knows.

func TestProxyStoresExactlyWhatSimulateForetellsOfRealRequests(t *testing.T) {
	testkit.Slow(t, "it replays tens of thousands of requests")
	testkit.Plain(t, "real requests take minutes under the detector")
	f := func(log string, limit int64, keys int) {
		t.Helper()
		t.Run(log, func(t *testing.T) { storesExactly(t, readSequence(t, testkit.Trace(t, log), limit), keys) })
	}
	f("adaptsize.tr", 20_000, 1840)
	f("nasa-1995-08-01.tsv", 0, 100)
}

func TestSimulateGivesTheVerdictOfTheProxyOnEveryRealRequest(t *testing.T) {
	testkit.Slow(t, "it replays tens of thousands of requests")
	testkit.Plain(t, "real requests take minutes under the detector")
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
	testkit.Slow(t, "it takes the means of many replays")
	testkit.Plain(t, "Ristretto drops look-ups under the detector, and with them all it knows")
	f := func(name string, tolerance float64, read func(t *testing.T) *sequence) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			seq := read(t)
			log := seq.file(t)
			for _, policy := range []policy.Policy{policy.SecondHit, policy.Always} {
				t.Run(policy.String(), func(t *testing.T) { sameMeans(t, policy, seq, log, tolerance) })
			}
		})
	}
	f("small objects", 0.03, func(t *testing.T) *sequence {
		return readSequence(t, "zipf:objects=3000,requests=8000,size=lognormal:1KiB:1:16KiB", 0)
	})
	f("adaptsize.tr", 0.05, func(t *testing.T) *sequence { return readSequence(t, testkit.Trace(t, "adaptsize.tr"), 20_000) })
}

// sameMeans compares the means of some replays and as many simulations. A busy machine makes them vary more, for Ristretto
// evicts in a goroutine of its own: where five are not near enough, up to fifteen are.
func sameMeans(t *testing.T, policy policy.Policy, seq *sequence, log string, tolerance float64) {
	t.Helper()
	const runs, rounds = 5, 3
	s := setup{policy: policy, rate: 0.01, capacity: seq.unique / 20, eviction: cache.Ristretto}
	s.maxObject = s.capacity / 4
	s.keys = max(seq.cached(s.capacity), 1024) // the model makes no smaller filter
	var proxied, simulated tally
	for round := 1; round <= rounds; round++ {
		for range runs {
			r := startReplay(t, &s, seq)
			r.run(func(int, trace.Access, answer) {})
			proxied.add(r.tally())
			simulated.add(foretold(t, log, &s))
		}
		near := true
		for _, c := range []struct {
			what      string
			got, want int64
		}{
			{"stores", proxied.Writes, simulated.Writes},
			{"bytes stored", proxied.WriteBytes, simulated.WriteBytes},
			{"hits", proxied.Hits, simulated.Hits},
		} {
			off, n := float64(c.want)/float64(c.got)-1, int64(round*runs)
			t.Logf("%s: %d of the proxy, %d of simulate, %+.1f %%, on average of %d runs", c.what, c.got/n, c.want/n, 100*off, n)
			near = near && math.Abs(off) <= tolerance
		}
		if near {
			return
		}
	}
	t.Errorf("want the means within %.0f %%", 100*tolerance)
}

// add adds what sameMeans looks at.
func (y *tally) add(o tally) {
	y.Writes += o.Writes
	y.WriteBytes += o.WriteBytes
	y.Hits += o.Hits
}

// The ranking of size-aware is the same in the proxy and in simulate. What differs is the bytes of heads, the keys that
// filters with other seeds take for one, and the moment at which a body lands beside the next request. So the means have to agree.
func TestProxyAndSimulateAgreeWhereSizeAwareEvicts(t *testing.T) {
	testkit.Slow(t, "it takes the means of many replays")
	testkit.Plain(t, "real requests take minutes under the detector")
	f := func(log string, limit int64) {
		t.Helper()
		if !strings.Contains(log, ":") {
			log = testkit.Trace(t, log)
		}
		seq := readSequence(t, log, limit)
		for _, stage := range []int64{0, 10} {
			s := setup{policy: policy.SecondHit, rate: 0.01, capacity: seq.unique / 20, eviction: cache.SizeAware}
			s.stage = s.capacity * stage / 100
			s.maxObject = (s.capacity - s.stage) / 4
			t.Run(fmt.Sprintf("%s, stage %d %%", filepath.Base(log), stage), func(t *testing.T) { sameRanking(t, &s, seq) })
		}
	}
	f("adaptsize.tr", 30_000)
	f("nasa-1995-08-01.tsv", 0)
	f("apache-combined-2015.log", 0)
	f("zipf:objects=6000,requests=25000,exponent=0.85,size=lognormal:8KiB:1.3:1MiB", 0) // on which nothing was tuned
}

// sameRanking compares the means of some replays and as many simulations. Where three are not near enough, up to nine are. Both evict by chance, which goes
// by the hash of the keys: each replay has another seed, and each simulation other keys. With the same keys all simulations would be one draw: on NASA's
// requests the writes of single draws differ by up to 3 %.
func sameRanking(t *testing.T, s *setup, seq *sequence) {
	t.Helper()
	const runs, rounds = 3, 3
	var proxied, simulated tally
	for round := range rounds {
		for run := range runs {
			s.seed = uint64(runs*round + run + 1)
			r := startReplay(t, s, seq)
			r.run(func(int, trace.Access, answer) {})
			if r.evictions() == 0 {
				t.Fatal("nothing was evicted")
			}
			proxied.add(r.tally())
			simulated.add(foretold(t, seq.drawn(t, int(s.seed)), s))
			proxied.Requests += int64(len(seq.accesses))
		}
		hits := 100 * float64(proxied.Hits-simulated.Hits) / float64(proxied.Requests)
		writes := 100 * (float64(proxied.Writes)/float64(simulated.Writes) - 1)
		t.Logf("hits %.2f %%, %+.2f points; writes %+.2f %%", 100*float64(proxied.Hits)/float64(proxied.Requests), hits, writes)
		if math.Abs(hits) <= 0.3 && math.Abs(writes) <= 2 {
			return
		}
	}
	t.Error("want the means within 0.3 points of hits and 2 % of writes")
}
