package admission

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/test/testkit"
)

// numbering is the generations of a filter, as it publishes them.
type numbering struct{ oldest, newest uint64 }

func (n *numbering) Held() (oldest, newest uint64) { return n.oldest, n.newest }

// rotate does both halves of a rotation.
func (n *numbering) rotate() { n.retire(); n.arrive() }
func (n *numbering) retire() { n.oldest++ } // the oldest is being cleared
func (n *numbering) arrive() { n.newest++ }

func size(generations int, capacity int64) bloom.Options {
	return bloom.Options{Generations: generations, Capacity: capacity, FalsePositiveRate: 0.01}
}

// lab is a sample beside a filter whose answers the test chooses.
type lab struct {
	t *testing.T
	*numbering
	*sample
}

func newLab(t *testing.T, generations, reach int) lab {
	t.Helper()
	n := &numbering{1, uint64(generations)}
	return lab{t, n, newSample(n, size(generations, 1000), reach, false)}
}

// sampled returns the hash of a key of the slice.
func sampled(key uint64) (hi, lo uint64) {
	hi, lo = hash(key)
	return hi, lo << firstBits >> firstBits
}

// sightSampled sights a key of the slice.
func (g *Gate) sightSampled(r Rule, key uint64) {
	hi, lo := sampled(key)
	g.Sight(r, hi, lo)
}

func (l lab) start(key uint64) sighting { return l.begin(sampled(key)) }

func (l lab) finish(key uint64, s sighting, count int) {
	hi, lo := sampled(key)
	l.end(s, hi, lo, count)
}

// see is a sighting that meets no other.
func (l lab) see(key uint64, count int) { l.finish(key, l.start(key), count) }

func (l lab) want(unseen, falsePositives, falseNegatives int64) {
	l.t.Helper()
	m := l.measured()
	got := [3]int64{m.Unseen, m.FalsePositives, m.FalseNegatives}
	if want := [3]int64{unseen, falsePositives, falseNegatives}; got != want {
		l.t.Errorf("unseen, false positives, false negatives: got %d, want %d", got, want)
	}
}

func TestARightFilterIsFoundRight(t *testing.T) {
	l := newLab(t, 2, 0)
	l.see(1, 1)
	l.see(1, 2)
	l.see(2, 1)
	l.rotate()
	l.see(1, 2)
	l.want(2, 0, 0)
	l.rotate()
	l.rotate()
	l.see(1, 1) // forgotten, and rightly so
	l.want(3, 0, 0)
}

func TestAnUnseenKeyThatIsReportedIsAFalsePositive(t *testing.T) {
	l := newLab(t, 2, 0)
	l.see(1, 2)
	l.want(1, 1, 0)
	l.see(1, 2) // the key was sighted before
	l.want(1, 1, 0)
	l.rotate()
	l.rotate()
	l.see(1, 2) // and is to be forgotten
	l.want(2, 2, 0)
}

func TestAKeyThatIsDeniedWithinTheWindowIsAFalseNegative(t *testing.T) {
	l := newLab(t, 2, 0)
	l.see(1, 1)
	l.see(1, 1)
	l.want(1, 0, 1)
	l.rotate()
	l.see(1, 1)
	l.want(1, 0, 2)
	l.rotate()
	l.rotate()
	l.see(1, 1)
	l.want(2, 0, 2)
}

// What overlaps proves nothing, whichever way the filter answers.
func TestSightingsAtTheSameTimeAreNotHeldAgainstTheFilter(t *testing.T) {
	f := func(name string, run func(l lab), unseen, falsePositives, falseNegatives int64) {
		t.Helper()
		l := newLab(t, 2, 0)
		run(l)
		t.Log(name)
		l.want(unseen, falsePositives, falseNegatives)
	}
	f("both may be told first", func(l lab) {
		a, b := l.start(1), l.start(1)
		l.finish(1, a, 1)
		l.finish(1, b, 1)
	}, 0, 0, 0)
	f("the later one may be told second", func(l lab) {
		a, b := l.start(1), l.start(1)
		l.finish(1, b, 2)
		l.finish(1, a, 2)
	}, 0, 0, 0)
	f("one that begins and ends within another", func(l lab) {
		a := l.start(1)
		l.see(1, 2)
		l.finish(1, a, 2)
	}, 0, 0, 0)
	f("after them the filter must know the key", func(l lab) {
		a, b := l.start(1), l.start(1)
		l.finish(1, a, 1)
		l.finish(1, b, 1)
		l.see(1, 1)
	}, 0, 0, 1)
	f("one that ended before counts, although others are under way", func(l lab) {
		a := l.start(1)
		l.see(1, 1)
		b := l.start(1)
		l.finish(1, b, 1)
		l.finish(1, a, 1)
	}, 0, 0, 1)
	f("other keys are other keys", func(l lab) {
		a := l.start(1)
		l.see(2, 2)
		l.finish(1, a, 2)
	}, 2, 2, 0)
}

