package proxy

import (
	"errors"
	"sync"
	"time"
)

const (
	// syncsAtOnce is how many syncs may follow each other at once.
	syncsAtOnce = 64
	// syncEvery is how far apart they are after that. No request waits longer for the next one.
	syncEvery = 20 * time.Millisecond
)

// syncPacer bounds how often something is synced to the disk because of requests that any client may make. A sync writes some KiB, for however
// little. So many requests in a row do not have one each: who comes too soon waits for the next one, and shares it with all who wait. The zero
// syncPacer is ready.
type syncPacer struct {
	mu   sync.Mutex
	full time.Time // when syncsAtOnce are allowed again
	next *sharedSync
}

// sharedSync is one that is waited for.
type sharedSync struct {
	done chan struct{}
	err  error
}

// errNotSynced is what those get who waited for a sync that ended in a panic.
var errNotSynced = errors.New("the sync was not finished")

// keep calls sync, or returns what a call by another goroutine has returned that began after keep was called.
func (s *syncPacer) keep(sync func() error) error {
	s.mu.Lock()
	if next := s.next; next != nil {
		s.mu.Unlock()
		<-next.done
		return next.err
	}
	wait := s.takeLocked(now())
	if wait == 0 {
		s.mu.Unlock()
		return sync()
	}
	next := &sharedSync{done: make(chan struct{}), err: errNotSynced}
	s.next = next
	s.mu.Unlock()
	defer close(next.done)
	pause(wait)
	s.mu.Lock()
	s.next = nil // who comes now has changed something that this one may miss
	s.mu.Unlock()
	next.err = sync()
	return next.err
}

// takeLocked takes one of the syncs that are allowed, and returns how long it has to wait.
func (s *syncPacer) takeLocked(at time.Time) (wait time.Duration) {
	if s.full.Before(at) {
		s.full = at
	}
	s.full = s.full.Add(syncEvery)
	return max(0, s.full.Sub(at)-syncsAtOnce*syncEvery)
}
