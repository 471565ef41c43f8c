package bloom

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Generation is one filter of a Ring. All methods must be safe for concurrent
// use with one another and with the filter's own look-ups and inserts.
type Generation interface {
	Clear()        // empties it; called off the request path
	Keys() int64   // distinct keys since Clear
	Fill() float64 // share of cells in use, in [0, 1], without a scan
	Bytes() int64  // memory of the cells
}

// Ring keeps the generations of a sliding window and rotates them.
//
// The window is an immutable list, newest first, read with one atomic load.
// The newest generation, the master, takes the inserts. A rotation goes in
// three steps, none of which a request waits for:
//
//  1. publish the window without its oldest generation,
//  2. clear that generation; inserts still go to the old master,
//  3. publish it as the new master.
//
// With G generations rotated every T, and clearing taking c, a sighting is
// therefore held for at least (G-1)T - c, since it may fall into an old master
// at the end of step 2, and never beyond G T, since none falls into a master
// before its rotation began. What the timer that drives the rotation is late by
// comes on top.
//
// A call may still hold a window that is no longer published. It then reads and
// writes generations that have grown older meanwhile, which is right for the
// moment it began: the guarantee runs from the beginning of a call. Only a call
// held up for so long that its master has become the oldest, G-1 rotations or
// more, can meet the clearing. Its sighting may be lost, or leave up to one
// insert behind (k cells, one key) in the generation being emptied, which goes
// with that generation's next clearing. At any moment there are at most as many
// such inserts as there are calls that have not returned.
//
// Generations bear serial numbers: the first ones 1 to G, each rotation's new
// master one more. So a serial number stands for one life of a generation. If it is
// still held after its cells were read, no clearing had begun (SaveState relies on
// that).
type Ring[T Generation] struct {
	window   atomic.Pointer[window[T]]
	rotating atomic.Bool // held by the one Rotate under way, which alone replaces window
	full     chan struct{}
	count    [causes]atomic.Int64 // rotations done

	capacity int64
	rate     func(T) float64
	bytes    int64
}

// window is one published state; never written after that.
type window[T Generation] struct {
	held           []T         // newest first
	starts         []time.Time // of each one held
	oldest, newest uint64      // serial numbers of the last and the first one held
}

// NewRing returns a ring of the given generations, newest first, which are its
// own from now on; starts says when each began. capacity is the number of keys
// at which the master is full. rate returns the share of unseen keys that a
// generation reports now; it is called by Stats only. It panics where there are
// not MinGenerations to MaxGenerations of them, or not as many starts.
func NewRing[T Generation](held []T, starts []time.Time, capacity int64, rate func(T) float64) *Ring[T] {
	if len(held) < MinGenerations || len(held) > MaxGenerations || len(starts) != len(held) {
		panic(fmt.Sprintf("bloom: ring of %d generations and %d starts: want %d to %d of both",
			len(held), len(starts), MinGenerations, MaxGenerations))
	}
	r := &Ring[T]{full: newSignal(), capacity: capacity, rate: rate}
	for _, g := range held {
		r.bytes += g.Bytes()
	}
	r.window.Store(&window[T]{held: held, starts: starts, oldest: 1, newest: uint64(len(held))})
	return r
}

func newSignal() chan struct{} { return make(chan struct{}, 1) }

// Held returns the generations of the window, newest first: G of them, G-1
// while one is cleared. The slice is shared and must not be written. One call of
// a filter uses one Held throughout.
func (r *Ring[T]) Held() []T { return r.window.Load().held }

// Serials returns the serial numbers of the oldest and of the newest generation
// now published. They differ by G-1, by G-2 while one is cleared: oldest is
// already the next then.
func (r *Ring[T]) Serials() (oldest, newest uint64) {
	w := r.window.Load()
	return w.oldest, w.newest
}

// Start returns when the newest generation began.
func (r *Ring[T]) Start() time.Time { return r.window.Load().starts[0] }

// Recorded is to be called after master, as taken from Held, has counted a new
// key, or now and then. It wakes the receiver of FullC once master holds its
// capacity.
func (r *Ring[T]) Recorded(master T) {
	if master.Keys() < r.capacity {
		return
	}
	select {
	case r.full <- struct{}{}:
	default: // one waiting signal says it all
	}
}

// FullC returns a channel that receives when the master may have become full.
// It holds one signal, which may be out of date: ask Full before rotating.
func (r *Ring[T]) FullC() <-chan struct{} { return r.full }

// Full reports whether the master holds its capacity of keys. Keys being
// recorded at this moment may or may not count.
func (r *Ring[T]) Full() bool { return r.Held()[0].Keys() >= r.capacity }

// Bytes returns the memory of all generations, held or being cleared.
func (r *Ring[T]) Bytes() int64 { return r.bytes }

// Rotate forgets the oldest generation and makes it the master, as of now. It
// takes as long as the clearing does, some nanoseconds a word. One rotation
// runs at a time: a call that finds one under way does nothing and returns
// false, since what it asked for is happening. SaveState holds no rotation up.
func (r *Ring[T]) Rotate(now time.Time, cause Cause) bool {
	if !r.rotating.CompareAndSwap(false, true) {
		return false
	}
	defer r.rotating.Store(false)
	w := r.window.Load()
	last := len(w.held) - 1
	oldest := w.held[last]
	w = &window[T]{held: w.held[:last], starts: w.starts[:last], oldest: w.oldest + 1, newest: w.newest}
	r.window.Store(w)
	oldest.Clear()
	r.window.Store(&window[T]{
		held:   append([]T{oldest}, w.held...),
		starts: append([]time.Time{now}, w.starts...),
		oldest: w.oldest, newest: w.newest + 1,
	})
	r.count[cause].Add(1)
	return true
}
