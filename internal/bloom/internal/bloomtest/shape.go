package bloomtest

import (
	"errors"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

func shapeLaws() []law {
	return []law{
		{"full at its capacity of distinct keys", fullAtCapacity},
		{"the statistics describe the window", statistics},
		{"a layout takes the memory that it says", memory},
		{"the bad option is named", badOptions},
		{"a sighting does not allocate", allocations},
	}
}

func fullAtCapacity(t *testing.T, f Family) {
	const capacity = 300
	f.layouts(t, capacity, f.Exact, func(t *testing.T, w Window, _ int) {
		for key := range uint64(capacity - 1) {
			sight(w, key)
			sight(w, key) // a repeated key takes no room
		}
		if w.Full() {
			t.Fatal("one key below capacity: got full, want not")
		}
		sight(w, capacity)
		if !w.Full() {
			t.Fatal("at capacity: got not full, want full")
		}
		select {
		case <-w.FullC():
		default:
			t.Error("at capacity: got no signal, want one")
		}
		w.Rotate(T0(), bloom.CauseFull)
		if w.Full() {
			t.Error("after the rotation: got full, want an empty newest generation")
		}
	})
}

func statistics(t *testing.T, f Family) {
	const capacity = 4000
	f.layouts(t, capacity, 0.001, func(t *testing.T, w Window, generations int) {
		Fill(w, 2, capacity/2)
		w.Rotate(T0().Add(time.Minute), bloom.CauseTime)
		s := w.Stats(T0().Add(3 * time.Minute))
		if g := s.Generations; len(g) != generations || g[0].Keys != 0 || g[0].FillRatio != 0 {
			t.Errorf("generations: got %+v, want %d, the newest empty", g, generations)
		}
		held := min(generations-1, 2) // generations that are held, at most the two filled ones
		Near(t, "keys", float64(s.Keys), float64(held*capacity/2), 0.01)
		if s.Window != 3*time.Minute || s.Rotations != (bloom.Rotations{Time: 1, Full: 1}) {
			t.Errorf("got window %v, rotations %+v, want 3m and one of each", s.Window, s.Rotations)
		}
		if !w.Start().Equal(T0().Add(time.Minute)) {
			t.Errorf("start: got %v, want that of the last rotation", w.Start())
		}
		if oldest, newest := w.Held(); oldest != 3 || newest != uint64(generations)+2 {
			t.Errorf("held: got generations %d to %d, want 3 to %d", oldest, newest, generations+2)
		}
	})
}

func memory(t *testing.T, f Family) {
	const capacity = 100_000
	check := func(w Window, bits float64) {
		t.Helper()
		Near(t, "bits a key and generation", float64(w.Bytes())*8/2/capacity, bits, 0.01)
		if got := w.Stats(T0()).Bytes; got != w.Bytes() {
			t.Errorf("bytes in Stats: got %d, want %d", got, w.Bytes())
		}
	}
	check(f.filter(t, Options(2, capacity, 0.01)), f.Bits)
	check(f.textbook(t, Options(2, capacity, 0.01)), f.TextbookBits)
}

func badOptions(t *testing.T, f Family) {
	check := func(o bloom.Options, want string) {
		t.Helper()
		_, production := f.New(o, T0())
		_, textbook := f.Textbook(o, T0())
		for _, err := range []error{production, textbook} {
			var option *bloom.OptionError
			if !errors.As(err, &option) || option.Option != want {
				t.Errorf("%+v: got error %v, want an OptionError for %s", o, err, want)
			}
		}
	}
	check(Options(2, 10, 0), "false_positive_rate")
	check(Options(2, 10, 1), "false_positive_rate")
	check(Options(9, 10, 0.1), "generations")
	check(Options(2, 1<<60, 0.1), "capacity")
	if _, err := f.New(Options(2, 10, f.Refused), T0()); err == nil {
		t.Errorf("a rate of %v: got a filter, want an error", f.Refused)
	}
}

func allocations(t *testing.T, f Family) {
	f.layouts(t, 10, 0.01, func(t *testing.T, w Window, _ int) { // far over capacity: the signal is tried too
		key := uint64(0)
		if n := testing.AllocsPerRun(1000, func() { key++; sight(w, key); sight(w, key); known(w, key) }); n != 0 {
			t.Errorf("got %v allocations, want 0", n)
		}
	})
}
