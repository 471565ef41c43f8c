package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// fleets returns each kind of fleet with so many nodes, at least 2.
func fleets(nodes int) []Fleet {
	out := []Fleet{{nodes, BalanceHash, ShareNone}}
	for _, s := range Shares() {
		out = append(out, Fleet{nodes, BalanceRandom, Share(s)})
	}
	return out
}

func newFleet(t testing.TB, f Fleet, s Setting, objects []trace.Object) *FleetRun {
	t.Helper()
	r, err := NewFleet(f, s, Input{Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// The naive fleet has naive edges, and tells by maps and lists.
func TestFleetAgreesWithTheNaiveModel(t *testing.T) {
	objects, accesses := madeUp(9, 250, 2500)
	capacity := uniqueBytes(objects) / 20
	f := func(name string, change func(*Setting)) {
		t.Helper()
		for n, e := range []Eviction{LRU, S3FIFO, SIEVE, GDSF} {
			for _, stage := range []int64{0, capacity / 4} {
				for _, fleet := range fleets(2 + n) {
					s := exactSecondHit(capacity)
					s.Eviction, s.StageBytes = e, stage
					change(&s)
					t.Run(fmt.Sprintf("%s/%s/stage %d/%s", name, e, stage, fleet.Share), func(t *testing.T) { compareFleets(t, fleet, s, objects, accesses) })
				}
			}
		}
	}
	f("always", func(s *Setting) { s.Policy = admission.Always })
	f("second-hit by requests", func(*Setting) {})
	f("second-hit by keys", func(s *Setting) { s.RotateRequests, s.RotateKeys = 0, 40 })
	f("counting more than 2, small objects", func(s *Setting) { s.Policy, s.MoreThan, s.MaxObjectBytes = admission.Counting, 2, 1500 })
}

func compareFleets(t *testing.T, f Fleet, s Setting, objects []trace.Object, accesses []trace.Access) {
	t.Helper()
	const every = 70
	fast, plain := newFleet(t, f, s, objects), newNaiveFleet(f, s, objects, every)
	fast.every = every
	for rest := accesses; len(rest) > 0; {
		n := min(len(rest), 1+len(rest)%33) // in pieces that no batch begins with
		fast.Requests(rest[:n])
		rest = rest[n:]
	}
	for _, a := range accesses {
		plain.request(a)
	}
	got, want := fast.Result(), plain.got
	if got.HitRatio != ratio(got.Hits, got.Requests) || got.ByteHitRatio != ratio(got.HitBytes, got.RequestBytes) {
		t.Errorf("got the ratios %v and %v, want those of %+v", got.HitRatio, got.ByteHitRatio, got)
	}
	if got.Requests != got.Hits+got.OriginRequests || got.Writes != got.Objects+got.Evictions {
		t.Errorf("requests or writes are lost: %+v", got)
	}
	if f.Share.Asks() && got.PeerRequests == 0 {
		t.Error("no edge asked another")
	}
	// The naive model does not know these.
	want.HitRatio, want.ByteHitRatio, want.Rotations, want.Regret, want.RegretBytes = got.HitRatio, got.ByteHitRatio, got.Rotations, got.Regret, got.RegretBytes
	want.Objects, want.Evictions, want.StoresNeverHit = got.Objects, got.Evictions, got.StoresNeverHit
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other than the naive model (-naive +fast):\n%s", diff)
	}
}

// script draws the edges that it has, one after the other.
type script struct{ edges []uint64 }

func (s *script) Uint64() uint64 {
	next := s.edges[0]
	s.edges = s.edges[1:]
	return next
}

// byHand plays requests for objects of 10 bytes, named by letters, at the edges 0 and 1, in batches of 4. Each edge has room for two
// objects, and remembers all sightings.
func byHand(t *testing.T, share Share, requests, edges string) Result {
	t.Helper()
	objects := make([]trace.Object, 26)
	for i := range objects {
		objects[i].Size = 10
	}
	s := exactSecondHit(20)
	s.RotateRequests, s.Generations = 0, 0
	r := newFleet(t, Fleet{2, BalanceRandom, share}, s, objects)
	r.every = 4
	draws := &script{}
	for _, e := range edges {
		draws.edges = append(draws.edges, uint64(e-'0')<<32|uint64(e-'0')) // whichever half is used
	}
	r.draw = rand.New(draws)
	if share == SharePlacement {
		for i := range r.owners {
			r.owners[i] = uint8(i % 2) // a is of edge 0, b of edge 1
		}
	}
	for _, o := range requests {
		r.Requests([]trace.Access{{Object: uint32(o - 'a')}})
	}
	return r.Result()
}

// Worked out on paper: what each request does stands beside it.
func TestSharesByHand(t *testing.T) {
	f := func(name string, share Share, requests, edges string, hits, writes, heldBack, peerRequests, peerBytes int64) {
		t.Helper()
		got := byHand(t, share, requests, edges)
		n := int64(len(requests))
		if got.Requests != n || got.Hits != hits || got.OriginRequests != n-hits || got.OriginBytes != 10*(n-hits) || got.Writes != writes ||
			got.HeldBack != heldBack || got.PeerRequests != peerRequests || got.PeerBytes != peerBytes {
			t.Errorf("%s: got %d hits, %d writes, %d held back, %d and %d bytes between edges; want %d, %d, %d, %d, %d (%+v)", name,
				got.Hits, got.Writes, got.HeldBack, got.PeerRequests, got.PeerBytes, hits, writes, heldBack, peerRequests, peerBytes, got)
		}
	}
	// Edge 0 holds a back, and so does edge 1. Then each stores it, and each has a hit.
	f("none", ShareNone, "aaaaaa", "010101", 2, 2, 2, 0, 0)
	// a is of edge 0. 1: edge 1 asks edge 0, which asks the origin; both hold it back. 2: edge 1 asks again; both store it.
	// 3: edge 1 has it. 4: edge 0 has it.
	f("placement", SharePlacement, "aaaa", "1110", 2, 2, 2, 2, 20)
	// At edge 0, which owns a: nothing is asked of edge 1, which has b of its own.
	f("placement, both at home", SharePlacement, "aabbab", "001101", 2, 2, 2, 0, 0)
	// Edge 1 asks edge 0 for a after its two sightings there: a hit, held back at edge 1, and a hit, stored at edge 1.
	f("placement, hot at the owner", SharePlacement, "aaaaa", "00111", 3, 2, 2, 2, 20)
	// a, a at edge 0, which stores it; b, c. Then the first digests: edge 1 asks edge 0 for a, a hit, and holds it back; again a hit, and
	// stores it. It has it then. d is in no digest.
	f("digests", ShareDigests, "aabcaaad", "00001111", 3, 2, 5, 2, 20)
	// The digest of edge 0 has a and b. It then evicts a for c: edge 1 asks for a in vain, and the origin has to send it.
	f("digests, a false one", ShareDigests, "aabbcca", "0000001", 0, 3, 4, 1, 0)
	// Edge 0 has the sightings of a at edge 1 after the first batch: it stores a at once.
	f("sightings", ShareSightings, "abcda", "11110", 0, 1, 4, 0, 0)
	f("sightings, within the batch", ShareSightings, "abca", "1110", 0, 0, 4, 0, 0)
}

// Without a share each edge is a Run with its part of the requests, whatever the setting.
func TestEdgesWithoutAShareAreRunsOfTheirOwn(t *testing.T) {
	objects, accesses := madeUp(11, 3000, 12_000)
	f := func(name string, fleet Fleet, change func(*Setting)) {
		t.Helper()
		s := exactSecondHit(uniqueBytes(objects) / 20)
		s.Exact, s.FalsePositiveRate, s.RotateRequests, s.Fitted, s.Eviction = false, 0.01, 0, true, SizeAware
		s.StageBytes = s.CapacityBytes / 10
		change(&s)
		r := newFleet(t, fleet, s, objects)
		r.Requests(accesses)
		got := r.Result()
		draw, owners := rand.New(rand.NewPCG(1, 0)), fleet.owners(objects)
		runs := make([]*Run, fleet.Nodes)
		for n := range runs {
			runs[n] = newRun(t, s, objects)
		}
		for _, a := range accesses {
			if fleet.Balance == BalanceHash {
				runs[owners[a.Object]].Request(a)
			} else {
				runs[draw.IntN(len(runs))].Request(a)
			}
		}
		var want Result
		if len(runs) == 1 {
			want = runs[0].Result()
		} else {
			want.Rotations = math.MaxInt64
			for _, one := range runs {
				o := one.Result()
				want.add(&o)
				want.Rotations = min(want.Rotations, o.Rotations)
				want.WindowObjects, want.WindowRoom = max(want.WindowObjects, o.WindowObjects), max(want.WindowRoom, o.WindowRoom)
				want.FilterBytes = max(want.FilterBytes, o.FilterBytes)
			}
			want.HitRatio, want.ByteHitRatio = ratio(want.Hits, want.Requests), ratio(want.HitBytes, want.RequestBytes)
			want.WriteAmplification = ratio(want.DiskWriteBytes, want.WriteBytes)
			want.FalsePositiveRatio, want.ExpectedFalsePositiveRatio = got.FalsePositiveRatio, got.ExpectedFalsePositiveRatio
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %+v: other than its edges alone (-alone +fleet):\n%s", name, fleet, diff)
		}
	}
	for _, fleet := range []Fleet{{1, BalanceRandom, ShareNone}, {1, BalanceHash, ShareNone}, {3, BalanceRandom, ShareNone}, {3, BalanceHash, ShareNone}} {
		f("as it ships", fleet, func(*Setting) {})
		f("counting", fleet, func(s *Setting) { s.Policy, s.MoreThan = admission.Counting, 2 })
		f("a disk", fleet, func(s *Setting) { s.DiskBytes = minDiskBytes })
		f("exact", fleet, func(s *Setting) { s.Exact, s.Eviction, s.FalsePositiveRate = true, LRU, 0 })
	}
}

// With a disk and the proxy's own eviction and filters nothing is lost between the edges either.
func TestFleetWithADiskLosesNothing(t *testing.T) {
	objects, accesses := madeUp(14, 3000, 12_000)
	for i := range accesses {
		accesses[i].Head = false
	}
	for _, fleet := range fleets(3) {
		s := exactSecondHit(uniqueBytes(objects) / 40)
		s.Exact, s.FalsePositiveRate, s.RotateRequests, s.Fitted, s.Eviction = false, 0.01, 0, true, SizeAware
		s.StageBytes, s.DiskBytes = s.CapacityBytes/10, minDiskBytes
		r := newFleet(t, fleet, s, objects)
		r.Requests(accesses)
		got := r.Result()
		answered := got.Writes - got.Promotions + got.HeldBack + got.TooLarge - got.OriginRequests // responses of other edges
		if got.Requests != int64(len(accesses)) || got.Requests != got.Hits+got.OriginRequests || got.RequestBytes != got.HitBytes+got.OriginBytes ||
			got.Writes != got.Objects+got.Evictions || got.DiskHits == 0 || got.DiskHits >= got.Hits {
			t.Errorf("%+v: requests or writes are lost: %+v", fleet, got)
		}
		if answered > got.PeerRequests || fleet.Share == SharePlacement && answered < got.PeerRequests || fleet.Share.Asks() != (answered > 0) {
			t.Errorf("%+v: got %d responses of other edges to %d requests", fleet, answered, got.PeerRequests)
		}
	}
}

// A digest has what a look-up finds, and making it is no use of anything.
func TestHoldsSaysWhatFindFinds(t *testing.T) {
	objects, accesses := madeUp(12, 3000, 12_000)
	for _, e := range blindEvictions() {
		for _, disk := range []int64{0, minDiskBytes} {
			s := exactSecondHit(uniqueBytes(objects) / 20)
			s.Eviction, s.StageBytes, s.DiskBytes = e, s.CapacityBytes/10, disk
			r := newRun(t, s, objects)
			r.Requests(accesses)
			held := 0
			says := make([]bool, len(objects))
			for i := range objects {
				if says[i] = r.storage.holds(uint32(i)); says[i] {
					held++
				}
			}
			for i := range objects {
				if found := r.storage.find(uint32(i), 0) != nowhere; found != says[i] && disk == 0 { // a look-up may copy, and so evict from the stage
					t.Fatalf("%s: object %d: got holds %v, and found %v", e, i, says[i], found)
				}
			}
			if c := r.Result(); int64(held) < c.Objects || held == len(objects) {
				t.Errorf("%s, disk of %d: got %d objects, want the %d of the main part at least, and not all", e, disk, held, c.Objects)
			}
		}
	}
}

// Each edge owns its share, and one more edge takes from the others no more than its own.
func TestOwnersAreEvenAndStay(t *testing.T) {
	objects, _ := madeUp(13, 40_000, 1)
	for _, nodes := range []int{1, 2, 5, 63} {
		before, after := Fleet{Nodes: nodes}.owners(objects), Fleet{Nodes: nodes + 1}.owners(objects)
		count := make([]int, nodes+1)
		for i := range objects {
			if int(before[i]) >= nodes {
				t.Fatalf("%d nodes: object %d is of edge %d", nodes, i, before[i])
			}
			if count[after[i]]++; after[i] != before[i] && int(after[i]) != nodes {
				t.Fatalf("%d nodes and one more: object %d went from %d to %d", nodes, i, before[i], after[i])
			}
		}
		want := float64(len(objects)) / float64(nodes+1)
		for n, c := range count {
			if math.Abs(float64(c)-want) > 6*math.Sqrt(want) {
				t.Errorf("%d nodes: edge %d owns %d objects, want about %.0f", nodes+1, n, c, want)
			}
		}
	}
}

func TestFleetThatCannotWorkIsAnError(t *testing.T) {
	objects, _ := madeUp(1, 10, 10)
	s := exactSecondHit(1000)
	f := func(want string, fleet Fleet, s Setting, in Input) {
		t.Helper()
		if r, err := NewFleet(fleet, s, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, %v; want an error with %q", fleet, r, err, want)
		}
	}
	in := Input{Objects: objects}
	f("0 nodes", Fleet{}, s, in)
	f("nodes: 65: must be 1 to 64", Fleet{65, BalanceRandom, ShareNone}, s, in)
	f("nodes: 0: must be 1 to 64", Fleet{0, BalanceRandom, ShareNone}, s, in)
	f("must be random or hash", Fleet{2, "", ShareNone}, s, in)
	f("must be none, placement, digests or sightings", Fleet{2, BalanceRandom, "all"}, s, in)
	f("must be none with hash balancing", Fleet{2, BalanceHash, ShareDigests}, s, in)
	f("must be none with one node", Fleet{1, BalanceRandom, SharePlacement}, s, in)
	f("lifetimes", Fleet{2, BalanceRandom, ShareNone}, s, Input{Objects: objects, Lifetimes: make([]Lifetime, len(objects))})
	clairvoyant := Setting{Eviction: Clairvoyant, CapacityBytes: 1000}
	f("does not know the future", Fleet{2, BalanceRandom, ShareNone}, clairvoyant, Input{Objects: objects, Future: NewFuture(10, 10)})
	f("capacity: 0", Fleet{2, BalanceRandom, ShareNone}, exactSecondHit(0), in)
	if err := (Fleet{}).Validate(); err != nil {
		t.Errorf("no fleet: got %v", err)
	}
	if _, ok := errors.AsType[*bloom.OptionError](Fleet{Nodes: 99}.Validate()); !ok {
		t.Error("got another error than that of an option")
	}
}

// What another simulator measured of four edges, at 5 % of the unique bytes each, with exact sets of two generations of 4 C requests, LRU
// and no stage: the share of requests that went to the origin, in percent, and the writes. It drew the edges otherwise. In its windows the sightings
// that other edges sent did not count, so windows were longer: 74.2 and 9,349 with AdaptSize. Here they count, because a filter has room for no
// more.
func TestFleetGivesWhatWasMeasured(t *testing.T) {
	testkit.Plain(t, "one goroutine replays a trace")
	type measured struct {
		origin float64
		writes int64
	}
	f := func(name string, none, digests, hash measured) {
		r := read(t, name)
		s := exactSecondHit(uniqueBytes(r.objects) / 20)
		s.RotateRequests = max(4*int64(float64(s.CapacityBytes)/r.mean), minPeriod)
		for _, c := range []struct {
			fleet Fleet
			want  measured
		}{{Fleet{4, BalanceRandom, ShareNone}, none}, {Fleet{4, BalanceRandom, ShareDigests}, digests}, {Fleet{4, BalanceHash, ShareNone}, hash}} {
			run := newFleet(t, c.fleet, s, r.objects)
			run.Requests(r.accesses)
			got := run.Result()
			origin := 100 * ratio(got.OriginRequests, got.Requests)
			if math.Abs(origin-c.want.origin) > 0.25 || math.Abs(float64(got.Writes)/float64(c.want.writes)-1) > 0.04 {
				t.Errorf("%s, %+v: got %.2f %% and %d writes, want %+v", name, c.fleet, origin, got.Writes, c.want)
			}
		}
	}
	f("adaptsize.tr", measured{77.5, 5540}, measured{71.9, 5540}, measured{65.5, 6622})
	f("nasa-1995-08-01.tsv", measured{24.3, 1209}, measured{17.8, 1228}, measured{13.7, 997})
	f("apache-combined-2015.log", measured{36.9, 590}, measured{30.0, 590}, measured{22.8, 502})
}
