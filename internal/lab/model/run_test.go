package model

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/lab/trace"
)

// Every outcome must be that of the plain model, for any policy, window, stage
// and eviction.
func TestRunAgreesWithTheNaiveModel(t *testing.T) {
	objects, accesses := madeUp(7, 250, 2500)
	capacity := uniqueBytes(objects) / 12
	f := func(name string, change func(*Setting)) {
		t.Helper()
		for _, e := range []Eviction{LRU, S3FIFO, SIEVE, GDSF} {
			for _, stage := range []int64{0, capacity / 100, capacity / 4} {
				s := exactSecondHit(capacity)
				s.Eviction, s.StageBytes = e, stage
				change(&s)
				t.Run(fmt.Sprintf("%s/%s/stage %d", name, e, stage), func(t *testing.T) { compare(t, s, objects, accesses) })
			}
		}
	}
	f("always", func(s *Setting) { s.Policy = admission.Always })
	f("never", func(s *Setting) { s.Policy = admission.Never })
	f("second-hit by requests", func(*Setting) {})
	f("second-hit by keys", func(s *Setting) { s.RotateRequests, s.RotateKeys = 0, 40 })
	f("second-hit by time", func(s *Setting) { s.RotateRequests, s.RotateEvery = 0, 2*time.Second })
	f("second-hit by all three", func(s *Setting) { s.RotateKeys, s.RotateEvery = 110, 4*time.Second })
	f("second-hit, never forgetting", func(s *Setting) { s.RotateRequests = 0; s.Generations = 1 << 30 })
	f("second-hit, four generations", func(s *Setting) { s.Generations, s.RotateRequests = 4, 100 })
	f("small objects only", func(s *Setting) { s.MaxObjectBytes = 1500 })
	f("counting more than 4", func(s *Setting) { s.Policy, s.MoreThan = admission.Counting, 4 })
	f("counting more than 14", func(s *Setting) { s.Policy, s.MoreThan, s.Generations = admission.Counting, 14, 3 })
}

func compare(t *testing.T, s Setting, objects []trace.Object, accesses []trace.Access) {
	t.Helper()
	r, n := newRun(t, s, objects), newNaive(s, objects)
	for at, a := range accesses {
		got, want := r.Request(a), n.request(a)
		if got != want {
			t.Fatalf("request %d, for object %d: got %v, want %v", at, a.Object, got, want)
		}
	}
	identities(t, r)
}

// identities checks that nothing is lost between the counts, and the bound on
// bytes.
func identities(t *testing.T, r *Run) {
	t.Helper()
	c := r.Result()
	same := func(name string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %d, want %d (%+v)", name, got, want, c)
		}
	}
	same("hits + validations + origin requests", c.Hits+c.Validations+c.OriginRequests, c.Requests)
	same("bytes of hits, of validations and of the origin", c.HitBytes+c.ValidationBytes+c.OriginBytes, c.RequestBytes)
	same("direct writes + held back + too large", c.Writes-c.Promotions+c.HeldBack+c.TooLarge+c.HeadMisses, c.OriginRequests)
	same("held + evicted + expired", c.Objects+c.Evictions+c.Expired, c.Writes)
	if c.StoresNeverHit > c.Evictions {
		t.Errorf("stores never hit: got %d, want at most the %d evictions", c.StoresNeverHit, c.Evictions)
	}
	if c.Regret > c.OriginRequests || c.Regret > 0 && c.HeldBack == 0 {
		t.Errorf("regret: got %d with %d held back and %d fills", c.Regret, c.HeldBack, c.OriginRequests)
	}
}

