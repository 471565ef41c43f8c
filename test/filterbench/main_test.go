package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/test/testkit"
)

func TestTheCommandLineSaysWhatIsWrong(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), args, &stdout, &stderr); got != command.Usage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: got exit code %d and %q, want 2 and %q", args, got, stderr.String(), want)
		}
	}
	f("unexpected argument", "fast")
	f("--rounds 0", "--rounds", "0")
	f("--min-ratio -1", "--min-ratio", "-1")
	f("--sightings 5", "--sightings", "5")
	f(`--keys 100: "100"`, "--keys", "100")
	f(`"many"`, "--keys", "1000,many")
	f("flag provided but not defined", "--speed")
	var stderr bytes.Buffer
	if got := run(t.Context(), []string{"--help"}, &bytes.Buffer{}, &stderr); got != command.Done {
		t.Errorf("--help: got exit code %d, want 0", got)
	}
}

func TestASmallRunPrintsBothTables(t *testing.T) {
	testkit.Slow(t, "it measures each filter for a while")
	testkit.Plain(t, "it measures times")
	var stdout, stderr bytes.Buffer
	args := []string{"--keys", "1000,2000", "--rounds", "2", "--sightings", "2048"}
	if got := run(t.Context(), args, &stdout, &stderr); got != command.Done {
		t.Fatalf("got exit code %d and %q", got, stderr.String())
	}
	for _, want := range []string{
		slidingName, slidingTextbookName, rivalName, countingName, countingTextbookName,
		"1 k keys, 1", "2 k keys, 2", "sliding: times as fast", "counting: times as fast", "p99.9 rotating",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("got no %q in\n%s", want, stdout.String())
		}
	}
}

func TestTooSlowIsExitCode1(t *testing.T) {
	testkit.Slow(t, "it measures each filter for a while")
	testkit.Plain(t, "it measures times")
	var stdout, stderr bytes.Buffer
	args := []string{"--keys", "1000", "--rounds", "1", "--sightings", "2048", "--min-ratio", "1000"}
	if got := run(t.Context(), args, &stdout, &stderr); got != command.Failed {
		t.Errorf("a ratio nobody reaches: got exit code %d, want 1", got)
	}
	if got := stderr.String(); strings.Count(got, "must be at least 1000.00") != 2 {
		t.Errorf("got %q, want a line for one and for two goroutines", got)
	}
}

func TestWhatIsTooSlowIsMeasuredOnceMore(t *testing.T) {
	testkit.Plain(t, "it measures times")
	b, err := newBench(1000)
	if err != nil {
		t.Fatal(err)
	}
	f := func(minRatio float64, want int) {
		t.Helper()
		got, err := b.assess(t.Context(), options{rounds: 3, sightings: 2048, minRatio: minRatio}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			if len(s.rounds) != want {
				t.Errorf("at least %v: %s: got %d rounds, want %d", minRatio, s.name, len(s.rounds), want)
			}
		}
	}
	f(0, 3)
	f(1000, 6)
}

func TestAnInterruptEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	if got := run(ctx, []string{"--keys", "1000"}, &bytes.Buffer{}, &stderr); got != command.Failed || !strings.Contains(stderr.String(), "canceled") {
		t.Errorf("got exit code %d and %q, want 1 and the reason", got, stderr.String())
	}
}

func TestRatioIsTheMedianOfNeighbours(t *testing.T) {
	f := func(slow, fast []float64, want float64) {
		t.Helper()
		if got := ratio(&series{rounds: slow}, &series{rounds: fast}); got != want {
			t.Errorf("%v to %v: got %v, want %v", slow, fast, got, want)
		}
	}
	f([]float64{60}, []float64{20}, 3)
	f([]float64{60, 600, 40}, []float64{20, 100, 20}, 3) // a slow moment meets both
	f([]float64{60, 40}, []float64{20, 20}, 2.5)
	f([]float64{60, 60, 6000}, []float64{20, 15, 20}, 4)
}