// A rotation in the middle of a sighting leaves two generations it may be in.
func TestASightingAcrossARotationIsGivenTheBenefitOfTheDoubt(t *testing.T) {
	f := func(name string, generations int, run func(l lab), unseen, falsePositives, falseNegatives int64) {
		t.Helper()
		l := newLab(t, generations, 0)
		run(l)
		t.Log(name)
		l.want(unseen, falsePositives, falseNegatives)
	}
	// across records key 1 with so many rotations in between.
	across := func(l lab, rotations int) {
		s := l.start(1)
		for range rotations {
			l.rotate()
		}
		l.finish(1, s, 1)
	}
	f("it may be in the older one, which is forgotten", 3, func(l lab) {
		across(l, 1)
		l.rotate()
		l.rotate()
		l.see(1, 1)
	}, 1, 0, 0)
	f("it may be in the newer one, which is not", 3, func(l lab) {
		across(l, 1)
		l.rotate()
		l.rotate()
		l.see(1, 2)
	}, 1, 0, 0)
	f("both are forgotten", 3, func(l lab) {
		across(l, 1)
		l.rotate()
		l.rotate()
		l.rotate()
		l.see(1, 2)
	}, 2, 1, 0)
	f("a late writer may have met the array of the generation to come", 2, func(l lab) {
		across(l, 1)
		l.rotate()
		l.rotate()
		l.see(1, 2) // its generations are gone, the one after them is not
	}, 1, 0, 0)
	f("and that is forgotten a rotation later", 2, func(l lab) {
		across(l, 1)
		l.rotate()
		l.rotate()
		l.rotate()
		l.see(1, 2)
	}, 2, 1, 0)
	f("the asker's window may have lost the generation while it asked", 2, func(l lab) {
		l.see(1, 1)
		l.rotate()
		s := l.start(1)
		l.retire()
		l.finish(1, s, 1)
	}, 1, 0, 0)
	f("the asker's window held it throughout", 2, func(l lab) {
		l.rotate()
		l.see(1, 1)
		s := l.start(1)
		l.rotate()
		l.finish(1, s, 1)
	}, 1, 0, 1)
}

func TestACountTooLowIsAFalseNegative(t *testing.T) {
	l := newLab(t, 2, counting.Max)
	f := func(count int, falseNegatives int64) {
		t.Helper()
		l.see(1, count)
		l.want(1, 0, falseNegatives)
	}
	f(1, 0)
	f(2, 0)
	f(2, 1) // the third
	f(4, 1)
	f(9, 1) // too high is no false negative
	l.rotate()
	f(6, 1)
	f(6, 2) // five and two
	l.rotate()
	f(3, 2) // the five are gone: two and one
	f(3, 3)
}

func TestACountEndsWhereAGenerationCannotCountFurther(t *testing.T) {
	l := newLab(t, 2, counting.Max)
	for n := range 40 {
		l.see(1, min(n+1, counting.Max))
	}
	l.want(1, 0, 0)
	l.rotate()
	l.see(1, counting.Max+1)
	l.want(1, 0, 0)
	l.see(1, counting.Max+1)
	l.want(1, 0, 1)
	for range 300 { // more than a byte counts
		l.see(1, 2*counting.Max)
	}
	l.see(1, 2*counting.Max-1)
	l.want(1, 0, 2)
}

func TestSightingsThatOverlapMayCountAsOne(t *testing.T) {
	l := newLab(t, 2, counting.Max)
	a, b := l.start(1), l.start(1)
	l.finish(1, a, 1)
	l.finish(1, b, 1)
	l.see(1, 2)
	l.want(0, 0, 0)
	l.see(1, 2) // but these two, and those, are three
	l.want(0, 0, 0)
	l.see(1, 2) // two that met no other, and this one
	l.want(0, 0, 1)
}

func TestACountAcrossARotationMayBeInTheOlderGeneration(t *testing.T) {
	l := newLab(t, 2, counting.Max)
	s := l.start(1)
	l.rotate()
	l.finish(1, s, 1)
	l.rotate()
	l.see(1, 1) // the older of the two it may be in has just gone
	l.want(1, 0, 0)
}

func TestAnUnseenKeyCountedMoreThanOnceIsAFalsePositive(t *testing.T) {
	l := newLab(t, 2, counting.Max)
	l.see(1, 2)
	l.want(1, 1, 0)
	l.see(2, 1)
	l.want(2, 1, 0)
}