// The counts must hold together with filters and with the proxy's own tier too.
func TestIdentities(t *testing.T) {
	objects, accesses := madeUp(3, 1000, 5000)
	for _, e := range blindEvictions() {
		for _, p := range policy.All() {
			for _, stage := range []int64{0, 1 << 16} {
				t.Run(fmt.Sprintf("%s/%s/stage %d", e, p, stage), func(t *testing.T) {
					s := exactSecondHit(uniqueBytes(objects) / 5)
					s.StageBytes = stage
					s.Policy, s.MoreThan, s.Probability, s.Eviction, s.Exact, s.FalsePositiveRate = p, 2, 0.3, e, false, 0.01
					r := newRun(t, s, objects)
					for _, a := range accesses {
						r.Request(a)
					}
					identities(t, r)
					c := r.Result()
					if (c.Writes == 0) != (p == admission.Never) {
						t.Errorf("writes: got %d under %s", c.Writes, p)
					}
					newcomers := stage > 0 && p != admission.Never && p != admission.Always
					if (c.StageWrites > 0) != newcomers || (c.Promotions > 0) != newcomers {
						t.Errorf("got %d stage writes, %d promotions", c.StageWrites, c.Promotions)
					}
				})
			}
		}
	}
}

// A fill is regretted if the fill before it was held back, for as long as the
// window remembers.
func TestRegret(t *testing.T) {
	const a, b, c, d, e = 0, 1, 2, 3, 4
	objects := make([]trace.Object, 5)
	for i := range objects {
		objects[i].Size = 10
	}
	f := func(name string, change func(*Setting), order []uint32, want int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := exactSecondHit(1000)
			s.RotateRequests = 4
			change(&s)
			var accesses []trace.Access
			for _, i := range order {
				accesses = append(accesses, trace.Access{Object: i})
			}
			got := play(t, s, objects, accesses)
			if got.Regret != want || got.RegretBytes != 10*want {
				t.Errorf("regret: got %d of %d bytes, want %d", got.Regret, got.RegretBytes, want)
			}
		})
	}
	plain := func(*Setting) {}
	f("held back once", plain, []uint32{a}, 0)
	f("the second request fetches again", plain, []uint32{a, a}, 1)
	f("then it is a hit", plain, []uint32{a, a, a, a}, 1)
	f("in the next generation still", plain, []uint32{a, b, c, d, b, c, d, a}, 4)
	f("not beyond the window", plain, []uint32{a, b, c, d, b, c, d, b, a}, 3)
	f("stored, evicted, fetched again", func(s *Setting) { s.CapacityBytes = 10 }, []uint32{a, a, b, b, a}, 2)
	f("counting regrets each fill but the first", func(s *Setting) {
		s.Policy, s.MoreThan, s.RotateRequests = admission.Counting, 2, 100
	}, []uint32{a, a, a, a}, 2)
	f("always holds nothing back", func(s *Setting) { s.Policy = admission.Always; s.CapacityBytes = 10 }, []uint32{a, b, a, b}, 0)
	f("never regrets whatever comes again", func(s *Setting) { s.Policy = admission.Never }, []uint32{a, b, c, d, e, a, a}, 2)
	f("from the stage nothing is fetched", func(s *Setting) { s.StageBytes = 10 }, []uint32{a, a, a}, 0)
	f("lost by the stage", func(s *Setting) { s.StageBytes = 10 }, []uint32{a, b, a}, 1)
}

// Requests is Request for each of them: what it looks at before changes nothing.
func TestRequestsInBatchesAreRequestsOneByOne(t *testing.T) {
	objects, accesses := madeUp(9, 500, 4000)
	for _, e := range exactEvictions() {
		for _, p := range policy.All() {
			s := exactSecondHit(uniqueBytes(objects) / 10)
			s.Policy, s.MoreThan, s.Probability, s.Eviction, s.StageBytes = p, 2, 0.3, e, s.CapacityBytes/10
			s.Exact, s.FalsePositiveRate = false, 0.05
			r := newRun(t, s, objects)
			for at, step := 0, 0; at < len(accesses); at += step {
				step = min(1+at%97, len(accesses)-at)
				r.Requests(accesses[at : at+step])
			}
			if diff := cmp.Diff(play(t, s, objects, accesses), r.Result()); diff != "" {
				t.Errorf("%s, %s (-one by one +in batches):\n%s", e, p, diff)
			}
		}
	}
}

