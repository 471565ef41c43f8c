package bloom

import (
	"runtime"
	"sync/atomic"
)

// sweepWords is how many words Sweep clears in one go: 32 KiB, some tens of
// microseconds, which is what a request on the same processor waits at most.
const sweepWords = 4096

// Sweep sets every word to 0 and hands each that was not to cleared. Each word
// is swapped by itself, so a bit set by a racing writer is either handed over
// or still there afterwards, never lost uncounted. After every slice it lets
// other goroutines run. Words that are 0 are only read.
func Sweep(words []atomic.Uint64, cleared func(old uint64)) {
	for len(words) > 0 {
		slice := words[:min(len(words), sweepWords)]
		for i := range slice {
			if slice[i].Load() == 0 {
				continue
			}
			if old := slice[i].Swap(0); old != 0 {
				cleared(old)
			}
		}
		words = words[len(slice):]
		runtime.Gosched()
	}
}
