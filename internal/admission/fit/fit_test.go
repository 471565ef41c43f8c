package fit

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

func wantObjects(t *testing.T, when string, got, want int64) {
	t.Helper()
	if got < want-1 || got > want+1 {
		t.Errorf("%s: got %d objects, want %d", when, got, want)
	}
}

func TestObjectsAreTheBytesByTheMeanOfWhatWasAdmitted(t *testing.T) {
	f := New(100<<20, nil)
	wantObjects(t, "before anything", f.Objects(), 100<<20/(assumed+EntryBytes))
	wantObjects(t, "one that was held back", f.HeldBack(4000), 100<<20/4800)
	wantObjects(t, "two", f.HeldBack(8000), 100<<20/6800)
	for range 64 {
		f.Admitted(1200)
	}
	wantObjects(t, "64 admitted", f.Objects(), 100<<20/2000)
	for range 1000 {
		f.HeldBack(1 << 20)
	}
	wantObjects(t, "many held back", f.Objects(), 100<<20/2000)
}

// The first admitted response alone says little, so those held back count with it.
func TestAFewAdmittedAreMixedWithWhatWasStorable(t *testing.T) {
	f := New(100<<20, nil)
	for range 63 {
		f.HeldBack(10_000)
	}
	if f.Known() {
		t.Error("63 responses: got known, want it not yet")
	}
	got := f.Admitted(200)
	if !f.Known() {
		t.Error("64 responses: got not known, want it to be")
	}
	storable := (63*10_000 + 200) / 64.0
	wantObjects(t, "one admitted", got, int64(float64(100<<20)/(200.0/64+63*storable/64+EntryBytes)))
}

func TestTheMeanFollowsWhatIsAdmittedLately(t *testing.T) {
	f := New(1<<30, nil)
	for range 10_000 {
		f.Admitted(1000)
	}
	for range 5 * recent {
		f.Admitted(100_000)
	}
	if got, want := f.Objects(), int64(1<<30/(100_000+EntryBytes)); got < want || got > want*102/100 {
		t.Errorf("got %d objects, want %d or a little more", got, want)
	}
}

// With sizes as unequal as those of the web, C of one moment is near that of another.
func TestCIsSteady(t *testing.T) {
	f, r := New(1<<30, nil), rand.New(rand.NewPCG(1, 2))
	least, most := int64(1<<62), int64(0)
	for n := range 200_000 {
		size := int64(1000 * (1 + r.ExpFloat64()) * (1 + 20*r.ExpFloat64()*r.ExpFloat64()))
		objects := f.Admitted(size)
		if n > recent {
			least, most = min(least, objects), max(most, objects)
		}
	}
	if float64(most) > 1.6*float64(least) {
		t.Errorf("got C from %d to %d, want them within 1.6", least, most)
	}
}

func TestLengths(t *testing.T) {
	l := Length{PerObject: 4, Least: 100, Keys: 0.5}
	f := func(objects, sightings, room int64) {
		t.Helper()
		if got := l.Sightings(objects); got != sightings || l.Room(got) != room {
			t.Errorf("%d objects: got %d sightings and room for %d, want %d and %d", objects, got, l.Room(got), sightings, room)
		}
	}
	f(0, 100, 50)
	f(25, 100, 50)
	f(1001, 4004, 2002)
	f(1<<40, 4*most, most)
	if got, want := l.MostRoom(8000*EntryBytes), int64(16_000); got != want {
		t.Errorf("got room for %d keys at the most, want %d", got, want)
	}
	if got := (Length{}); got.Sightings(5) != 1 || got.Room(1) != 1 {
		t.Errorf("no length: got %d sightings and room for %d, want 1", got.Sightings(5), got.Room(1))
	}
}

func TestATierOfNoBytesHoldsOneObject(t *testing.T) {
	f := New(0, nil)
	wantObjects(t, "no bytes", f.Objects(), 1)
	wantObjects(t, "no bytes, a large body", f.Admitted(1<<50), 1)
}

func TestNotesAreSafeForConcurrentUse(t *testing.T) {
	f := New(1<<30, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10_000 {
				f.Admitted(1000)
				f.HeldBack(1000)
				_ = f.Objects()
			}
		})
	}
	wg.Wait()
	wantObjects(t, "all of one size", f.Objects(), 1<<30/(1000+EntryBytes))
}

func TestAStateTellsAnotherTierTheSizes(t *testing.T) {
	small, large := New(1<<20, nil), New(1<<30, nil)
	for n := range int64(300) {
		small.Admitted(1000 + n)
		small.HeldBack(5000 * n)
	}
	b := small.AppendBinary(nil)
	if err := large.UnmarshalBinary(b); err != nil || !large.Known() {
		t.Fatalf("got %v and known %v", err, large.Known())
	}
	wantObjects(t, "the larger tier", large.Objects(), int64(float64(1<<30)/(small.admitted.value+EntryBytes)))
	if a, b := small.Admitted(77), New(1<<20, nil); true {
		if err := b.UnmarshalBinary(small.AppendBinary(nil)); err != nil || b.Objects() != a {
			t.Errorf("got %v and %d objects, want those of the saved one, %d", err, b.Objects(), a)
		}
	}
}

