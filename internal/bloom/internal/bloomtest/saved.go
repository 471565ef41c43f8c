package bloomtest

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

func savedLaws() []law {
	return []law{
		{"a loaded filter goes on where the saved one stopped", goesOn},
		{"a full filter is full when loaded", fullWhenLoaded},
		{"another filter's state is refused", otherStates},
		{"saves beside everything else are whole", savesBesideEverything},
		{"a rotation during a save is not lost", rotationDuringASave},
	}
}

func saved(t testing.TB, w Filter, now time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.Save(&b, now); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (f Family) loaded(t testing.TB, state []byte, o bloom.Options, now time.Time) Filter {
	t.Helper()
	w, err := f.Load(bytes.NewReader(state), o, now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func goesOn(t *testing.T, f Family) {
	const capacity, period = 600, time.Minute
	f.generations(t, capacity, f.Exact, func(t *testing.T, w Filter, generations int) {
		for g := range generations + 1 {
			w.Rotate(T0().Add(time.Duration(g)*period), bloom.CauseTime)
			for i := range uint64(2 * capacity) {
				sight(w, uint64(g)<<32|i*i%capacity)
			}
		}
		now := T0().Add(time.Hour)
		loaded := f.loaded(t, saved(t, w, now), Options(generations, capacity, f.Exact), now)
		was, is := w.Stats(now), loaded.Stats(now)
		was.Rotations = bloom.Rotations{}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("Stats (-saved +loaded):\n%s", diff)
		}
		if !loaded.Start().Equal(w.Start()) {
			t.Errorf("start: got %v, want %v", loaded.Start(), w.Start())
		}
		if oldest, newest := loaded.Held(); oldest != 1 || newest != uint64(generations) {
			t.Errorf("got generations %d to %d, want them numbered anew", oldest, newest)
		}
		// From here on both must say the same about everything, at every age.
		for step := range generations + 1 {
			for g := range generations + 1 {
				for i := range uint64(capacity) {
					key := uint64(g)<<32 | i
					if a, b := w.Count(Hash(key)), loaded.Count(Hash(key)); a != b {
						t.Fatalf("%d rotations on, key %d of %d: saved filter says %d, loaded one %d", step, i, g, a, b)
					}
				}
			}
			sight(w, uint64(step)<<40)
			sight(loaded, uint64(step)<<40)
			w.Rotate(now, bloom.CauseTime)
			loaded.Rotate(now, bloom.CauseTime)
		}
	})
}

func fullWhenLoaded(t *testing.T, f Family) {
	o := Options(2, 300, f.Exact)
	w := f.filter(t, o)
	Fill(w, 2, 300)
	if !f.loaded(t, saved(t, w, T0()), o, T0()).Full() {
		t.Error("got not full, want full as when saved")
	}
}

func otherStates(t *testing.T, f Family) {
	state := saved(t, f.filter(t, Options(2, 1000, 0.01)), T0())
	check := func(o bloom.Options, want string) {
		t.Helper()
		got, err := f.Load(bytes.NewReader(state), o, T0())
		fault, ok := errors.AsType[*bloom.StateError](err)
		if got != nil || !ok || fault.What != want {
			t.Errorf("%+v: got %v, want a StateError for the %s", o, err, want)
		}
	}
	check(Options(3, 1000, 0.01), "generations")
	check(Options(2, 1001, 0.01), "capacity")
	check(Options(2, 1000, 0.02), "false_positive_rate")
	if _, err := f.Load(bytes.NewReader(state), Options(2, 0, 0.01), T0()); err == nil {
		t.Error("options that cannot work: got a filter, want an error")
	}
}

// Everything at once: what is saved meanwhile loads, and holds what was sighted before
// the save and is within its window.
func savesBesideEverything(t *testing.T, f Family) {
	const capacity, keys, saves = 500, 100, 5
	f.generations(t, capacity, f.Exact, func(t *testing.T, w Filter, generations int) {
		stop := make(chan struct{})
		var all sync.WaitGroup
		background := func(work func(i uint64)) {
			all.Go(func() {
				for i := uint64(0); ; i++ {
					select {
					case <-stop:
						return
					default:
						work(i)
						runtime.Gosched() // two processors, five loops
					}
				}
			})
		}
		background(func(i uint64) { sight(w, 1<<40+i) })
		background(func(uint64) { w.Stats(T0()); w.Full(); w.Held(); w.Bytes() })
		background(func(uint64) { _ = w.Save(io.Discard, T0()) })
		defer all.Wait()
		defer close(stop)
		for round := range uint64(saves) {
			for i := range uint64(2 * keys) {
				sight(w, round<<20|i%keys)
			}
			loaded := f.loaded(t, saved(t, w, T0()), Options(generations, capacity, f.Exact), T0())
			for key := range uint64(keys) {
				if got := loaded.Count(Hash(round<<20 | key)); got < f.least(2) {
					t.Fatalf("round %d key %d: got a count of %d in the state, want %d", round, key, got, f.least(2))
				}
			}
			w.Rotate(T0(), bloom.CauseTime)
		}
	})
}

// A rotation in the middle of a save takes the oldest generation out of it, never half
// of it, and is not lost itself.
func rotationDuringASave(t *testing.T, f Family) {
	const capacity = 7000 // more words than a save writes at once
	for generations := 2; generations <= 3; generations++ {
		o := Options(generations, capacity, f.Exact)
		w := f.filter(t, o)
		Fill(w, generations, capacity)
		var state bytes.Buffer
		writes := 0
		to := writer(func(p []byte) (int, error) {
			if writes++; writes == 4 { // the header, a start, two pieces of the oldest
				if !w.Rotate(T0(), bloom.CauseTime) {
					t.Error("rotation during a save: got refused, want done")
				}
			}
			return state.Write(p)
		})
		if err := w.Save(to, T0()); err != nil {
			t.Fatal(err)
		}
		loaded := f.loaded(t, state.Bytes(), o, T0())
		oldest := loaded.Stats(T0()).Generations[generations-1]
		if fill := loaded.Fills()[generations-1]; fill != 0 || oldest.Keys != 0 {
			t.Errorf("G=%d: got a fill of %v and %d keys of the forgotten generation, want none", generations, fill, oldest.Keys)
		}
		for key := uint64(capacity); key < uint64(capacity*generations); key++ {
			if !known(loaded, key) {
				t.Fatalf("G=%d: key %d of a generation still held: got lost, want it saved", generations, key)
			}
		}
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
