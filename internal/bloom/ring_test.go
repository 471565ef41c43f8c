package bloom

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fake is a generation that shows the ring in the middle of a rotation.
type fake struct {
	name    string
	keys    atomic.Int64
	cleared int
	onClear func()
}

func (g *fake) Clear() {
	g.cleared++
	g.keys.Store(0)
	if g.onClear != nil {
		g.onClear()
	}
}
func (g *fake) Keys() int64   { return g.keys.Load() }
func (g *fake) Fill() float64 { return float64(g.keys.Load()) / 100 }
func (g *fake) Bytes() int64  { return 8 }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newFakeRing(t *testing.T, generations int, capacity int64) *Ring[*fake] {
	t.Helper()
	names := []string{"a", "b", "c", "d"}
	r, err := NewRing(Options{generations, capacity, 0.01}, start, func(uint64, int) *fake {
		g := &fake{name: names[0]}
		names = names[1:]
		return g
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Ring[T]) names() string {
	var out []string
	for _, g := range r.Held() {
		out = append(out, any(g).(*fake).name)
	}
	return strings.Join(out, " ")
}

func TestRotateMakesTheOldestTheMaster(t *testing.T) {
	r := newFakeRing(t, 3, 10)
	for _, want := range []string{"c a b", "b c a", "a b c"} {
		if !r.Rotate(start, CauseTime) {
			t.Fatal("Rotate: got false, want true")
		}
		if got := r.names(); got != want {
			t.Errorf("generations, newest first: got %q, want %q", got, want)
		}
	}
}

func TestOldestIsClearedOutsideTheWindow(t *testing.T) {
	r := newFakeRing(t, 2, 10)
	before := r.Held()
	oldest := before[1]
	during := ""
	oldest.onClear = func() {
		during = r.names()
		r.Held()[0].keys.Add(1) // a sighting while the rotation runs
		if r.Rotate(start, CauseTime) {
			t.Error("Rotate during a rotation: got true, want false")
		}
		if got := len(r.Stats(start).Generations); got != 1 {
			t.Errorf("generations in Stats while one is cleared: got %d, want 1", got)
		}
	}
	r.Rotate(start, CauseTime)
	if during != "a" {
		t.Errorf("window while b is cleared: got %q, want %q", during, "a")
	}
	if got := r.names(); got != "b a" {
		t.Errorf("window after the rotation: got %q, want %q", got, "b a")
	}
	if got := r.Held()[1].Keys(); got != 1 {
		t.Errorf("sightings made while b was cleared: got %d held, want 1", got)
	}
	if oldest.cleared != 1 {
		t.Errorf("clearings of b: got %d, want 1", oldest.cleared)
	}
	if before[0].name != "a" || before[1].name != "b" {
		t.Errorf("the window a late call holds changed: got %q %q, want a b", before[0].name, before[1].name)
	}
	if got := r.Stats(start).Rotations; got != (Rotations{Time: 1}) {
		t.Errorf("rotations: got %+v, want the refused one uncounted", got)
	}
}

func TestFullSignalsOnceAndNamesTheMasterOnly(t *testing.T) {
	r := newFakeRing(t, 2, 2)
	signalled := func() bool {
		select {
		case <-r.FullC():
			return true
		default:
			return false
		}
	}
	record := func(g *fake) {
		g.keys.Add(1)
		r.Recorded(g)
	}
	old := r.Held()[0]
	record(old)
	if signalled() || r.Full() {
		t.Error("one key of two: got full, want not")
	}
	for range 3 { // more than the channel holds: none may block
		record(old)
	}
	if !signalled() || !r.Full() {
		t.Error("at capacity: got not full, want full")
	}
	if signalled() {
		t.Error("second signal: got one, want none until the next key")
	}
	r.Rotate(start, CauseFull)
	record(old) // a late call: its generation is the master no longer
	if !signalled() || r.Full() {
		t.Error("late key in a full old generation: want a signal that Full then denies")
	}
}

func TestStats(t *testing.T) {
	r := newFakeRing(t, 3, 10)
	r.Held()[0].keys.Store(50)
	at := start.Add(10 * time.Minute)
	r.Rotate(at, CauseFull)
	r.Held()[0].keys.Store(20)
	_, k := r.probes, r.probes
	want := Stats{
		Generations:        []GenerationStats{{0.2, 20, at}, {0.5, 50, start}, {0, 0, start}},
		FalsePositiveRatio: WindowRate(RateFromFill(0.2, k), RateFromFill(0.5, k)),
		Window:             15 * time.Minute,
		Keys:               70,
		Bytes:              24,
		Rotations:          Rotations{Full: 1},
	}
	if diff := cmp.Diff(want, r.Stats(start.Add(15*time.Minute))); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}
	for range 2 {
		r.Rotate(at.Add(time.Minute), CauseTime)
	}
	if got, want := r.Stats(at.Add(2*time.Minute)).Window, 2*time.Minute; got != want {
		t.Errorf("window once the first generations are gone: got %v, want %v", got, want)
	}
	if got := r.Stats(start).Window; got != 0 {
		t.Errorf("window seen by a clock that went back: got %v, want 0", got)
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		got := ""
		if err := o.Validate(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
			t.Errorf("%+v: error (-want +got):\n%s", o, diff)
		}
	}
	f(Options{2, 1, 0.01})
	f(Options{4, 1_000_000, 0.999})
	f(Options{1, 0, 1},
		"generations: 1: want 2 to 4",
		"capacity: 0: want a number of keys above 0",
		"false_positive_rate: 1: want a ratio above 0 and below 1")
	f(Options{5, -3, 0},
		"generations: 5: want 2 to 4",
		"capacity: -3: want a number of keys above 0",
		"false_positive_rate: 0: want a ratio above 0 and below 1")
	tooLarge := "want a generation of at most 17179869184 cells; fewer keys or a higher false_positive_rate"
	f(Options{2, 1 << 40, 0.01}, "capacity: 1099511627776: "+tooLarge)
	f(Options{2, 1 << 62, 0.01}, "capacity: 4611686018427387904: "+tooLarge)
}

func TestNewRingRefusesBadOptions(t *testing.T) {
	_, err := NewRing(Options{2, 0, 0.01}, start, NewFilter)
	var option *OptionError
	if !errors.As(err, &option) || option.Option != "capacity" {
		t.Errorf("got error %v, want an OptionError for capacity", err)
	}
}

func TestTinyCapacityStillHasAnArray(t *testing.T) {
	r, err := NewRing(Options{2, 1, 0.9}, start, NewFilter)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Bytes(); got != 16 {
		t.Errorf("bytes of two generations of one key: got %d, want 16", got)
	}
}

func TestCauseWords(t *testing.T) {
	if got := CauseTime.String() + " " + CauseFull.String() + " " + causes.String(); got != "time full unknown" {
		t.Errorf("got %q, want %q", got, "time full unknown")
	}
}
