package admission

import (
	"sync"
	"time"

	"edgeproxy/internal/bloom"
)

// filter is what a rotator needs of a sliding filter.
type filter interface {
	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
	Stats(now time.Time) bloom.Stats
	Bytes() int64
}

// rotator keeps one filter's window moving, from a goroutine of its own.
type rotator struct {
	name    string
	filter  filter
	every   time.Duration // 0: by fill only
	onEarly func(filter string, age time.Duration)

	once sync.Once
	stop chan struct{} // closed to end run
	done chan struct{} // closed when run has ended
}

func newRotator(name string, f filter, every time.Duration, onEarly func(string, time.Duration)) *rotator {
	if onEarly == nil {
		onEarly = func(string, time.Duration) {}
	}
	return &rotator{
		name: name, filter: f, every: every, onEarly: onEarly,
		stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// run rotates the filter until close: every period, and at once when it is
// full. began is when the newest generation began; each rotation starts a new
// period from there, not from the end of the clearing, so that no sighting
// outlives G periods by the time the clearing takes.
func (r *rotator) run(began time.Time) {
	defer close(r.done)
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
		case <-tick:
			began = r.rotate(began, bloom.CauseTime)
		case <-r.filter.FullC():
			if !r.filter.Full() {
				continue // the signal was for a generation rotated meanwhile
			}
			began = r.rotate(began, bloom.CauseFull)
		}
		if timer != nil {
			timer.Reset(r.every - time.Since(began))
		}
	}
}

// rotate begins a new generation and returns when.
func (r *rotator) rotate(began time.Time, cause bloom.Cause) time.Time {
	now := time.Now()
	r.filter.Rotate(now, cause)
	if age := now.Sub(began); cause == bloom.CauseFull && age < r.every {
		r.onEarly(r.name, age)
	}
	return now
}

// close ends run and waits for it. It may be called more than once.
func (r *rotator) close() {
	r.once.Do(func() { close(r.stop) })
	<-r.done
}
