package model

import (
	"math"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/lab/trace"
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

// The proxy counts key and header with the body, and so must the model: in a cache
// of small objects they are a large part.
func TestRistrettoEntriesTakeWhatResponsesTake(t *testing.T) {
	objects := []trace.Object{{Size: 1000}}
	s := exactSecondHit(1 << 20)
	s.Eviction = Ristretto
	tier, err := newMemoryTier(s, Input{Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.close()
	response := cache.Entry{Name: make([]byte, 60), Content: cache.InMemory(make([]byte, objects[0].Size))}
	for _, f := range [][2]string{
		{"Date", "Mon, 02 Jan 2006 15:04:05 GMT"},
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "public, max-age=3600"},
		{"Via", "1.1 edgeproxy"},
		{"Etag", `"5f3c-61a8"`},
	} {
		response.Header.Add(f[0], f[1])
	}
	got, want := tier.entry(0).Cost(), response.Cost()
	if off := float64(got-want) / float64(want-objects[0].Size); off < -0.1 || off > 0.1 {
		t.Errorf("an entry of 1,000 bytes takes %d, want about %d, as a usual response", got, want)
	}
}

// Runs differ by ristretto's samples and by the look-ups that it drops on a busy machine, but little: the means of three do.
func TestRistrettoRunsAgree(t *testing.T) {
	objects, accesses := madeUp(4, 2000, 10_000)
	s := exactSecondHit(uniqueBytes(objects) / 5)
	s.Eviction = Ristretto
	mean := func() (ratio float64) {
		const runs = 3
		for range runs {
			ratio += play(t, s, objects, accesses).HitRatio / runs
		}
		return ratio
	}
	if a, b := mean(), mean(); math.Abs(a-b) > 0.03 {
		t.Errorf("hit ratio of three runs and of three others: got %.3f and %.3f, want within 0.03", a, b)
	}
}

func TestRistrettoNamesWhatItCannotHold(t *testing.T) {
	s := exactSecondHit(1 << 20)
	s.Eviction, s.MaxObjectBytes = Ristretto, 1<<19
	if _, err := New(s, nil); err == nil {
		t.Error("an object of half the capacity: got no error")
	}
}