func TestJudgeNamesTheSizeThatIsTooSlow(t *testing.T) {
	s := func(name string, keys int, ns float64) *series {
		return &series{name: name, keys: keys, workers: 1, rounds: []float64{ns}}
	}
	all := []*series{
		s(slidingName, 1000, 10), s(slidingTextbookName, 1000, 30),
		s(slidingName, 5000, 20), s(slidingTextbookName, 5000, 30),
	}
	if err := judge(all, 1.5); err != nil {
		t.Errorf("1.5 and 3 times: got %v, want no fault", err)
	}
	err := judge(all, 2)
	if want := "sliding, 5000 keys, 1 goroutines: 1.50 times as fast as the textbook's, must be at least 2.00"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// Every filter is to meet the same keys: half of them new, none twice, and half
// from the window.
func TestAStreamIsHalfNewAndHalfOfTheWindow(t *testing.T) {
	const span, sightings = 1000, 8192
	s := supply{next: 5000, span: span}
	first := s.next
	numbers := map[key]uint64{}
	for n := range uint64(5000 + 2*sightings) {
		numbers[hash(n)] = n
	}
	again := s
	streams, same := s.streams(2, sightings), again.streams(2, sightings)
	fresh := map[uint64]bool{}
	old := 0
	for w := range streams {
		keys, others := make([]key, sightings/2), make([]key, sightings/2)
		streams[w].fill(keys)
		same[w].fill(others)
		for i, k := range keys {
			n, ok := numbers[k]
			switch {
			case !ok || k != others[i]:
				t.Fatalf("worker %d: key %d: got an unknown one, or another the second time", w, i)
			case n < first-span:
				t.Fatalf("worker %d: got known key %d, want one of the last %d", w, n, span)
			case n < first:
				old++
			case fresh[n]:
				t.Fatalf("worker %d: got new key %d twice", w, n)
			default:
				fresh[n] = true
			}
		}
	}
	if old < sightings*45/100 || old > sightings*55/100 {
		t.Errorf("got %d of %d keys of the window, want half", old, sightings)
	}
	if s.next != first+sightings {
		t.Errorf("the next round begins at %d, want %d: no new key may be known", s.next, first+sightings)
	}
}

// Each subject must be warm with every generation full, and remember what it was
// given last.
func TestSubjectsAreWarmAndRemember(t *testing.T) {
	const keys = 4096
	b, err := newBench(keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range b.all {
		if s.bitsPerKey(keys) < 20 || s.bitsPerKey(keys) > 130 {
			t.Errorf("%s: got %v bits a key, want 20 to 130", s.name, s.bitsPerKey(keys))
		}
		s.sight(hashesUpTo(16 * batchKeys)) // new ones among them
		if !s.full() {
			t.Errorf("%s: got not full after its capacity in new keys, want full", s.name)
		}
		s.rotate()
		if s.full() {
			t.Errorf("%s: got full after a rotation, want an empty newest generation", s.name)
		}
	}
}

// hashesUpTo returns n keys beyond those that warm gives.
func hashesUpTo(n int) []key {
	out := make([]key, n)
	for i := range out {
		out[i] = hash(1<<40 + uint64(i))
	}
	return out
}

func TestTheRivalForgetsAfterTwoRotations(t *testing.T) {
	r := newRival(1000)
	k := hash(1)
	if r.seen(k) || !r.seen(k) {
		t.Error("got the first sighting seen or the second not")
	}
	r.Rotate(time.Time{}, 0)
	if !r.older.Test(bytesOf(k)) || r.newest.Test(bytesOf(k)) {
		t.Error("after a rotation: want the key in the older filter alone")
	}
	r.Rotate(time.Time{}, 0)
	if r.seen(k) {
		t.Error("after two rotations: got seen, want forgotten")
	}
}

func TestSizeText(t *testing.T) {
	f := func(keys int, want string) {
		t.Helper()
		if got := sizeText(keys); got != want {
			t.Errorf("%d: got %q, want %q", keys, got, want)
		}
	}
	f(10_000_000, "10 M")
	f(1500, "1500")
	f(250_000, "250 k")
}
