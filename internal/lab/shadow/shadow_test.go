package shadow

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// Each policy must store, and find, what it would in a cache of its own.
func TestPoliciesDecideForThemselves(t *testing.T) {
	s := newShadow(t, options(1000, always, secondHit, moreThan2, never))
	hi, lo := hash(1)
	for range 5 {
		s.Request(unused, hi, lo, 100, true, begin)
	}
	var got []string
	for _, p := range s.Stats() {
		got = append(got, fmt.Sprintf("%s: %d of %d hits, %d writes of %d bytes, %d held back, %d bytes fetched",
			p.Name, p.Hits, p.Requests, p.Writes, p.WriteBytes, p.HeldBack, p.OriginBytes))
	}
	want := []string{
		"always: 4 of 5 hits, 1 writes of 100 bytes, 0 held back, 100 bytes fetched",
		"second-hit: 3 of 5 hits, 1 writes of 100 bytes, 1 held back, 200 bytes fetched",
		"counting-2: 2 of 5 hits, 1 writes of 100 bytes, 2 held back, 300 bytes fetched",
		"never: 0 of 5 hits, 0 writes of 0 bytes, 5 held back, 500 bytes fetched",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}

// What is live is tried with the rule of each request, beside the others and in a cache of its own.
func TestTheLiveRoutesAreTriedWithTheRuleOfEachRequest(t *testing.T) {
	o := options(1000, always)
	o.Live = []admission.Rule{secondHit, moreThan2, never}
	s := newShadow(t, o)
	for key, live := range []admission.Rule{secondHit, moreThan2, never} {
		hi, lo := hash(uint64(key))
		for range 5 {
			s.Request(live, hi, lo, 100, true, begin)
		}
	}
	st := s.Stats()
	if len(st) != 2 || st[0].Name != LiveName || st[1].Name != "always" {
		t.Fatalf("got %+v, want live and always", st)
	}
	if st[0].Requests != 15 || st[0].Hits != 3+2 || st[0].Writes != 2 || st[0].HeldBack != 1+2+5 {
		t.Errorf("live: got %+v, want 3 hits of second-hit, 2 of counting and none of never", st[0])
	}
	if st[1].Hits != 3*4 || st[1].Writes != 3 {
		t.Errorf("always: got %+v, want 12 hits and 3 writes", st[1])
	}
}

// TestOtherPoliciesShortenedTheWindowOfLive: keys of routes that remember nothing, or in the other filter, filled the filter of second-hit, and live wrote
// less than the gate.
func TestOtherPoliciesShortenedTheWindowOfLive(t *testing.T) {
	const keys, others = 100, 10
	for _, other := range []admission.Rule{never, always, moreThan2} {
		o := options(200, always)
		o.Live = []admission.Rule{secondHit, other}
		s := newShadow(t, o)
		key := uint64(0)
		for range 2 {
			for i := range uint64(keys) {
				hi, lo := hash(i)
				s.Request(secondHit, hi, lo, 100, true, begin)
				for range others {
					key++
					hi, lo := hash(1<<32 + key)
					s.Request(other, hi, lo, -1, false, begin)
				}
			}
		}
		if st := s.Stats()[0]; st.Writes != keys || st.HeldBack != keys {
			t.Errorf("%s beside second-hit: live has %d writes and %d held back, want %d each", other.Policy, st.Writes, st.HeldBack, keys)
		}
	}
}

// What may not be stored, or is not known, is neither written nor held back.
func TestOnlyStorableObjectsAreFills(t *testing.T) {
	f := func(name string, size int64, storable bool, writes, bytes int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := newShadow(t, options(1000, always, never))
			hi, lo := hash(1)
			s.Request(unused, hi, lo, size, storable, begin)
			st := s.Stats()
			if st[0].Writes != writes || st[0].OriginBytes != bytes || st[0].RequestBytes != bytes {
				t.Errorf("always: got %d writes and %d bytes, want %d and %d", st[0].Writes, st[0].OriginBytes, writes, bytes)
			}
			if st[1].HeldBack != writes {
				t.Errorf("never: got %d held back, want %d", st[1].HeldBack, writes)
			}
		})
	}
	f("storable", 10, true, 1, 10)
	f("empty", 0, true, 1, 0)
	f("the largest", 1<<18, true, 1, 1<<18)
	f("too large", 1<<18+1, true, 0, 1<<18+1)
	f("not storable", 10, false, 0, 10)
	f("of unknown size", -1, true, 0, 0)
}

