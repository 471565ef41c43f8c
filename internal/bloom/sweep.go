package bloom

import (
	"iter"
	"runtime"
	"sync/atomic"
)

// sweepWords is how many words are cleared in one go: 32 KiB, some tens of
// microseconds, which is what a request on the same processor waits at most.
const sweepWords = 4096

// Sweep sets every word to 0 and hands each that was not to cleared. Each word
// is swapped by itself, so a bit set by a racing writer is either handed over
// or still there afterwards, never lost uncounted. After every slice it lets
// other goroutines run. Words that are 0 are only read.
func Sweep(words []atomic.Uint64, cleared func(old uint64)) {
	for from, to := range Slices(len(words), 1) {
		for i := from; i < to; i++ {
			if words[i].Load() == 0 {
				continue
			}
			if old := words[i].Swap(0); old != 0 {
				cleared(old)
			}
		}
	}
}

// Slices yields the ranges [from, to) that n units of so many words each are
// best cleared in: 32 KiB at a time. After every slice it lets other goroutines
// run.
func Slices(n, words int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		step := max(sweepWords/words, 1)
		for from := 0; from < n; from += step {
			if !yield(from, min(from+step, n)) {
				return
			}
			runtime.Gosched()
		}
	}
}
