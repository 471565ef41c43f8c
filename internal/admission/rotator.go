package admission

import (
	"sync"
	"time"

	"edgeproxy/internal/bloom"
)

// clock reads the time for the loops of this package. All else gets the time as an argument.
func clock() time.Time { return time.Now() }

// window is what a rotator rotates.
type window interface {
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
}

// rotator rotates one window, from a goroutine of its own.
type rotator struct {
	name    string
	window  window
	every   time.Duration // 0: only when full
	onEarly func(filter string, age time.Duration)
	guard   func(step func())

	due    <-chan struct{} // nil, or receives when settle is to be called
	settle func(now time.Time)

	fitted bool            // a full window is no early rotation
	ended  <-chan struct{} // nil, or receives as FullC of the window does
	moved  <-chan struct{} // nil, or receives when tell is to be called
	tell   func()

	once sync.Once
	stop chan struct{} // closed to end run
	done chan struct{} // closed when run has ended
}

func newRotator(name string, w window, every time.Duration, onEarly func(string, time.Duration), guard func(func())) *rotator {
	if onEarly == nil {
		onEarly = func(string, time.Duration) {}
	}
	return &rotator{
		name: name, window: w, every: every, onEarly: onEarly, guard: guarded(guard),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// run rotates the window until close: every period, and at once when it is full. Began is when the newest generation
// began. Each rotation starts a new period at its begin and not after the clearing, so that no sighting outlives G
// periods by the time that the clearing takes.
func (r *rotator) run(began time.Time) {
	defer close(r.done)
	if r.window.Full() { // restored full: it does not signal
		began = r.rotate(began, r.filled())
	}
	var tick <-chan time.Time // stays nil, and never fires, without a period
	var timer *time.Timer
	if r.every > 0 {
		timer = time.NewTimer(r.every - time.Since(began))
		defer timer.Stop()
		tick = timer.C
	}
	for {
		select {
		case <-r.stop:
			return
		case <-r.due:
			r.guard(func() { r.settle(clock()) })
			continue
		case <-r.moved:
			r.guard(r.tell)
			continue
		case <-tick:
			began = r.rotate(began, bloom.CauseTime)
		case <-r.window.FullC():
			began = r.fill(began)
		case <-r.ended:
			began = r.fill(began)
		}
		if timer != nil {
			timer.Reset(r.every - time.Since(began))
		}
	}
}

// fill rotates a full window; the signal may be for a generation rotated meanwhile. It returns when the newest
// generation began.
func (r *rotator) fill(began time.Time) time.Time {
	if !r.window.Full() {
		return began
	}
	return r.rotate(began, r.filled())
}

// filled returns the cause of the rotation of a full window.
func (r *rotator) filled() bloom.Cause {
	if r.fitted {
		return bloom.CauseFitted
	}
	return bloom.CauseFull
}

// rotate begins a new generation and returns when.
func (r *rotator) rotate(began time.Time, cause bloom.Cause) time.Time {
	now := clock()
	r.guard(func() {
		r.window.Rotate(now, cause)
		if age := now.Sub(began); cause == bloom.CauseFull && age < r.every {
			r.onEarly(r.name, age)
		}
	})
	return now
}

// guarded returns guard, or a function that just runs the step if guard is nil.
func guarded(guard func(step func())) func(step func()) {
	if guard == nil {
		return func(step func()) { step() }
	}
	return guard
}

// close ends run and waits for it. It may be called more than once.
func (r *rotator) close() {
	r.once.Do(func() { close(r.stop) })
	<-r.done
}