// A request of unknown size for what is held is a hit.
func TestHitsNeedNoSize(t *testing.T) {
	s := newShadow(t, options(1000, always))
	hi, lo := hash(1)
	s.Request(unused, hi, lo, 500, true, begin)
	s.Request(unused, hi, lo, -1, false, begin)
	if st := s.Stats()[0]; st.Hits != 1 || st.OriginBytes != 500 || st.RequestBytes != 500 {
		t.Errorf("got %d hits, %d of %d bytes fetched; want 1, 500 of 500", st.Hits, st.OriginBytes, st.RequestBytes)
	}
}

// A 304, a 206 or an error is not the object: were its size taken for the object's,
// a cache that is asked conditionally would seem to hold far more than it can.
func TestWhatIsNotStorableDoesNotChangeTheSizeHeld(t *testing.T) {
	f := func(name string, size int64, storable bool, want int64) {
		t.Helper()
		s := newShadow(t, options(1000, always))
		hi, lo := hash(1)
		s.Request(unused, hi, lo, 5000, true, begin)
		s.Request(unused, hi, lo, size, storable, begin)
		if got := s.policies[0].cache.bytes - entryBytes; got != want {
			t.Errorf("%s: got %d bytes held, want %d", name, got, want)
		}
		if st := s.Stats()[0]; st.Hits != 1 {
			t.Errorf("%s: got %d hits, want 1", name, st.Hits)
		}
	}
	f("304", 0, false, 5000)
	f("206", 10, false, 5000)
	f("error page", 90_000, false, 5000)
	f("unknown", -1, true, 5000)
	f("a newer object", 6000, true, 6000)
	f("a newer, empty object", 0, true, 0)
}

// The head of an answer can claim any size; the counters must not overflow.
func TestSizesBeyondBeliefAreUnknown(t *testing.T) {
	f := func(share float64, size, requests int64, want int64) {
		t.Helper()
		o := options(1000, always)
		o.Share, o.CapacityBytes, o.MaxObjectBytes = share, math.MaxInt64, math.MaxInt64
		s := newShadow(t, o)
		for key := range uint64(requests) {
			s.Request(unused, key, 0, size, false, begin)
		}
		st := s.Stats()[0]
		if st.OriginBytes != want || st.RequestBytes < 0 || st.HitBytes != 0 {
			t.Errorf("%d requests for %d bytes: got %d bytes fetched, %d requested, %d hit; want %d fetched, no hit",
				requests, size, st.OriginBytes, st.RequestBytes, st.HitBytes, want)
		}
	}
	f(1, 9e18, 3, 0)
	f(1, math.MaxInt64, 3, 0)
	f(1, 1<<40+1, 3, 0)
	f(1, 1<<40, 3, 3<<40)
	f(1.0/65536, 1<<40, 3, 3<<56)
	f(1.0/65536, 1<<40, 300, math.MaxInt64)
}

