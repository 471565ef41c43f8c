package admission

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/cache/statefile"
)

// keeper saves the memories of a gate to a file, from a goroutine of its own and on request.
type keeper struct {
	options  StateOptions
	guard    func(step func())
	memories []*memory
	fit      *fit.Fit

	saving chan struct{} // has a token while a save runs
	stop   chan struct{} // closed to end run
	done   chan struct{} // closed when run has ended

	mu      sync.Mutex
	started bool // run was begun
	closed  bool // run may not be started any more
	state   StateStats
}

// newKeeper returns a keeper with nothing saved yet.
func newKeeper(o StateOptions, memories []*memory, known *fit.Fit, guard func(func())) *keeper {
	o.Every = cmp.Or(o.Every, defaultSaveEvery)
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return &keeper{
		options: o, memories: memories, fit: known, guard: guarded(guard),
		saving: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// start begins run, unless it was begun before or close came first.
func (k *keeper) start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.started || k.closed {
		return
	}
	k.started = true
	go k.run()
}

// run saves periodically until close.
func (k *keeper) run() {
	defer close(k.done)
	ticker := time.NewTicker(k.options.Every)
	defer ticker.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-ticker.C:
			k.guard(func() { k.saveOnce(clock()) })
		}
	}
}

// close ends run, waits for it, and reports whether it was ever begun. It is
// called once.
func (k *keeper) close() (started bool) {
	k.mu.Lock()
	k.closed = true
	started = k.started
	k.mu.Unlock()
	if started {
		close(k.stop)
		<-k.done
	}
	return started
}

// saveOnce saves. Nobody waits for the result, so an error goes to OnError.
func (k *keeper) saveOnce(now time.Time) {
	if err := k.save(now); err != nil {
		k.options.OnError(err)
	}
}

// save replaces the file. One save runs at a time, others wait for their turn.
func (k *keeper) save(now time.Time) error {
	k.saving <- struct{}{}
	defer func() { <-k.saving }()
	var size int64
	err := statefile.Write(k.options.Path, func(w io.Writer) (err error) {
		size, err = writeState(w, k.options.Seed, k.memories, k.fit, now)
		return err
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.state.Failures++
		return fmt.Errorf("save the sightings: %w", err)
	}
	k.state.Saves++
	k.state.Saved, k.state.Bytes = now, size
	return nil
}

// writeState writes memories and what is known of the sizes of responses to w, and returns its length.
func writeState(w io.Writer, seed uint64, memories []*memory, known *fit.Fit, now time.Time) (int64, error) {
	sw := newStateWriter(w, seed, now)
	for _, m := range memories {
		m.save(sw, now)
	}
	sw.bytes(fitSection, known.AppendBinary(nil))
	err := sw.close()
	return sw.n, err
}

// stats returns the counters of the saves.
func (k *keeper) stats() StateStats {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}
