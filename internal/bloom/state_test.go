package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/test/testkit"
)

// shelf is a generation of bare words. onRead shows it in the middle of a save.
type shelf struct {
	words    []uint64
	keys     int64
	capacity int64
	onRead   func(from int)
	onClear  func()
}

func (s *shelf) Clear() {
	if s.onClear != nil {
		s.onClear()
	}
	clear(s.words)
	s.keys = 0
}
func (s *shelf) Keys() int64     { return s.keys }
func (s *shelf) Capacity() int64 { return s.capacity }
func (s *shelf) Fill() float64   { return 0 }
func (s *shelf) Bytes() int64    { return int64(len(s.words)) * 8 }
func (s *shelf) Words() int      { return len(s.words) }
func (s *shelf) SetKeys(n int64) { s.keys = n }
func (s *shelf) ReadWords(from int, out []uint64) {
	if s.onRead != nil {
		s.onRead(from)
	}
	copy(out, s.words[from:])
}
func (s *shelf) WriteWords(from int, words []uint64) { copy(s.words[from:], words) }

// smallState has 5 blocks a generation, largeState some pieces of 32 KiB.
var (
	smallState = Options{Generations: 2, Capacity: 100, FalsePositiveRate: 0.01}
	largeState = Options{Generations: 3, Capacity: 50_000, FalsePositiveRate: 0.01}
)

func shelves(o Options) []*shelf {
	return shelvesOf(o, slices.Repeat([]int64{o.Capacity}, o.Generations))
}

func shelvesOf(o Options, capacities []int64) []*shelf {
	held := make([]*shelf, len(capacities))
	for i, capacity := range capacities {
		o.Capacity = capacity
		units, _ := o.Size(SplitBlock)
		held[i] = &shelf{words: make([]uint64, SplitBlock.Bytes(units)/8), capacity: capacity}
	}
	return held
}

// filledRing returns a ring of generations that hold random words, and began at
// start and a minute apart before it.
func filledRing(o Options, seed uint64) *Ring[*shelf, struct{}] {
	random := rand.New(rand.NewPCG(seed, 0))
	held, starts := shelves(o), make([]time.Time, o.Generations)
	for i, g := range held {
		g.keys = random.Int64N(1000)
		starts[i] = start.Add(time.Duration(-i) * time.Minute)
		for j := range g.words {
			g.words[j] = random.Uint64()
		}
	}
	return NewRing(held, starts, o.Capacity, Form[*shelf, struct{}]{Rate: (*shelf).Fill})
}