func TestAStateThatNoFitWroteIsRefused(t *testing.T) {
	good := New(1<<20, nil)
	good.Admitted(10)
	b := good.AppendBinary(nil)
	f := New(1<<20, nil)
	before := f.Objects()
	bad := [][]byte{nil, b[:31], append(b[:32:32], 0)}
	for i := range 4 {
		for _, high := range []byte{0xff, 0xc0, 0x7f} {
			c := append([]byte(nil), b...)
			c[8*i+7], c[8*i+6] = high, 0xf0
			bad = append(bad, c)
		}
	}
	for _, c := range bad {
		if err := f.UnmarshalBinary(c); err == nil || f.Objects() != before {
			t.Errorf("%x: got %v, want an error and nothing changed", c, err)
		}
	}
}

// tier is what a Held reports.
type tier struct{ objects, bytes int64 }

func (t *tier) held() (objects, bytes int64) { return t.objects, t.bytes }

// Two one-byte ranges a second of a large object, each under a new URL, took C of a cold
// cache from 13,706 to 44: one body in three was 8 MiB.
func TestAFewLargeBodiesShrankTheWindow(t *testing.T) {
	f := New(256<<20, nil)
	for range 300 {
		f.HeldBack(18_000)
		f.HeldBack(20_000)
		f.HeldBack(8 << 20)
	}
	if got, fair := f.Objects(), int64(256<<20/(19_000+EntryBytes)); got < fair/5 {
		t.Errorf("got C %d, want it near %d", got, fair)
	}
}

func TestCIsNeverLessThanWhatIsHeld(t *testing.T) {
	held := tier{objects: 5000, bytes: 10 << 20}
	f := New(100<<20, held.held)
	wantObjects(t, "before anything", f.Objects(), 100<<20/(assumed+EntryBytes))
	for range 100 {
		f.Admitted(1 << 20)
	}
	wantObjects(t, "large ones", f.Objects(), 5000)
}

// A full tier says how many objects it holds, whatever comes.
func TestAFullTierKnowsC(t *testing.T) {
	held := tier{}
	f := New(100<<20, held.held)
	at := func(objects, bytes, want int64) {
		t.Helper()
		held = tier{objects, bytes}
		for range askEvery {
			f.Admitted(4000)
		}
		wantObjects(t, fmt.Sprintf("%d objects of %d bytes in all", objects, bytes), f.Objects(), want)
	}
	for range 100 {
		f.Admitted(4000)
	}
	mean := int64(100 << 20 / (4000 + EntryBytes))
	at(100, 75<<20, mean)
	at(90<<10, 90<<20, 100<<10)
	at(98<<10, 98<<20, 100<<10)
	at(50, 100<<20, 50)
	held = tier{10, 100 << 20}
	for range askEvery {
		f.HeldBack(1)
	}
	wantObjects(t, "ten large ones", f.Objects(), 10)
	least, most := f.Objects(), int64(0)
	for n := range int64(100) { // it has no step
		held = tier{75 << 10, (75 + n*15/100) << 20}
		for range askEvery - 1 {
			f.Admitted(4000)
		}
		c := f.Admitted(4000)
		if most > 0 && (c > most*14/10 || c < most*7/10) {
			t.Fatalf("%d bytes: got C %d after %d", held.bytes, c, most)
		}
		most = c
	}
	if most <= least {
		t.Errorf("got C %d for small objects, want more than %d", most, least)
	}
}

func TestAGenerationWithFewKeysGoesOn(t *testing.T) {
	l := Length{PerObject: 3, Least: 200, Distinct: 0.25, Keys: 1}
	for _, c := range []struct{ sightings, keys, want int64 }{
		{4000, 1000, 0}, {4000, 1500, 0}, {4000, 999, 250}, {4000, 100, 900}, {10, 0, 3}, {10, 2, 1}, {10, 3, 0}, {1, 0, 1}, {1, 1, 0},
	} {
		if got := l.More(c.sightings, c.keys); got != c.want {
			t.Errorf("%d keys of %d sightings: got %d more, want %d", c.keys, c.sightings, got, c.want)
		}
	}
	if got := (Length{}).More(100, 0); got != 0 {
		t.Errorf("without a share: got %d more, want none", got)
	}
	for _, l := range []Length{SecondHit(), Counting(1), Counting(14)} {
		if l.Distinct <= 0 || l.Distinct >= l.Keys {
			t.Errorf("%+v: got %g distinct of room for %g", l, l.Distinct, l.Keys)
		}
	}
}

// What waits for more sightings remembers them for longer.
func TestTheLengthOfCountingGrowsWithWhatItWaitsFor(t *testing.T) {
	one := Counting(1)
	for n := int64(2); n <= 14; n++ {
		if got := Counting(int(n)); got.PerObject != n*one.PerObject || got.Least != n*one.Least {
			t.Errorf("more than %d: got %+v, want %d times %+v", n, got, n, one)
		}
	}
	if Counting(0) != one {
		t.Errorf("got %+v for no number, want that of 1", Counting(0))
	}
}