// A filter that was loaded knows keys the sample never saw.
func TestBesideARestoredFilterOnlyLaterGenerationsAreVouchedFor(t *testing.T) {
	n := &numbering{1, 2}
	l := lab{t, n, newSample(n, size(2, 1000), 0, true)}
	l.see(1, 2)
	l.rotate()
	l.see(2, 2)
	l.want(0, 0, 0)
	l.see(2, 1) // a false negative is one all the same
	l.want(0, 0, 1)
	l.rotate()
	l.see(3, 2)
	l.want(1, 1, 1)
}

func TestOnlyTheSliceIsSampled(t *testing.T) {
	l := newLab(t, 2, 0)
	taken := 0
	for key := range uint64(100_000) {
		hi, lo := hash(key)
		if mayBeSampled(lo) != (lo < 1<<56) {
			t.Fatalf("key with lo %#x: got sampled %v", lo, mayBeSampled(lo))
		}
		if mayBeSampled(lo) {
			taken++
			l.end(l.begin(hi, lo), hi, lo, 1)
		}
	}
	l.want(int64(taken), 0, 0)
	if want := 100_000.0 / 256; float64(taken) < 0.85*want || float64(taken) > 1.15*want {
		t.Errorf("got %d keys of 100000 sampled, want about %.0f", taken, want)
	}
	if got := l.measured().Share; got != 1.0/256 {
		t.Errorf("got a share of %v, want 1/256", got)
	}
}

// exact is a filter of exact sets that errs at chosen rates.
type exact struct {
	numbering
	held [][]uint64 // counts by key, newest first
}

func (e *exact) add(key uint64) int {
	e.held[0][key]++
	n := 0
	for _, counts := range e.held {
		n += int(min(counts[key], counting.Max))
	}
	return n
}

func (e *exact) rotate() {
	e.numbering.rotate()
	last := len(e.held) - 1
	oldest := e.held[last]
	clear(oldest)
	copy(e.held[1:], e.held[:last])
	e.held[0] = oldest
}

// Against a model that knows everything: a filter that is right throughout, one
// that reports unseen keys, and one that denies or undercounts. Every error must
// be found, and no other.
func TestSampleAgreesWithAnExactModel(t *testing.T) {
	testkit.Plain(t, "many requests by one goroutine")
	f := func(generations, reach int, wrong float64) {
		t.Helper()
		const keys = 400
		r := rand.New(rand.NewPCG(1, uint64(generations)))
		e := &exact{numbering: numbering{1, uint64(generations)}}
		for range generations {
			e.held = append(e.held, make([]uint64, keys))
		}
		s := newSample(&e.numbering, size(generations, 1000), reach, false)
		var unseen, falsePositives, falseNegatives int64
		for range testkit.Times(60_000, 6000) {
			if r.IntN(500) == 0 {
				e.rotate()
				s.forget()
			}
			key := uint64(r.Float64() * r.Float64() * keys)
			hi, lo := sampled(key)
			begun := s.begin(hi, lo)
			count := e.add(key)
			if count == 1 {
				unseen++
			}
			if reach == 0 {
				count = min(count, 2)
			}
			if r.Float64() < wrong {
				if count == 1 {
					count, falsePositives = 2, falsePositives+1
				} else {
					count, falseNegatives = count-1, falseNegatives+1
				}
			}
			s.end(begun, hi, lo, count)
		}
		m := s.measured()
		got, want := [3]int64{m.Unseen, m.FalsePositives, m.FalseNegatives}, [3]int64{unseen, falsePositives, falseNegatives}
		if got != want {
			t.Errorf("%d generations, reach %d, %v wrong: got %d, want %d", generations, reach, wrong, got, want)
		}
	}
	for generations := bloom.MinGenerations; generations <= bloom.MaxGenerations; generations++ {
		for _, reach := range []int{0, counting.Max} {
			f(generations, reach, 0)
			f(generations, reach, 0.05)
		}
	}
}

func TestEntryIsAsLargeAsBytesSays(t *testing.T) {
	if got := reflect.TypeFor[entry]().Size(); got != entryBytes {
		t.Errorf("got %d bytes, want %d", got, entryBytes)
	}
	f := func(generations int, capacity, want int64) {
		t.Helper()
		s := newSample(&numbering{1, 2}, size(generations, capacity), 0, false)
		if got := s.bytes() / entryBytes; got != want {
			t.Errorf("entries for %d generations of %d: got %d, want %d", generations, capacity, got, want)
		}
	}
	f(2, 1, 1<<10)
	f(2, 1_000_000, 1<<14)
	f(4, 1_000_000, 1<<15)
	f(4, 1_000_000_000, 1<<16)
}
