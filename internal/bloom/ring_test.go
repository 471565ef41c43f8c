package bloom

import (
	"slices"
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

func newFakeRing(t *testing.T, generations int, capacity int64) *Ring[*fake, struct{}] {
	t.Helper()
	var held []*fake
	for _, name := range []string{"a", "b", "c", "d"}[:generations] {
		held = append(held, &fake{name: name})
	}
	starts := slices.Repeat([]time.Time{start}, generations)
	return NewRing(held, starts, capacity, Form[*fake, struct{}]{Rate: func(g *fake) float64 { return g.Fill() / 10 }})
}

func (r *Ring[T, V]) names() string {
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
	want := Stats{
		Generations:        []GenerationStats{{0.2, 20, at}, {0.5, 50, start}, {0, 0, start}},
		FalsePositiveRatio: WindowRate(0.02, 0.05, 0),
		Window:             15 * time.Minute,
		Keys:               70,
		Bytes:              24,
		Limit:              10,
		Room:               10,
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

// A limit below what the master holds ends it; one above does no more than its room.
func TestTheMasterIsFullAtTheLimitOrItsRoom(t *testing.T) {
	r := newFakeRing(t, 2, 10)
	r.form.Room = func(*fake) int64 { return 20 }
	f := func(limit, keys int64, full bool) {
		t.Helper()
		select {
		case <-r.FullC():
		default:
		}
		r.Held()[0].keys.Store(keys)
		r.SetLimit(limit)
		if got, signal := r.Full(), len(r.FullC()) > 0; got != full || signal != full {
			t.Errorf("limit %d, %d keys: got full %v and a signal %v, want %v", limit, keys, got, signal, full)
		}
	}
	f(10, 9, false)
	f(10, 10, true)
	f(8, 9, true)
	f(30, 19, false)
	f(30, 20, true)
	f(0, 0, false) // 1 is the least
	f(-5, 1, true)
}

// What has left the window may be larger or smaller than what takes its place.
func TestNextMayBeAnotherGeneration(t *testing.T) {
	r := newFakeRing(t, 2, 10)
	oldest, fresh := r.Held()[1], &fake{name: "x"}
	r.form.Next = func(o, newest *fake) *fake {
		if o != oldest || newest.name != "a" || len(r.Held()) != 1 || r.Bytes() != 16 {
			t.Errorf("got %s after %s, %d held and %d bytes, want b after a, which alone is held", o.name, newest.name, len(r.Held()), r.Bytes())
		}
		return fresh
	}
	r.Rotate(start, CauseFitted)
	if got := r.names(); got != "x a" || oldest.cleared != 0 {
		t.Errorf("got %q, and b cleared %d times, want x a and b as it was", got, oldest.cleared)
	}
	if got := r.Stats(start).Rotations; got != (Rotations{Fitted: 1}) {
		t.Errorf("got %+v, want one that is fitted", got)
	}
}

func TestNewRingPanicsWithoutAWindow(t *testing.T) {
	f := func(generations, starts int) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%d generations and %d starts: got a ring, want a panic", generations, starts)
			}
		}()
		NewRing(make([]*fake, generations), make([]time.Time, starts), 1, Form[*fake, struct{}]{Rate: (*fake).Fill})
	}
	f(1, 1)
	f(5, 5)
	f(2, 3)
}

func TestSerialsNameEveryLifeOfAGeneration(t *testing.T) {
	r := newFakeRing(t, 3, 10)
	want := func(when string, oldest, newest uint64) {
		t.Helper()
		if o, n := r.Serials(); o != oldest || n != newest {
			t.Errorf("%s: got generations %d to %d, want %d to %d", when, o, n, oldest, newest)
		}
	}
	want("at first", 1, 3)
	r.Held()[2].onClear = func() { want("while the oldest is cleared", 2, 3) }
	r.Rotate(start, CauseTime)
	want("after a rotation", 2, 4)
	r.Rotate(start.Add(time.Minute), CauseTime)
	want("after another", 3, 5)
	if got := r.Start(); !got.Equal(start.Add(time.Minute)) {
		t.Errorf("start of the newest generation: got %v, want that of the last rotation", got)
	}
}

func TestCauseWords(t *testing.T) {
	if got := CauseTime.String() + " " + CauseFull.String() + " " + CauseFitted.String() + " " + causes.String(); got != "time full fitted unknown" {
		t.Errorf("got %q, want %q", got, "time full fitted unknown")
	}
}
