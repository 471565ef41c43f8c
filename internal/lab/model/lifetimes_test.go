package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/trace"
)

// at is a request for an object, so many seconds after the beginning.
func at(seconds int64, object uint32) trace.Access {
	return trace.Access{Object: object, At: time.Unix(1_800_000_000+seconds, 0).UnixNano()}
}

// always10 has objects of 10 bytes with these lifetimes, in a cache for so many of them that stores everything.
func always10(room int64, e Eviction, lifetimes ...Lifetime) (Setting, Input) {
	in := Input{Objects: make([]trace.Object, len(lifetimes)), Lifetimes: lifetimes}
	for i := range in.Objects {
		in.Objects[i].Size = 10
		in.Objects[i].Hi, in.Objects[i].Lo = hash(uint64(i))
	}
	return Setting{Rule: admission.Rule{Policy: admission.Always}, CapacityBytes: 10 * room, Eviction: e}, in
}

// Worked by hand, the same for all evictions where there is room for all.
func TestWhatHasExpiredIsValidatedOrFetched(t *testing.T) {
	lifetimes := []Lifetime{{Fresh: 10 * time.Second}, {Fresh: 10 * time.Second, Validates: true}, {}}
	accesses := []trace.Access{
		at(0, 0), at(0, 1), at(0, 2),
		at(9, 0), at(9, 1), at(9, 2),
		at(10, 0), at(10, 1), at(10, 2),
		at(19, 0), at(19, 1), at(500, 2),
	}
	want := []Outcome{
		Stored, Stored, Stored,
		Hit, Hit, Hit,
		Stored, Validated, Hit,
		Hit, Hit, Hit,
	}
	for _, e := range blindEvictions() {
		t.Run(string(e), func(t *testing.T) {
			s, in := always10(100_000, e, lifetimes...)
			r, err := NewOf(s, in)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for n, a := range accesses {
				if got := r.Request(a); got != want[n] {
					t.Errorf("request %d, for object %d: got %v, want %v", n, a.Object, got, want[n])
				}
			}
			identities(t, r)
			if got := r.Result(); got.Validations != 1 || got.ValidationBytes != 10 || got.Expired != 1 || got.Evictions != 0 || got.Objects != 3 {
				t.Errorf("got %+v, want 1 validation of 10 bytes, 1 expired, 3 objects held", got)
			}
		})
	}
}

// Object 0 is the older one, and would go first. It stays, for 1 is of no use any more.
func TestWhatIsOfNoUseLeavesBeforeAnythingElse(t *testing.T) {
	for _, e := range exactEvictions() {
		s, in := always10(2, e, Lifetime{}, Lifetime{Fresh: 10 * time.Second}, Lifetime{})
		r := playOf(t, s, in, []trace.Access{at(0, 0), at(1, 1), at(11, 2), at(12, 0), at(13, 2)})
		if r.Hits != 2 || r.Expired != 1 || r.Evictions != 0 {
			t.Errorf("%s: got %d hits, %d expired, %d evictions, want 2, 1 and 0", e, r.Hits, r.Expired, r.Evictions)
		}
	}
}

// What expires in the stage is fetched like a newcomer. What expires in the main part is stored again, though the filter has forgotten it.
func TestWhatExpiresIsFetchedByItsPlace(t *testing.T) {
	lifetimes := []Lifetime{{Fresh: 10 * time.Second}, {Fresh: time.Hour}, {Fresh: time.Hour}, {Fresh: time.Hour}}
	for _, e := range blindEvictions() {
		s, in := always10(100_000, e, lifetimes...)
		s.Policy, s.Exact, s.Generations, s.RotateRequests, s.StageBytes = admission.SecondHit, true, 2, 2, 100_000
		r, err := NewOf(s, in)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		accesses := []trace.Access{
			at(0, 0), at(10, 0), at(11, 0), // staged; expired there, and seen before
			at(12, 1), at(12, 2), at(12, 3), at(12, 1), // others, until the filter has forgotten 0
			at(30, 0),
		}
		want := []Outcome{Staged, Stored, Hit, Staged, Staged, Staged, Promoted, Stored}
		for n, a := range accesses {
			if got := r.Request(a); got != want[n] {
				t.Errorf("%s: request %d: got %v, want %v", e, n, got, want[n])
			}
		}
		identities(t, r)
	}
}

// lifetimesOf makes lifetimes up: some forever, some that cannot be validated.
func lifetimesOf(objects []trace.Object) []Lifetime {
	rng := rand.New(rand.NewPCG(31, 0))
	out := make([]Lifetime, len(objects))
	for i := range out {
		out[i] = Lifetime{Fresh: time.Duration(rng.IntN(20)) * time.Second, Validates: rng.IntN(2) == 0}
	}
	return out
}

func TestIdentitiesWithLifetimes(t *testing.T) {
	objects, accesses := madeUp(5, 1000, 5000)
	in := Input{Objects: objects, Lifetimes: lifetimesOf(objects), Future: NewFuture(len(objects), int64(len(accesses)))}
	in.Future.Add(accesses)
	for _, e := range Evictions() {
		for _, p := range policy.All() {
			for _, stage := range []int64{0, 1 << 16} {
				s := exactSecondHit(uniqueBytes(objects) / 5)
				s.Policy, s.MoreThan, s.Probability, s.Eviction, s.StageBytes = p, 2, 0.3, e, stage
				if e == Clairvoyant && (p != admission.Always || stage > 0) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/stage %d", e, p, stage), func(t *testing.T) {
					got := playOf(t, s, in, accesses)
					if stored := p != admission.Never; (got.Validations > 0) != stored || (got.Expired > 0) != stored {
						t.Errorf("got %d validations and %d expired", got.Validations, got.Expired)
					}
				})
			}
		}
	}
}

// With room for all, hits and validations follow from the times alone.
func TestLifetimesAreThoseOfTheTimes(t *testing.T) {
	objects, accesses := madeUp(6, 500, 5000)
	accesses = slices.DeleteFunc(accesses, func(a trace.Access) bool { return a.Head })
	in := Input{Objects: objects, Lifetimes: lifetimesOf(objects)}
	var hits, validations int64
	since := map[uint32]int64{}
	for _, a := range accesses {
		then, held := since[a.Object]
		l := in.Lifetimes[a.Object]
		switch {
		case held && (l.Fresh == 0 || a.At-then < int64(l.Fresh)):
			hits++
			continue
		case held && l.Validates:
			validations++
		}
		since[a.Object] = a.At
	}
	for _, e := range blindEvictions() {
		s := Setting{Rule: admission.Rule{Policy: admission.Always}, CapacityBytes: 20 * uniqueBytes(objects), Eviction: e}
		if got := playOf(t, s, in, accesses); got.Hits != hits || got.Validations != validations || got.Evictions != 0 {
			t.Errorf("%s: got %d hits, %d validations and %d evictions, want %d, %d and 0", e, got.Hits, got.Validations, got.Evictions, hits, validations)
		}
	}
}

func TestADiskHasNoLifetimes(t *testing.T) {
	s := onDiskToo()
	if _, err := NewOf(s, Input{Lifetimes: []Lifetime{}}); err == nil {
		t.Error("got no error")
	}
}