func save(t *testing.T, o Options, r *Ring[*shelf, struct{}], now time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SaveState(&b, SplitBlock, o, r, now); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// load returns what the bytes hold, and how often generations were made for it.
func load(b []byte, o Options, now time.Time) (held []*shelf, starts []time.Time, built int, err error) {
	held, starts, err = LoadState(bytes.NewReader(b), SplitBlock, o, now, func(capacities []int64) []*shelf {
		built++
		return shelvesOf(o, capacities)
	})
	return held, starts, built, err
}

// copies returns the words and keys as they are now.
func copies(held []*shelf) (out []shelf) {
	for _, g := range held {
		out = append(out, shelf{words: slices.Clone(g.words), keys: g.keys})
	}
	return out
}

func TestStateComesBackAsItWas(t *testing.T) {
	for _, o := range []Options{smallState, largeState, {Generations: 4, Capacity: 1, FalsePositiveRate: 0.5}} {
		r := filledRing(o, 41)
		b := save(t, o, r, start.Add(time.Hour))
		held, starts, _, err := load(b, o, start.Add(2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(copies(r.Held()), copies(held), cmp.AllowUnexported(shelf{}), cmp.FilterPath(hooks, cmp.Ignore())); diff != "" {
			t.Errorf("%+v: generations (-saved +loaded):\n%s", o, diff)
		}
		if diff := cmp.Diff(r.window.Load().starts, starts); diff != "" {
			t.Errorf("%+v: starts (-saved +loaded):\n%s", o, diff)
		}
	}
}

func hooks(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".onRead" || name == ".onClear"
}

func TestStateHasTheDocumentedBytes(t *testing.T) {
	r := filledRing(smallState, 42)
	b := save(t, smallState, r, start)
	want := append([]byte("EDGSLIDE"), 2, 0, 0, 0, 2, 0, 0, 0)
	want = append(want, "split-block-8x32"...)
	want = append(want, make([]byte, 16)...)
	want = append(want, 0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x84, 0x3f) // 0.01
	for _, n := range []byte{100, 100, 0, 0, 50, 50, 0, 0} {            // capacities and units, of at most four generations
		want = append(want, n, 0, 0, 0, 0, 0, 0, 0)
	}
	want = binary.LittleEndian.AppendUint32(want, crc32.Checksum(want, crc32.MakeTable(crc32.Castagnoli)))
	for _, i := range []int{1, 0} { // the oldest first
		g := r.Held()[i]
		want = binary.LittleEndian.AppendUint64(want, uint64(start.Add(time.Duration(-i)*time.Minute).UnixNano()))
		for _, w := range g.words {
			want = binary.LittleEndian.AppendUint64(want, w)
		}
		want = binary.LittleEndian.AppendUint64(want, uint64(g.keys))
		want = append(want, 1, 0, 0, 0, 0, 0, 0, 0)
	}
	want = binary.LittleEndian.AppendUint32(want, crc32.Checksum(want, crc32.MakeTable(crc32.Castagnoli)))
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestACutStateIsRefusedAtEveryByte(t *testing.T) {
	b := save(t, smallState, filledRing(smallState, 43), start)
	for n := range b {
		held, _, built, err := load(b[:n], smallState, start)
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) || held != nil {
			t.Fatalf("cut at %d: got %v and %d generations, want %v and none", n, err, len(held), want)
		}
		if n < stateHeaderBytes && built != 0 {
			t.Fatalf("cut at %d: got memory for the filter before its header was read", n)
		}
	}
}

func TestAFlippedBitIsRefusedWhereverItIs(t *testing.T) {
	testkit.Plain(t, "one goroutine, which loads a state for each bit of it")
	b := save(t, smallState, filledRing(smallState, 44), start)
	for i := range 8 * len(b) {
		if i >= 8*stateHeaderBytes && i%testkit.Times(1, 13) != 0 {
			continue
		}
		damaged := slices.Clone(b)
		damaged[i/8] ^= 1 << (i % 8)
		held, _, built, err := load(damaged, smallState, start)
		_, foreign := errors.AsType[*StateError](err)
		if named := i < 8*12; named != foreign || named == errors.Is(err, ErrChecksum) || held != nil {
			t.Fatalf("bit %d: got %v, want a StateError for magic and version, ErrChecksum for the rest", i, err)
		}
		if i < 8*stateHeaderBytes && built != 0 {
			t.Fatalf("bit %d of the header: got memory for the filter, want none", i)
		}
	}
}

func TestAForeignStateIsNamed(t *testing.T) {
	b := save(t, smallState, filledRing(smallState, 45), start)
	f := func(l Layout, o Options, what string) {
		t.Helper()
		_, _, err := LoadState(bytes.NewReader(b), l, o, start, func(capacities []int64) []*shelf {
			t.Errorf("%s: got generations made for a state of another filter", what)
			return shelvesOf(o, capacities)
		})
		state, ok := errors.AsType[*StateError](err)
		if !ok || state.What != what || state.Got == state.Want {
			t.Errorf("%v %+v: got %v, want a StateError for the %s", l, o, err, what)
		}
	}
	f(TextbookBits, smallState, "layout")
	f(SplitBlock, Options{Generations: 3, Capacity: 100, FalsePositiveRate: 0.01}, "generations")
	f(SplitBlock, Options{Generations: 2, Capacity: 101, FalsePositiveRate: 0.01}, "capacity")
	f(SplitBlock, Options{Generations: 2, Capacity: 100, FalsePositiveRate: 0.011}, "false_positive_rate")

	newer := slices.Clone(b)
	newer[8] = 3
	_, _, _, err := load(newer, smallState, start)
	if want := "load a sliding filter: saved state: version: 3: must be 2"; err == nil || err.Error() != want {
		t.Errorf("newer version: got %v, want %q", err, want)
	}
}

// A filter that follows a cache takes generations of any size, each with its own.
func TestAStateOfAnotherCapacityIsLoadedIfTheFilterIsResizable(t *testing.T) {
	saved := Options{Generations: 3, Capacity: 50_000, FalsePositiveRate: 0.01}
	r := filledRing(saved, 61)
	other := shelvesOf(saved, []int64{700_000})[0]
	for i := range other.words {
		other.words[i] = uint64(i)
	}
	r.form.Next = func(*shelf, *shelf) *shelf { return other }
	r.Rotate(start, CauseFitted)
	b := save(t, saved, r, start)
	o := saved
	o.Capacity = 9
	if _, _, _, err := load(b, o, start); err == nil {
		t.Error("another capacity: got it loaded, want an error")
	}
	o.Resizable = true
	held, _, built, err := load(b, o, start)
	if err != nil || built != 1 {
		t.Fatalf("got %v and %d times generations, want them once", err, built)
	}
	for i, g := range r.Held() {
		if held[i].capacity != g.capacity || !slices.Equal(held[i].words, g.words) {
			t.Errorf("generation %d: got one for %d keys, want the %d and the words saved", i, held[i].capacity, g.capacity)
		}
	}
	o.FalsePositiveRate = 0.02
	if _, _, _, err := load(b, o, start); err == nil {
		t.Error("another rate: got it loaded, want an error")
	}
}

// A checksum proves that a header is what was written, and not that it can be.
func TestACapacityBeyondReasonIsRefused(t *testing.T) {
	o := Options{Generations: 2, Capacity: 100, FalsePositiveRate: 0.01, Resizable: true}
	for _, capacity := range []int64{0, -1, maxStateCapacity + 1, 1 << 62} {
		h := newStateHeader(SplitBlock, o, []int64{100, capacity})
		_, _, built, err := load(h.append(nil), o, start)
		if state, ok := errors.AsType[*StateError](err); !ok || state.What != "capacity" || built != 0 {
			t.Errorf("%d: got %v, want a StateError for the capacity", capacity, err)
		}
	}
	h := newStateHeader(SplitBlock, o, []int64{100, 100})
	h.Units[1]++
	_, _, built, err := load(h.append(nil), o, start)
	if state, ok := errors.AsType[*StateError](err); !ok || state.What != "units" || built != 0 {
		t.Errorf("one unit more: got %v, want a StateError for the units", err)
	}
}

// reseal gives changed bytes the checksum that they then have.
func reseal(b []byte) []byte {
	end := len(b) - 4
	return binary.LittleEndian.AppendUint32(b[:end:end], crc32.Checksum(b[:end], castagnoli()))
}

func TestKeysBelowZeroAreRefused(t *testing.T) {
	b := save(t, smallState, filledRing(smallState, 46), start)
	b[len(b)-4-9] |= 0x80 // the top bit of the newest generation's keys
	_, _, _, err := load(reseal(b), smallState, start)
	if state, ok := errors.AsType[*StateError](err); !ok || state.What != "keys" {
		t.Errorf("got %v, want a StateError for the keys", err)
	}
}

func TestLoadReadsNoByteBeyond(t *testing.T) {
	one, two := filledRing(smallState, 47), filledRing(smallState, 48)
	r := iotest.OneByteReader(bytes.NewReader(slices.Concat(save(t, smallState, one, start), save(t, smallState, two, start), []byte("rest"))))
	for _, saved := range []*Ring[*shelf, struct{}]{one, two} {
		held, _, err := LoadState(r, SplitBlock, smallState, start, func([]int64) []*shelf { return shelves(smallState) })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(held[0].words, saved.Held()[0].words) {
			t.Error("got other words than those saved")
		}
	}
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "rest" {
		t.Errorf("behind the states: got %q and %v, want what is there", rest, err)
	}
}

func TestAStartInTheFutureBecomesNow(t *testing.T) {
	b := save(t, largeState, filledRing(largeState, 49), start)
	_, starts, _, err := load(b, largeState, start.Add(-90*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	now := start.Add(-90 * time.Second)
	if diff := cmp.Diff([]time.Time{now, now, start.Add(-2 * time.Minute)}, starts); diff != "" {
		t.Errorf("starts after the clock went back (-want +got):\n%s", diff)
	}
}

func TestAGenerationDoesNotBeginAfterItsSave(t *testing.T) {
	now := start.Add(-30 * time.Second)
	_, starts, _, err := load(save(t, largeState, filledRing(largeState, 55), now), largeState, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Time{now, start.Add(-time.Minute), start.Add(-2 * time.Minute)}, starts); diff != "" {
		t.Errorf("starts saved after the clock went back (-want +got):\n%s", diff)
	}
}

// Every rotation during a save takes one generation out of the state, unless it
// has been written already, and never leaves half of one.
func TestASaveOvertakenByRotationsSavesWholeGenerations(t *testing.T) {
	const pieces = 3 // pieces of a generation
	f := func(generation, piece, rotations int, wantWhole ...bool) {
		t.Helper()
		r := filledRing(largeState, 50)
		was, starts := copies(r.Held()), r.window.Load().starts
		rotate := func(from int) {
			if from/stateWords == piece {
				for range rotations {
					r.Rotate(start, CauseTime)
				}
			}
		}
		r.Held()[generation].onRead = rotate
		b := save(t, largeState, r, start)
		held, got, _, err := load(b, largeState, start)
		if err != nil {
			t.Fatal(err)
		}
		wantStart := start
		for i, g := range held {
			want := shelf{words: make([]uint64, len(was[i].words))}
			if wantWhole[i] {
				want, wantStart = was[i], starts[i]
			}
			if !slices.Equal(g.words, want.words) || g.keys != want.keys {
				t.Errorf("rotation at piece %d of generation %d: generation %d: got %d keys, want whole %v", piece, generation, i, g.keys, wantWhole[i])
			}
			if !got[i].Equal(wantStart) {
				t.Errorf("generation %d: got a start of %v, want %v", i, got[i], wantStart)
			}
		}
	}
	if words := len(shelves(largeState)[0].words); words <= (pieces-1)*stateWords || words > pieces*stateWords {
		t.Fatalf("a generation has %d words, want it to have %d pieces", words, pieces)
	}
	f(2, 0, 1, true, true, false)
	f(2, 1, 1, true, true, false)
	f(2, pieces-1, 1, true, true, false)
	f(1, 0, 1, true, true, true) // the oldest had been written
	f(1, 1, 2, true, false, true)
	f(0, 1, 2, true, true, true)
	f(0, 1, 3, false, true, true)
	f(2, 1, 3, false, false, false)
}

func TestASaveDuringTheClearingLeavesTheOldestOut(t *testing.T) {
	r := filledRing(smallState, 51)
	was := copies(r.Held())
	var b []byte
	r.Held()[1].onClear = func() { b = save(t, smallState, r, start) }
	r.Rotate(start, CauseTime)
	held, starts, _, err := load(b, smallState, start)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(held[0].words, was[0].words) || held[0].keys != was[0].keys {
		t.Error("the newest generation: got another, want it whole")
	}
	if slices.ContainsFunc(held[1].words, func(w uint64) bool { return w != 0 }) || held[1].keys != 0 {
		t.Error("the generation being cleared: got something of it, want it empty")
	}
	if !starts[0].Equal(start) || !starts[1].Equal(start) {
		t.Errorf("starts: got %v, want the empty one to begin with the other", starts)
	}
}

// limited fails after n bytes.
type limited struct{ n int }

func (w *limited) Write(b []byte) (int, error) {
	if w.n -= len(b); w.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestSaveSaysThatTheDiskIsFull(t *testing.T) {
	r := filledRing(smallState, 52)
	whole := len(save(t, smallState, r, start))
	for n := range whole {
		if err := SaveState(&limited{n}, SplitBlock, smallState, r, start); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d of %d bytes: got %v, want the writer's error", n, whole, err)
		}
	}
	if err := SaveState(&limited{whole}, SplitBlock, smallState, r, start); err != nil {
		t.Errorf("room for all: got %v, want none", err)
	}
}

func TestLoadPassesTheReadersErrorOn(t *testing.T) {
	broken := errors.New("broken disk")
	b := save(t, smallState, filledRing(smallState, 53), start)
	for _, n := range []int{0, 50, stateHeaderBytes + 4, 200, len(b) - 2} {
		r := io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken))
		if _, _, err := LoadState(r, SplitBlock, smallState, start, func([]int64) []*shelf { return shelves(smallState) }); !errors.Is(err, broken) {
			t.Errorf("broken after %d bytes: got %v, want the reader's error", n, err)
		}
	}
}

// What a save costs beside the words: a few buffers, whatever the size.
func TestSaveAndLoadNeedLittleMemory(t *testing.T) {
	r := filledRing(largeState, 54)
	b := save(t, largeState, r, start)
	saves := testing.AllocsPerRun(5, func() { _ = SaveState(io.Discard, SplitBlock, largeState, r, start) })
	held := shelves(largeState)
	loads := testing.AllocsPerRun(5, func() {
		_, _, _ = LoadState(bytes.NewReader(b), SplitBlock, largeState, start, func([]int64) []*shelf { return held })
	})
	if saves > 40 || loads > 40 {
		t.Errorf("got %v allocations for a save and %v for a load, want a few, not one for each piece", saves, loads)
	}
}
