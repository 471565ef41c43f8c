package admission

import (
	"math"
	"testing"

	"edgeproxy/internal/bloom"
)

func (a *accuracy) now4() (unseen, wrong int64, ratio, expected float64) {
	var m Measured
	a.read(&m)
	return m.HorizonUnseen, m.HorizonFalsePositives, m.Ratio, m.Expected
}

func wantAccuracy(t *testing.T, a *accuracy, unseen, wrong int64, expected float64) {
	t.Helper()
	u, w, r, e := a.now4()
	ratio := 0.0
	if unseen > 0 {
		ratio = float64(wrong) / float64(unseen)
	}
	if u != unseen || w != wrong || math.Abs(r-ratio) > 1e-12 || math.Abs(e-expected) > 1e-12 {
		t.Errorf("got %d unseen, %d wrong, ratio %v, expected %v; want %d, %d, %v, %v", u, w, r, e, unseen, wrong, ratio, expected)
	}
}

func TestExpectedIsTheMeanOverTheSightings(t *testing.T) {
	a := &accuracy{}
	wantAccuracy(t, a, 0, 0, 0)
	a.settle(100, 1, 0.02) // from 0 to 2 %
	wantAccuracy(t, a, 100, 1, 0.01)
	a.settle(400, 10, 0.04) // 300 more, from 2 to 4 %
	wantAccuracy(t, a, 400, 10, (100*0.01+300*0.03)/400)
	a.beginPeriod(0.01) // a rotation: no sighting saw the way from 4 to 1 %
	a.settle(500, 12, 0.01)
	wantAccuracy(t, a, 500, 12, (100*0.01+300*0.03+100*0.01)/500)
	a.settle(500, 12, 0.5) // nobody asked meanwhile
	wantAccuracy(t, a, 500, 12, (100*0.01+300*0.03+100*0.01)/500)
}

func TestWhatIsOlderThanTheHorizonNoLongerCounts(t *testing.T) {
	a := &accuracy{rate: 0.5}
	a.settle(1000, 500, 0.5)
	for n := range int64(horizon) {
		wantAccuracy(t, a, 1000+10*n, 500+n, (1000*0.5+float64(10*n)*0.1)/float64(1000+10*n))
		a.beginPeriod(0.1)
		a.settle(1000+10*(n+1), 500+n+1, 0.1)
	}
	wantAccuracy(t, a, 10*horizon, horizon, 0.1)
}

// Stats and the rotator settle at the same time and may come in either order.
func TestTotalsReadEarlierDoNotTakeBackWhatIsSettled(t *testing.T) {
	a := &accuracy{rate: 0.1}
	a.settle(100, 5, 0.1)
	a.settle(90, 4, 0.1)
	a.settle(110, 4, 0.1)
	wantAccuracy(t, a, 100, 5, 0.1)
	a.settle(110, 6, 0.1)
	wantAccuracy(t, a, 110, 6, 0.1)
}

// Expected has to follow the fill closely, whatever the size of the slice.
func TestTheExpectedRateIsNotedOftenWithinAGeneration(t *testing.T) {
	f := func(capacity int64, bits uint32, want int64) {
		t.Helper()
		s := newSample(&numbering{1, 2}, bloom.Options{Generations: 2, Capacity: capacity}, 0, false)
		s.bits.Store(bits)
		if got := s.settleEvery(); got != want {
			t.Errorf("capacity %d, %d bits: got every %d sightings, want %d", capacity, bits, got, want)
		}
	}
	f(1, firstBits, 1)
	f(1000, firstBits, 1)
	f(1_048_576, firstBits, 256)
	f(1_048_576, firstBits+1, 128)
	f(1_048_576, hashBits, 1)
}
