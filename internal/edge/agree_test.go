package edge

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// madeUp is a workload for where there are no traces. The quick run has a quarter of it.
func madeUp() string {
	return fmt.Sprintf("zipf:objects=%d,requests=%d,size=lognormal:3KiB:1:48KiB", testkit.Times(1500, 375), testkit.Times(6000, 1500))
}

// A trace replayed with memory for everything must store what simulate says it
// would, to the last one: then simulate is right about admission.
func TestProxyStoresExactlyWhatSimulateForetells(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program says what it compares with, and sees requests one after the other")
	storesExactly(t, readSequence(t, madeUp(), 0), 400)
}

// A HEAD is a sighting of the key that a GET has, is answered by what a GET has
// stored, and stores nothing: in the proxy as in simulate, which used to skip them.
func TestProxyStoresExactlyWhatSimulateForetellsOfHEADs(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program says what it compares with, and sees requests one after the other")
	storesExactly(t, readSequence(t, madeUp(), 0).withHeads(), 400)
}

func TestSimulateGivesTheVerdictOfTheProxyOnHEADs(t *testing.T) {
	testkit.Plain(t, "thousands of requests, one behind another")
	sameVerdicts(t, readSequence(t, madeUp(), 0).withHeads())
}

// storesExactly replays seq with memory for everything and windows of so many
// keys.
func storesExactly(t *testing.T, seq *sequence, keys int) {
	t.Helper()
	log := seq.file(t)
	for _, s := range setups(keys, 4*seq.unique+16<<20) {
		t.Run(s.name(), func(t *testing.T) {
			r := startReplay(t, &s, seq)
			r.run(func(_ int, a trace.Access, got answer) { r.settle(a.Object, got) })
			if n := r.evictions(); n > 0 {
				t.Fatalf("got %d evictions, want memory for everything", n)
			}
			if s.remembers() && !s.fitted() && r.rotations() < 3 { // a cache for all has a window for all
				t.Errorf("got %d rotations, want a trace of several windows", r.rotations())
			}
			got := r.tally()
			if diff := cmp.Diff(foretold(t, log, &s), got); diff != "" {
				t.Errorf("the two disagree (-simulate +proxy):\n%s", diff)
			}
			t.Logf("%d requests, %d rotations: %+v", len(seq.accesses), r.rotations(), got)
		})
	}
}

// In a cache that evicts, what the proxy decides must be what simulate would have
// decided: its filters have seen the same.
func TestSimulateGivesTheVerdictOfTheProxyOnEveryRequest(t *testing.T) {
	testkit.Plain(t, "thousands of requests, one behind another")
	sameVerdicts(t, readSequence(t, madeUp(), 0))
}

// sameVerdicts replays seq at 5 % of its unique bytes and compares the verdict on
// every request that the cache could not answer. One on a hit does not show, but
// its sighting moves those that follow.
func sameVerdicts(t *testing.T, seq *sequence) {
	t.Helper()
	capacity := seq.unique / 20
	for _, s := range setups(max(4*seq.cached(capacity), 100), capacity) {
		if s.policy == policy.Always {
			continue // it has one verdict
		}
		t.Run(s.name(), func(t *testing.T) {
			r := startReplay(t, &s, seq)
			m := s.model(t, r.hashed())
			var told [6]int
			wrong := 0
			r.run(func(n int, a trace.Access, got answer) {
				r.settle(a.Object, got)
				told[got]++
				admit := m.Sight(a)
				admitted := got == answeredStored || got == answeredOutweighed // the policy has let the response in
				if !admitted && got != answeredHeldBack {
					return
				}
				m.Holds(r.edge.gate.Objects())
				if admit == admitted {
					return
				}
				if wrong++; wrong <= 5 {
					t.Errorf("request %d, object %d: got %v, and %v of simulate", n, a.Object, got, admit)
				}
			})
			if wrong > 0 {
				t.Errorf("got %d verdicts that differ, want none", wrong)
			}
			if r.evictions() == 0 || told[answeredHit] == 0 {
				t.Errorf("got %d evictions and %d hits, want a cache at work", r.evictions(), told[answeredHit])
			}
			t.Logf("%d requests: %d hits, %d stored, %d held back, %d too large, %d HEADs to the origin, %d outweighed; %d evictions, %d rotations",
				len(seq.accesses), told[0], told[1], told[2], told[3], told[4], told[5], r.evictions(), r.rotations())
		})
	}
}
