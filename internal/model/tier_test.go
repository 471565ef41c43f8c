package model

import (
	"math"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/trace"
)

// The proxy's tier must keep what it stored, find it in the stage, and write it
// once when it is asked for again.
func TestRistrettoKeepsTheLaws(t *testing.T) {
	objects := make([]trace.Object, 3)
	for i := range objects {
		objects[i].Size = 1000
		objects[i].Hi, objects[i].Lo = hash(uint64(i))
	}
	objects[2].Size = 1 << 20 // more than a quarter
	s := exactSecondHit(1 << 20)
	s.Eviction = Ristretto
	f := func(name string, s Setting, order []uint32, want ...Outcome) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := newRun(t, s, objects)
			for at, i := range order {
				if got := r.Request(trace.Access{Object: i}); got != want[at] {
					t.Errorf("request %d, for object %d: got %v, want %v", at, i, got, want[at])
				}
			}
			identities(t, r)
		})
	}
	f("no stage", s, []uint32{0, 0, 0, 2}, HeldBack, Stored, Hit, TooLarge)
	s.StageBytes = 64 << 10
	f("stage", s, []uint32{0, 1, 0, 0, 1, 2}, Staged, Staged, Promoted, Hit, Promoted, TooLarge)
	s.Policy, s.MoreThan = admission.Counting, 3
	f("counting", s, []uint32{0, 0, 0, 0, 0}, Staged, StageHit, StageHit, Promoted, Hit)
	s.Policy = admission.Never
	f("never", s, []uint32{0, 0}, HeldBack, HeldBack)
}

// Runs differ by ristretto's samples, but little.
func TestRistrettoRunsAgree(t *testing.T) {
	objects, accesses := madeUp(4, 2000, 10_000)
	s := exactSecondHit(uniqueBytes(objects) / 5)
	s.Eviction = Ristretto
	a, b := play(t, s, objects, accesses), play(t, s, objects, accesses)
	if d := math.Abs(a.HitRatio - b.HitRatio); d > 0.03 {
		t.Errorf("hit ratio of two runs: got %.3f and %.3f, want within 0.03", a.HitRatio, b.HitRatio)
	}
}

func TestRistrettoNamesWhatItCannotHold(t *testing.T) {
	s := exactSecondHit(1 << 20)
	s.Eviction, s.MaxObjectBytes = Ristretto, 1<<19
	if _, err := New(s, nil); err == nil {
		t.Error("an object of half the capacity: got no error")
	}
}