// Sightings are forgotten as the live windows forget them.
func TestWindowsForget(t *testing.T) {
	f := func(name string, then func(s *Shadow) time.Time, want int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := newShadow(t, options(1000, secondHit, moreThan2))
			hi, lo := hash(1 << 40)
			s.Request(unused, hi, lo, 100, true, begin)
			s.Request(unused, hi, lo, -1, true, begin)
			s.Request(unused, hi, lo, 100, true, then(s))
			for _, p := range s.Stats() {
				if p.Writes != want {
					t.Errorf("%s: got %d writes, want %d", p.Name, p.Writes, want)
				}
			}
		})
	}
	others := func(n uint64) func(s *Shadow) time.Time {
		return func(s *Shadow) time.Time {
			for key := range n {
				hi, lo := hash(key)
				s.Request(unused, hi, lo, -1, false, begin)
			}
			return begin
		}
	}
	after := func(d time.Duration) func(*Shadow) time.Time {
		return func(*Shadow) time.Time { return begin.Add(d) }
	}
	f("at once", after(0), 1)
	f("in the next period", after(119*time.Second), 1)
	f("beyond the window", after(2*time.Minute), 0)
	f("after a long time", after(24*time.Hour), 0)
	f("before it began", after(-time.Hour), 1)
	f("one generation full", others(1200), 1)
	f("two generations full", others(2600), 0)
}

// A miniature must tell the hit ratios and writes of the whole: here within 1
// point and 2 percent, and the difference between two policies within half a
// point.
func TestMiniatureAgreesWithTheWholeModel(t *testing.T) {
	const objects, requests, capacity, keys = 150_000, 500_000, 256 << 20, 20_000
	all := make([]trace.Object, objects)
	for i := range all {
		all[i].Hi, all[i].Lo = hash(uint64(i))
		all[i].Size = 1000 + int64(all[i].Hi%40_000)
	}
	order := zipf(3, objects, requests, 0.8)

	o := options(keys, always, secondHit)
	o.CapacityBytes, o.MaxObjectBytes, o.Share = capacity, 8<<20, 0
	s := newShadow(t, o)
	if got := s.Share(); got != 1.0/8 {
		t.Fatalf("share: got %v, want 1/8", got)
	}
	for _, i := range order {
		x := &all[i]
		s.Request(unused, x.Hi, x.Lo, x.Size, true, begin)
	}
	got := s.Stats()
	want := [2]model.Result{whole(t, admission.Always, all, order, capacity, keys), whole(t, admission.SecondHit, all, order, capacity, keys)}
	for i, w := range want {
		g := got[i]
		t.Logf("%s: hit ratio %.4f (whole %.4f), by bytes %.4f (%.4f), writes %d (%d), requests %d (%d)",
			g.Name, g.HitRatio, w.HitRatio, g.ByteHitRatio, w.ByteHitRatio, g.Writes, w.Writes, g.Requests, w.Requests)
		if math.Abs(g.HitRatio-w.HitRatio) > 0.01 || math.Abs(g.ByteHitRatio-w.ByteHitRatio) > 0.01 {
			t.Errorf("%s: got hit ratios %.4f and %.4f, want %.4f and %.4f within 0.01",
				g.Name, g.HitRatio, g.ByteHitRatio, w.HitRatio, w.ByteHitRatio)
		}
		if math.Abs(float64(g.Writes-w.Writes)) > 0.02*float64(w.Writes) {
			t.Errorf("%s: got %d writes, want %d within 2 %%", g.Name, g.Writes, w.Writes)
		}
	}
	if d, w := got[1].HitRatio-got[0].HitRatio, want[1].HitRatio-want[0].HitRatio; math.Abs(d-w) > 0.005 {
		t.Errorf("second-hit against always: got %+.4f, want %+.4f within 0.005", d, w)
	}
}

// whole is a full model of the same cache, each object with its overhead.
func whole(t *testing.T, p admission.Policy, objects []trace.Object, order []uint32, capacity, keys int64) model.Result {
	t.Helper()
	heavy := make([]trace.Object, len(objects))
	for i, o := range objects {
		o.Size += entryBytes
		heavy[i] = o
	}
	r, err := model.New(model.Setting{
		Rule: admission.Rule{Policy: p}, Generations: 2, RotateKeys: keys, FalsePositiveRate: 0.001,
		CapacityBytes: capacity, Eviction: model.LRU,
	}, heavy)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, i := range order {
		r.Request(trace.Access{Object: i})
	}
	return r.Result()
}

