package bloom

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBlockSizeGivesTheWorkedFigures(t *testing.T) {
	const n = 1_000_000
	f := func(p, blockBits, lineBits float64) {
		t.Helper()
		near(t, "bits a key in split blocks", float64(BlockSize(n, p))*256/n, blockBits, 0.001)
		near(t, "bits a key in counting lines", float64(LineSize(n, p))*512/n, lineBits, 0.001)
	}
	f(0.01, 10.521, 46.547)
	f(GenerationRate(0.01, 2), 12.198, 58.756)
	f(GenerationRate(0.001, 3), 20.911, 146.77)
	f(GenerationRate(0.05, 4), 9.984, 42.852)
}

// The series and the closed form are the same sum by different ways. The closed
// form alone loses digits to cancellation at low rates, so they are compared
// where it has some.
func TestSeriesAndClosedFormAgree(t *testing.T) {
	for _, lanes := range []int{blockLanes, lineLanes} {
		for _, mean := range []float64{4, 10, 25, 60, 150, closedFrom} {
			near(t, "closed form", closedRate(lanes, mean), blockedRate(lanes, 1000, uint64(mean*1000)), 1e-6)
		}
	}
}

func TestBlockRateRisesFromNothingToOne(t *testing.T) {
	if BlockRate(1000, 0) != 0 || LineRate(1000, 0) != 0 || LaneFill(1000, 0) != 0 {
		t.Errorf("empty: got rates %v and %v and fill %v, want 0", BlockRate(1000, 0), LineRate(1000, 0), LaneFill(1000, 0))
	}
	last := 0.0
	for n := uint64(1); n < 1<<50; n *= 2 {
		got := BlockRate(1000, n)
		if got < last || got > 1 || math.IsNaN(got) || LineRate(1000, n) < got {
			t.Fatalf("%d keys: got a rate of %v after %v, want more, at most 1, and less than 4 lanes have", n, got, last)
		}
		last = got
	}
	if last != 1 {
		t.Errorf("got %v in the end, want 1", last)
	}
}

// One block of one key: each lane has one bit of 32.
func TestBlockRateOfOneKeyIsThatOfEightLanes(t *testing.T) {
	const blocks = 1 << 30
	near(t, "rate of one key", BlockRate(blocks, 1), math.Pow(32, -8)/blocks, 1e-6)
	near(t, "rate of one key in lines", LineRate(blocks, 1), math.Pow(32, -4)/blocks, 1e-6)
}

// The formula against blocks filled at random, without any filter.
func TestBlockRateAgreesWithThrownDice(t *testing.T) {
	const blocks, keys = 20_000, 20_000 * 20
	random := rand.New(rand.NewPCG(21, 0))
	lanes := make([][blockLanes]uint32, blocks)
	for range keys {
		b := &lanes[random.IntN(blocks)]
		for i := range b {
			b[i] |= 1 << random.IntN(32)
		}
	}
	rate, fill := 0.0, 0
	for _, b := range lanes {
		all := 1.0
		for _, lane := range b {
			ones := 0
			for ; lane != 0; lane &= lane - 1 {
				ones++
			}
			all *= float64(ones) / 32
			fill += ones
		}
		rate += all / blocks
	}
	near(t, "rate", BlockRate(blocks, keys), rate, 0.03)
	near(t, "fill", LaneFill(blocks, keys), float64(fill)/(blocks*256), 0.005)
	// What makes the sum worth its while: the mean fill says too little.
	if flat := math.Pow(LaneFill(blocks, keys), blockLanes); flat > 0.8*rate {
		t.Errorf("the mean fill to the 8th power: got %v, want it well below %v", flat, rate)
	}
}

func TestBlockSizeIsTheSmallestThatKeepsTheRate(t *testing.T) {
	f := func(size func(uint64, float64) uint64, rate func(blocks, n uint64) float64, lowest float64) {
		t.Helper()
		for _, n := range []uint64{1, 7, 1000, 1_000_000, 50_000_000} {
			for _, p := range []float64{0.9, 0.3, 0.01, 1e-4, lowest} {
				blocks := size(n, p)
				if got := rate(blocks, n); got > p {
					t.Errorf("%d keys at %v: %d blocks have a rate of %v", n, p, blocks, got)
				}
				if got := rate(blocks-1, n); blocks > 1 && got <= p {
					t.Errorf("%d keys at %v: got %d blocks, and one less has a rate of %v", n, p, blocks, got)
				}
			}
		}
	}
	f(BlockSize, BlockRate, 1e-9)
	f(LineSize, LineRate, 1e-5)
}

func TestBlockSizeRefusesWhatNoFilterCanBe(t *testing.T) {
	f := func(n uint64, p float64) {
		t.Helper()
		if b, l := BlockSize(n, p), LineSize(n, p); b != 0 || l != 0 {
			t.Errorf("%d keys at %v: got %d blocks and %d lines, want 0", n, p, b, l)
		}
	}
	f(0, 0.01)
	f(1, 0)
	f(1, 1)
	f(1, math.NaN())
	f(1<<40, 0.01)
	f(math.MaxUint64, 0.01)
}
