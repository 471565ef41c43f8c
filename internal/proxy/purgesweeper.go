package proxy

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
)

// purgeSweeper removes purged responses from the store, so that the marks of purges can be dropped. A purge leaves a mark, and
// look-ups and stores compare responses with the marks (internal/cache/purge). Once there are many marks, a sweep over the store removes
// every response that they have purged, and drops the marks. A response whose fetch began before the sweep is not stored after it. So
// without a disk a purge never reaches what it has not named, but by chance, however many purges there are.
//
// There is a sweep for each 32,768 URLs or tags, 2,048 hosts or 512 prefixes. It runs in a goroutine of its own, and only purges
// that come faster than sweeps wait for it. A sweep over a disk may take minutes, or fail. Nobody waits for that one: the marks stay,
// and where there is no room for more they are merged into coarser ones (internal/cache/purge). Invalidations by clients avoid that, see
// invalidateOnDisk. A sweep also learns for these of which URLs there is something (selectedURLs).
type purgeSweeper struct {
	p      *Proxy
	sweep  sync.WaitGroup
	count  atomic.Int64 // how many sweeps there were
	under  atomic.Bool  // a sweep runs: from before it looks at the store until the marks are dropped
	failed atomic.Int64 // when a sweep failed last, in nanoseconds of Unix time; 0: never

	mu      sync.Mutex
	running chan struct{} // closed at the end of the sweep under way; nil while there is none
	closed  bool
}

// makeRoom is called by each purge while there is little room for marks. It waits for the sweep where
// there is none.
func (s *purgeSweeper) makeRoom(full bool) {
	s.mu.Lock()
	if s.closed || s.running == nil && s.failedRecently() {
		s.mu.Unlock()
		return
	}
	if s.running == nil {
		s.running = make(chan struct{})
		s.sweep.Go(s.run)
	}
	done := s.running
	s.mu.Unlock()
	if full && !s.p.Store.HasDisk() { // else that may take minutes: the marks fold meanwhile
		<-done
	}
}

// sweepAgain is how long after a failed sweep the next one may begin.
const sweepAgain = 10 * time.Second

func (s *purgeSweeper) failedRecently() bool {
	at := s.failed.Load()
	return at != 0 && now().Sub(time.Unix(0, at)) < sweepAgain
}

// misses reports whether a sweep may miss a response that is stored now, and drop the marks that have purged it. A write to the
// store asks this. The next sweep begins after the write.
func (s *purgeSweeper) misses() bool { return s.under.Load() }

// run applies all marks to what is stored, then drops them.
func (s *purgeSweeper) run() {
	defer func() {
		if v := recover(); v != nil { // the marks stay, and the next purge tries again
			s.p.Panics.Note(v)
		}
		s.mu.Lock()
		close(s.running)
		s.running = nil
		s.mu.Unlock()
	}()
	s.under.Store(true)
	defer s.under.Store(false)
	p := s.p
	complete := false
	if p.Store.HasDisk() {
		p.selected.begin()
		defer func() { p.selected.end(complete) }()
	}
	upTo, at := p.Purges.Now(), now()
	var reached []cache.Key
	p.Store.Each(func(o *cache.Object) {
		if p.Store.HasDisk() {
			p.sweptSelected(o.Name(), len(o.URLName()))
		}
		if p.purgedBy(o.Name(), o.Born(), o.Tags()) != purge.Valid {
			reached = append(reached, o.Key())
		}
	})
	for _, key := range reached {
		p.Store.Revise(key, func(e *cache.Entry) *cache.Entry {
			switch p.purgedBy(e.Name, e.Born, e.Tags) {
			case purge.Gone:
				return nil
			case purge.Stale:
				e = swept(e, at)
				e.Born = upTo // all marks up to there are in it now
			case purge.Valid:
			}
			return e
		})
	}
	if err := s.sweepDisk(at); err != nil {
		p.Log.Warn("the sweep for purges failed: their marks stay in memory, and a later purge starts another sweep", "error", err)
		s.failed.Store(at.UnixNano())
		return
	}
	p.Purges.Settle(upTo)
	complete = true
	s.count.Add(1)
}

// sweepDisk applies all marks to what is on the disk.
func (s *purgeSweeper) sweepDisk(at time.Time) error {
	p := s.p
	return p.Store.SweepDisk(func(e *cache.Entry) *cache.Entry {
		p.sweptSelected(e.Name, int(e.URLLen))
		switch p.purgedBy(e.Name, e.Born, e.Tags) {
		case purge.Gone:
			return nil
		case purge.Stale:
			e = swept(e, at)
			e.Policy.Lifetime = e.Policy.Lifetime.Truncate(time.Second) // the disk notes seconds
		case purge.Valid:
		}
		return e
	})
}

// swept returns e, which a soft purge has made stale, as stale from the time of the sweep on. Its age begins there, so a request
// that came between the purge and the sweep finds it stale, too.
func swept(e *cache.Entry, at time.Time) *cache.Entry {
	o := outdated(e, at)
	o.InitialAge, o.ResponseTime = rfc9111.CurrentAge(e.InitialAge, e.ResponseTime, at), at
	return o
}

// purgedBy returns what the purges have made of what is stored under name, which says for which URL.
func (p *Proxy) purgedBy(name []byte, born uint64, tags []uint64) purge.State {
	scheme, host, target, ok := wire.KeyURL(name)
	if !ok {
		return purge.Gone // no key of ours
	}
	u := purge.URL{Scheme: schemePlain, Host: host, Target: target}
	if string(scheme) != schemePlain {
		u.Scheme = string(scheme)
	}
	return p.purgedSince(name, born, tags, u)
}

// close waits for the sweep under way, if there is one, and lets no other begin.
func (s *purgeSweeper) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.sweep.Wait()
}

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