// The slice must have its share of the keys, whatever the bits that filters and
// other samples look at.
func TestSampledTakesItsShare(t *testing.T) {
	o := options(1000, always)
	o.Share = 1.0 / 64
	s := newShadow(t, o)
	const n = 1 << 18
	in, top := 0, 0
	for key := range uint64(n) {
		_, lo := hash(key)
		if !s.sampled(lo) {
			continue
		}
		in++
		if lo>>56 < 128 {
			top++
		}
		if !s.sampled(lo ^ 0xff0000ffffffffff) {
			t.Fatalf("key with %x: the slice depends on bits that others use", lo)
		}
	}
	if got, want := float64(in)/n, o.Share; math.Abs(got-want) > 0.05*want {
		t.Errorf("share: got %.5f, want %.5f within 5 %%", got, want)
	}
	if got := float64(top) / float64(in); math.Abs(got-0.5) > 0.03 {
		t.Errorf("highest byte in its lower half: got %.3f of the slice, want half", got)
	}
}

func TestNilShadowDoesNothing(t *testing.T) {
	var s *Shadow
	s.Request(unused, 1, 0, 10, true, begin)
	if got := s.Stats(); got != nil || s.Share() != 0 || s.Bytes() != 0 {
		t.Errorf("got %v of a share of %v in %d bytes, want nothing", got, s.Share(), s.Bytes())
	}
}

// Misses are scaled up from the slice; hits are what they leave of all requests.
func TestFiguresAreScaledUp(t *testing.T) {
	o := options(1000, always)
	o.Share = 1.0 / 4
	s := newShadow(t, o)
	const out = 1 << firstBit // a key that is not in the slice
	s.Request(unused, 1, 0, 10, true, begin)
	want := PolicyStats{
		Name: "always", Requests: 1, RequestBytes: 10, OriginRequests: 4, OriginBytes: 40, Writes: 4, WriteBytes: 40,
		SampledRequests: 1,
	}
	if diff := cmp.Diff([]PolicyStats{want}, s.Stats()); diff != "" {
		t.Errorf("one request (-want +got):\n%s", diff)
	}
	s.Request(unused, 1, 0, 10, true, begin)
	for range 6 {
		s.Request(unused, 1, out, 10, true, begin)
	}
	want = PolicyStats{
		Name: "always", Requests: 8, RequestBytes: 80, Hits: 4, HitBytes: 40, HitRatio: 0.5, ByteHitRatio: 0.5,
		OriginRequests: 4, OriginBytes: 40, Writes: 4, WriteBytes: 40, SampledRequests: 2, SampledHits: 1,
	}
	if diff := cmp.Diff([]PolicyStats{want}, s.Stats()); diff != "" {
		t.Errorf("eight requests (-want +got):\n%s", diff)
	}
}

// Requests from many goroutines lose nothing.
func TestRequestsAtTheSameTime(t *testing.T) {
	s := newShadow(t, options(100, always, secondHit, moreThan2))
	const workers, each = 4, 5000
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			for n := range uint64(each) {
				hi, lo := hash((n*7 + w) % 900)
				s.Request(unused, hi, lo, 3000, true, begin.Add(time.Duration(n)*time.Second))
				if n%1000 == 0 {
					s.Stats()
				}
			}
		})
	}
	wg.Wait()
	for _, p := range s.Stats() {
		if p.Requests != workers*each {
			t.Errorf("%s: got %d requests, want %d", p.Name, p.Requests, workers*each)
		}
		if p.Hits+p.Writes+p.HeldBack != p.Requests || p.HitBytes+p.OriginBytes != p.RequestBytes {
			t.Errorf("%s: the figures do not add up: %+v", p.Name, p)
		}
	}
}