// Sight gives the verdicts of Request without a cache.
func TestSightGivesTheVerdictsOfRequest(t *testing.T) {
	objects, accesses := madeUp(11, 300, 3000)
	s := exactSecondHit(uniqueBytes(objects) / 10)
	s.Exact, s.FalsePositiveRate = false, 0.05
	r, sights := newRun(t, s, objects), newRun(t, s, objects)
	for at, a := range accesses {
		got := sights.Sight(a)
		switch o := r.Request(a); {
		case o == Stored && !got, o == HeldBack && got:
			t.Fatalf("request %d: got verdict %v, want that of %v", at, got, o)
		}
	}
	for _, p := range []admission.Policy{admission.Always, admission.Never} {
		s.Policy = p
		if got, want := newRun(t, s, objects).Sight(accesses[0]), p == admission.Always; got != want {
			t.Errorf("Sight under %s: got %v, want %v", p, got, want)
		}
	}
}

func TestNewNamesEveryFault(t *testing.T) {
	f := func(name string, change func(*Setting), options ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := exactSecondHit(1 << 20)
			change(&s)
			_, err := New(s, make([]trace.Object, 1))
			if err == nil {
				t.Fatal("got no error")
			}
			if _, ok := errors.AsType[*bloom.OptionError](err); !ok {
				t.Errorf("got %v, want an *bloom.OptionError in it", err)
			}
			for _, o := range options {
				if !strings.Contains(err.Error(), o+": ") {
					t.Errorf("got %q, want %s named", err, o)
				}
			}
		})
	}
	f("sizes", func(s *Setting) { s.CapacityBytes, s.MaxObjectBytes = 0, -1 }, "capacity", "max_object")
	f("stage above half", func(s *Setting) { s.StageBytes = 1<<19 + 1 }, "stage")
	f("stage below zero", func(s *Setting) { s.StageBytes = -1 }, "stage")
	f("eviction", func(s *Setting) { s.Eviction = "random" }, "eviction")
	f("policy", func(s *Setting) { s.Policy = 99 }, "policy")
	f("eviction of the disk", func(s *Setting) { s.DiskEviction = "sieve" }, "disk_eviction")
	f("counting", func(s *Setting) { s.Policy, s.MoreThan = admission.Counting, 15 }, "more_than")
	f("counting nothing", func(s *Setting) { s.Policy, s.MoreThan = admission.Counting, 0 }, "more_than")
	f("generations", func(s *Setting) { s.Generations = 1 }, "generations")
	f("negative rotations", func(s *Setting) {
		s.RotateEvery, s.RotateRequests, s.RotateKeys = -1, -1, -1
	}, "rotate_every", "rotate_requests", "rotate_keys")
	f("a filter that never forgets", func(s *Setting) { s.Exact, s.RotateRequests = false, 0 }, "rotation", "false_positive_rate")
	f("rate", func(s *Setting) { s.Exact, s.FalsePositiveRate = false, 1 }, "false_positive_rate")
	f("a rate that the layout cannot keep", func(s *Setting) { s.Exact, s.FalsePositiveRate = false, 1e-300 }, "false_positive_rate")
	f("a tier that is too small", func(s *Setting) { s.Eviction, s.CapacityBytes = Ristretto, 65_535 }, "capacity")
	f("an object too large for the tier", func(s *Setting) {
		s.Eviction, s.StageBytes, s.MaxObjectBytes = Ristretto, 1<<19, 1<<17+1
	}, "max_object")
}

func TestOutcomesHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for o := Hit; o < outcomes; o++ {
		if w := o.String(); w == "unknown" || seen[w] {
			t.Errorf("outcome %d: got %q, want a word of its own", o, w)
		}
		seen[o.String()] = true
	}
	for _, o := range []Outcome{0, outcomes} {
		if got := o.String(); got != "unknown" {
			t.Errorf("outcome %d: got %q, want unknown", o, got)
		}
	}
}
