package cache

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/cache/evicted"
)

// countsOf adds up objects as a tier counts its evictions.
func countsOf(objects []*Object, hit func(*Object) bool) (c evicted.Counts) {
	var counter evicted.Counter
	for _, o := range objects {
		counter.Note(o.cost(), hit(o))
	}
	return counter.Counts()
}

// minus returns all without part.
func minus(all, part evicted.Counts) evicted.Counts {
	take := func(from *[evicted.Classes]evicted.Count, n [evicted.Classes]evicted.Count) {
		for i := range from {
			from[i] = from[i].Plus(evicted.Count{Objects: -n[i].Objects, Bytes: -n[i].Bytes})
		}
	}
	take(&all.NeverHit, part.NeverHit)
	take(&all.Hit, part.Hit)
	return all
}

// What was written is held or counted as evicted: of each class of sizes, of what was hit and of what was not.
func TestEvictionsBySizeAreWhatIsNotHeldAnyMore(t *testing.T) {
	s := newStore(t, 4<<20, 512<<10)
	var written []*Object
	hit := map[Key]bool{}
	for i := range 12_000 {
		size := 200 << (i % 8)
		if i%500 == 0 {
			size = 100_000
		}
		e := plain(fmt.Sprint("/", i), 0, size)
		mustPut(t, s, e)
		if i%3 == 0 {
			holds(s, fmt.Sprint("/", i))
			hit[e.Key] = true
		}
		written = append(written, newObject(e, true))
	}
	var held []*Object
	s.Each(func(o *Object) { held = append(held, o) })
	if int64(len(held)) != s.Objects() {
		t.Fatalf("got %d objects, want the %d held", len(held), s.Objects())
	}
	was := func(o *Object) bool { return hit[o.key] }
	st := s.Stats()
	if diff := cmp.Diff(minus(countsOf(written, was), countsOf(held, was)), st.Evicted); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, class := range []evicted.Class{0, 1, 2, 3} {
		if st.Evicted.NeverHit[class].Objects < 20 || st.Evicted.Hit[class].Objects < 1 {
			t.Errorf("class %v: got %+v never hit and %+v hit, want some: it shows nothing", class, st.Evicted.NeverHit[class], st.Evicted.Hit[class])
		}
	}
	all, neverHit := st.Evicted.Sum()
	if all.Objects != st.Capacity+st.Rejected || neverHit.Objects != st.NeverHit {
		t.Errorf("got %+v and %+v never hit, want all of %+v", all, neverHit, st)
	}
}

// hitOf is the HitPart of objects by a look at each.
func hitOf(objects []*Object) (p HitPart) {
	for _, o := range objects {
		p.Sampled++
		if o.asked() {
			p.Objects++
			p.Bytes += o.cost()
		}
	}
	return p
}

// Of a tier with few objects each is looked at once, in window and main.
func TestThePartThatWasHitIsExactIfLittleIsHeld(t *testing.T) {
	s := newStore(t, 32<<20, 64<<10)
	if got := s.HitParts(); got != (HitParts{}) {
		t.Errorf("empty: got %+v", got)
	}
	for i := range 3000 {
		mustPut(t, s, plain(fmt.Sprint("/", i), 0, 100*(i%200)))
	}
	for i := 0; i < 3000; i += 7 {
		holds(s, fmt.Sprint("/", i))
	}
	var held []*Object
	s.Each(func(o *Object) { held = append(held, o) })
	want := hitOf(held)
	if s.window.count.Load() == 0 || s.window.count.Load() == s.books.objects.Load() || want.Objects < 100 {
		t.Fatalf("got %+v of %d, %d in the window: it shows nothing", want, len(held), s.window.count.Load())
	}
	if got := s.HitParts(); got != (HitParts{Memory: want}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Of a tier with many objects some are looked at.
func TestThePartThatWasHitIsEstimatedIfMuchIsHeld(t *testing.T) {
	const objects, bytes = 5 * mostSampled, 300
	s := newStore(t, 256<<20, 64<<10)
	for i := range objects {
		mustPut(t, s, plain(fmt.Sprint("/", i), 0, bytes))
		if i%3 == 0 {
			holds(s, fmt.Sprint("/", i))
		}
	}
	st, got := s.Stats(), s.HitParts().Memory
	if st.Objects != objects {
		t.Fatalf("got %d objects, want %d", st.Objects, objects)
	}
	if got.Sampled < mostSampled/2 || got.Sampled > 3*mostSampled {
		t.Errorf("got a sample of %d, want about %d", got.Sampled, mostSampled)
	}
	for what, share := range map[string]float64{
		"objects": float64(got.Objects) / float64(st.Objects),
		"bytes":   float64(got.Bytes) / float64(st.Bytes),
	} {
		if math.Abs(share-1.0/3) > 0.02 {
			t.Errorf("%s: got a share of %.3f hit, want a third", what, share)
		}
	}
}

// The look needs no lock: writes go on meanwhile.
func TestThePartThatWasHitBesideWrites(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 8 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 4, StageBytes: 1 << 20})
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := range 4000 {
				name := fmt.Sprint("/", w, "/", i%900)
				mustPut(t, s, plain(name, 0, 10*(i%1000)))
				mustStage(t, s, plain("/s"+name, 0, 500))
				holds(s, name)
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		default:
		}
		if p := s.HitParts(); p.Memory.Objects < 0 || p.Memory.Bytes > 8<<20 || p.Stage.Bytes > 1<<20 {
			t.Fatalf("got %+v of 8 MiB and 1 MiB", p)
		}
	}
	if p := s.HitParts(); p.Memory.Objects == 0 || p.Stage.Objects != 0 {
		t.Errorf("got %+v, want hits in memory alone", p)
	}
}

// A stage that is nearly empty ends the look early.
func TestALookAtAnEmptyTableEnds(t *testing.T) {
	c := newSecondChance[int](1<<20, 0)
	seen := 0
	c.some(3, func(int) { seen++ })
	for i := range 1 << 12 {
		c.put(Key{Lo: uint64(i) << 8}, i, 1)
	}
	c.some(1<<20, func(int) { seen++ })
	if seen != 1<<12 {
		t.Errorf("got %d items, want each of %d once", seen, 1<<12)
	}
}
