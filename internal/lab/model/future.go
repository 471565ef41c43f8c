package model

import "edgeproxy/internal/lab/trace"

// MostForeseen is the most requests of a Future, whose memory is then 1 GiB.
const MostForeseen = 1 << 28

// Future knows, for each request of a trace, when its object is asked for next. Clairvoyant needs it. It takes 4 bytes for each request
// and each object. Add is for one goroutine; after the last Add several Runs may use the Future at the same time.
type Future struct {
	gaps   []uint32 // for each request how many requests later its object is asked for next; 0: never
	latest []uint32 // for each object the number of its latest request, from 1 on; 0: none
}

// NewFuture returns the Future of a trace of so many objects and requests, at most MostForeseen, before any of them is added.
func NewFuture(objects int, requests int64) *Future {
	return &Future{gaps: make([]uint32, 0, requests), latest: make([]uint32, objects)}
}

// Add adds the next requests of the trace.
func (f *Future) Add(requests []trace.Access) {
	for _, a := range requests {
		f.gaps = append(f.gaps, 0)
		number := uint32(len(f.gaps))
		if before := f.latest[a.Object]; before > 0 {
			f.gaps[before-1] = number - before
		}
		f.latest[a.Object] = number
	}
}

// never is the next request of what is not asked for again.
const never = int64(1) << 40

// next returns the number of the request for the same object that follows request n, never if none does. Numbers begin at 0.
func (f *Future) next(n int64) int64 {
	if n >= int64(len(f.gaps)) || f.gaps[n] == 0 {
		return never
	}
	return n + int64(f.gaps[n])
}
