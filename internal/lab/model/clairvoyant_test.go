package model

import (
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
)

// foreseen returns a setting that knows the future, and what it knows of accesses.
func foreseen(capacity int64, objects []trace.Object, accesses []trace.Access) (Setting, Input) {
	in := Input{Objects: objects, Future: NewFuture(len(objects), int64(len(accesses)))}
	for batch := range slices.Chunk(accesses, 3) {
		in.Future.Add(batch)
	}
	return Setting{Rule: admission.Rule{Policy: admission.Always}, CapacityBytes: capacity, Eviction: Clairvoyant}, in
}

// playOf returns what a Run of s over in makes of the accesses.
func playOf(t *testing.T, s Setting, in Input, accesses []trace.Access) Result {
	t.Helper()
	r, err := NewOf(s, in)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Requests(accesses)
	identities(t, r)
	return r.Result()
}

func inOrder(order ...uint32) (out []trace.Access) {
	for _, i := range order {
		out = append(out, trace.Access{Object: i})
	}
	return out
}

func TestTheFutureIsTheNextRequestForTheSameObject(t *testing.T) {
	accesses := inOrder(0, 1, 2, 3, 0, 1, 0, 1, 2)
	_, in := foreseen(1, make([]trace.Object, 4), accesses)
	for n, want := range []int64{4, 5, 8, never, 6, 7, never, never, never, never} {
		if got := in.Future.next(int64(n)); got != want {
			t.Errorf("request %d: got next %d, want %d", n, got, want)
		}
	}
}

// Worked by hand.
func TestTheClairvoyantKeepsWhatIsAskedForNext(t *testing.T) {
	f := func(name string, capacity int64, sizes []int64, order []uint32, hits, writes, heldBack int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			objects := make([]trace.Object, len(sizes))
			for i, size := range sizes {
				objects[i].Size = size
			}
			s, in := foreseen(capacity, objects, inOrder(order...))
			got := playOf(t, s, in, inOrder(order...))
			if got.Hits != hits || got.Writes != writes || got.HeldBack != heldBack {
				t.Errorf("got %d hits, %d writes, %d held back, want %d, %d and %d", got.Hits, got.Writes, got.HeldBack, hits, writes, heldBack)
			}
		})
	}
	same := []int64{10, 10, 10, 10}
	f("room for all: what is never asked for again is not stored", 80, same, []uint32{0, 1, 2, 3, 0, 1, 0, 1, 2}, 5, 3, 1)
	f("room for two: the third comes too late", 20, same, []uint32{0, 1, 2, 0, 1, 2}, 2, 2, 2)
	f("room for one: it goes for what comes sooner", 10, same, []uint32{0, 1, 1, 1, 0}, 2, 2, 1)
	f("a large one goes, though it comes sooner", 20, []int64{20, 5, 5}, []uint32{0, 1, 2, 0, 1, 2}, 2, 3, 1)
	f("too large", 9, same, []uint32{0, 0}, 0, 0, 0)
}

func TestTheClairvoyantWantsAFutureAndNothingThatDoesNotMatter(t *testing.T) {
	s := exactSecondHit(100)
	s.Eviction, s.StageBytes, s.DiskBytes = Clairvoyant, 10, minDiskBytes
	_, err := New(s, nil)
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{"policy: second-hit: must be always", "stage: 10 bytes: must be 0", "disk: 4194304 bytes: must be 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
	s, _ = foreseen(100, nil, nil)
	if _, err := New(s, nil); err == nil || !strings.Contains(err.Error(), "no future") {
		t.Errorf("got %v, want an error that says that the future is missing", err)
	}
}

// A bound that anything beats is none. It is one of hits, for it would rather have two small objects than one large. The same requests give the same result.
func TestNothingBeatsTheClairvoyant(t *testing.T) {
	objects, accesses := madeUp(12, 2000, 20_000)
	s, in := foreseen(uniqueBytes(objects)/10, objects, accesses)
	best := playOf(t, s, in, accesses)
	for _, e := range exactEvictions() {
		s.Eviction = e
		if got := playOf(t, s, in, accesses); got.Hits >= best.Hits {
			t.Errorf("%s: got %d hits, the clairvoyant has %d", e, got.Hits, best.Hits)
		}
	}
	s.Eviction = Clairvoyant
	if again := playOf(t, s, in, accesses); again != best {
		t.Errorf("got %+v, and %+v the second time", best, again)
	}
}
