package fit

import "testing"

func TestTheStageIsATenthUnlessTheLargestObjectNeedsTheRoom(t *testing.T) {
	const mib = 1 << 20
	f := func(memory, largest, want int64) {
		t.Helper()
		if got := Stage(memory, largest); got != want {
			t.Errorf("%d bytes with bodies of %d: got %d, want %d", memory, largest, got, want)
		}
	}
	f(256*mib, 8*mib, 256*mib/10)
	f(33*mib, 8*mib, mib)
	f(32*mib, 8*mib, 0)
	f(32*mib+LeastStage, 8*mib, LeastStage)
	f(32*mib+LeastStage-1, 8*mib, 0)
	f(16*mib, 8*mib, 0)
	f(10*LeastStage, 1, LeastStage)
	f(10*LeastStage-1, 1, 0)
	for _, memory := range []int64{mib, 25 * mib, 1 << 30} {
		f(memory, LargestBeside(memory), memory/10)
	}
}
