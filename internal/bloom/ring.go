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
//  2. clear that generation, or make one of another size; inserts still go to
//     the old master,
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
//
// A generation is as large as its filter made it; those of one Ring may differ.
type Ring[T Generation, V any] struct {
	window   atomic.Pointer[window[T, V]]
	rotating atomic.Bool // held by the one Rotate under way, which alone replaces window
	full     chan struct{}
	count    [causes]atomic.Int64 // rotations done

	limit atomic.Int64 // keys at which the master is full, however large it is
	form  Form[T, V]
}

// Form is what a Ring has to know of its generations. What is nil has the meaning
// given with it.
type Form[T Generation, V any] struct {
	// Rate returns the share of unseen keys that a generation reports now. Stats
	// calls it. It must be there.
	Rate func(T) float64

	// Room returns how many keys a generation was made for. Nil: as many as the
	// limit says.
	Room func(T) int64

	// Next returns the master to follow newest, empty. oldest has just left the
	// window and may be it, or is forgotten. Nil: oldest is cleared.
	Next func(oldest, newest T) T

	// View returns what a look-up needs of the generations held; it is worked out
	// once for every state of the window. Nil: nothing.
	View func(held []T) V

	// Bytes returns the memory of the generations held. Nil: the sum of theirs.
	Bytes func(held []T) int64
}

// window is one published state; never written after that.
type window[T Generation, V any] struct {
	held           []T         // newest first
	starts         []time.Time // start of each generation in held
	oldest, newest uint64      // serial numbers of the last and the first one held
	view           V
	bytes          int64 // bytes of all generations, one that is being cleared included
}

// NewRing returns a ring of the generations in held, newest first, which belong to it
// from now on; starts says when each began. The newest generation, the master, is full at limit keys, or
// when it has no more room. NewRing panics if held has fewer than MinGenerations or more than
// MaxGenerations, or if starts has another length.
func NewRing[T Generation, V any](held []T, starts []time.Time, limit int64, form Form[T, V]) *Ring[T, V] {
	if len(held) < MinGenerations || len(held) > MaxGenerations || len(starts) != len(held) {
		panic(fmt.Sprintf("bloom: ring of %d generations and %d starts: must be %d to %d of both",
			len(held), len(starts), MinGenerations, MaxGenerations))
	}
	r := &Ring[T, V]{full: newSignal(), form: form}
	r.limit.Store(limit)
	r.publish(&window[T, V]{held: held, starts: starts, oldest: 1, newest: uint64(len(held)), bytes: r.bytesOf(held)})
	return r
}

// publish makes w the window.
func (r *Ring[T, V]) publish(w *window[T, V]) {
	if r.form.View != nil {
		w.view = r.form.View(w.held)
	}
	r.window.Store(w)
}

func (r *Ring[T, V]) bytesOf(held []T) (n int64) {
	if r.form.Bytes != nil {
		return r.form.Bytes(held)
	}
	for _, g := range held {
		n += g.Bytes()
	}
	return n
}

func newSignal() chan struct{} { return make(chan struct{}, 1) }

// Held returns the generations of the window, newest first: G of them, G-1
// while one is cleared. The slice is shared and must not be written. One call of
// a filter uses one Held throughout.
func (r *Ring[T, V]) Held() []T { return r.window.Load().held }

// View returns what Form.View made of the window. It is shared and must not be
// written. One call of a filter uses one View, or one Held, throughout.
func (r *Ring[T, V]) View() *V { return &r.window.Load().view }

// Serials returns the serial numbers of the oldest and of the newest generation
// now published. They differ by G-1, by G-2 while one is cleared: oldest is
// already the next then.
func (r *Ring[T, V]) Serials() (oldest, newest uint64) {
	w := r.window.Load()
	return w.oldest, w.newest
}

// Start returns when the newest generation began.
func (r *Ring[T, V]) Start() time.Time { return r.window.Load().starts[0] }

// Limit returns the number of keys at which the master is full, if it has room for
// as many.
func (r *Ring[T, V]) Limit() int64 { return r.limit.Load() }

// SetLimit sets it, to 1 or more. A master that holds as many already is full from
// now on; the next one can be made for the new limit.
func (r *Ring[T, V]) SetLimit(keys int64) {
	r.limit.Store(max(keys, 1))
	r.Recorded(r.Held()[0])
}

// Recorded is to be called after master, as taken from Held or View, has counted a
// new key, or now and then. It wakes the receiver of FullC once master is full.
func (r *Ring[T, V]) Recorded(master T) {
	if !r.isFull(master) {
		return
	}
	select {
	case r.full <- struct{}{}:
	default: // one waiting signal says it all
	}
}

func (r *Ring[T, V]) isFull(g T) bool {
	keys := g.Keys()
	return keys >= r.limit.Load() || r.form.Room != nil && keys >= r.form.Room(g)
}

// FullC returns a channel that receives when the master may have become full.
// It holds one signal, which may be out of date: ask Full before rotating.
func (r *Ring[T, V]) FullC() <-chan struct{} { return r.full }

// Full reports whether the master holds as many keys as the limit, or as it was made
// for. Keys being recorded at this moment may or may not count.
func (r *Ring[T, V]) Full() bool { return r.isFull(r.Held()[0]) }

// Bytes returns the memory of all generations, held or being cleared.
func (r *Ring[T, V]) Bytes() int64 { return r.window.Load().bytes }

// Rotate forgets the oldest generation and begins a new one, as of now. It
// takes as long as the clearing does, some nanoseconds a word. One rotation
// runs at a time: a call that finds one under way does nothing and returns
// false, since what it asked for is happening. SaveState holds no rotation up.
func (r *Ring[T, V]) Rotate(now time.Time, cause Cause) bool {
	if !r.rotating.CompareAndSwap(false, true) {
		return false
	}
	defer r.rotating.Store(false)
	w := r.window.Load()
	last := len(w.held) - 1
	oldest := w.held[last]
	w = &window[T, V]{held: w.held[:last], starts: w.starts[:last], oldest: w.oldest + 1, newest: w.newest, bytes: w.bytes}
	r.publish(w)
	held := append([]T{r.next(oldest, w.held[0])}, w.held...)
	r.publish(&window[T, V]{
		held:   held,
		starts: append([]time.Time{now}, w.starts...),
		oldest: w.oldest, newest: w.newest + 1, bytes: r.bytesOf(held),
	})
	r.count[cause].Add(1)
	return true
}

// next returns the new master.
func (r *Ring[T, V]) next(oldest, newest T) T {
	if r.form.Next != nil {
		return r.form.Next(oldest, newest)
	}
	oldest.Clear()
	return oldest
}
