package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/purge"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/wire"
)

// settler makes room for marks of purges. Marks are for what is stored and what is on its
// way. Once there are many, all that is stored is held against them and forgotten where they
// have purged it; then they can go, and whatever is on its way since before that is not
// stored. So no number of purges reaches what none of them meant. It costs a walk over
// the cache for each 32,768 URLs or tags, 2,048 hosts or 512 prefixes, in a goroutine of its own,
// which holds up nobody but purges that come faster than that.
type settler struct {
	p     *Proxy
	sweep sync.WaitGroup
	count atomic.Int64 // of sweeps

	mu      sync.Mutex
	running chan struct{} // closed at the end of the sweep that goes on; nil where none does
	closed  bool
}

// crowded is called by each purge while there is little room for marks, and waits where
// there is none.
func (s *settler) crowded(full bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	if s.running == nil {
		s.running = make(chan struct{})
		s.sweep.Go(s.settle)
	}
	done := s.running
	s.mu.Unlock()
	if full {
		<-done
	}
}

// settle makes all that is stored obey the marks that there are, and lets them go.
func (s *settler) settle() {
	defer func() {
		if v := recover(); v != nil { // the marks stay, and the next purge tries again
			s.p.Panics.Note(v)
		}
		s.mu.Lock()
		close(s.running)
		s.running = nil
		s.mu.Unlock()
	}()
	p := s.p
	upTo, at := p.Purges.Now(), now()
	var reached []cache.Key
	p.Store.Each(func(e *cache.Entry) {
		if p.purgedBy(e) != purge.Valid {
			reached = append(reached, e.Key)
		}
	})
	for _, key := range reached {
		p.Store.Revise(key, func(e *cache.Entry) *cache.Entry {
			switch p.purgedBy(e) {
			case purge.Gone:
				return nil
			case purge.Stale:
				e = swept(e, at)
				e.Born = upTo // what is older than that has had its say
			case purge.Valid:
			}
			return e
		})
	}
	p.Purges.Settle(upTo)
	s.count.Add(1)
}

// swept returns e, which a soft purge has reached, as outdated at the time of the sweep. Its age
// begins there: also a request that came between the purge and the sweep finds it stale.
func swept(e *cache.Entry, at time.Time) *cache.Entry {
	o := outdated(e, at)
	o.InitialAge, o.ResponseTime = rfc9111.CurrentAge(e.InitialAge, e.ResponseTime, at), at
	return o
}

// purgedBy returns what the purges have made of e, whose key says for which URL it is
// stored.
func (p *Proxy) purgedBy(e *cache.Entry) purge.State {
	scheme, host, target, ok := wire.KeyURL(e.Name)
	if !ok {
		return purge.Gone // no key of ours
	}
	u := purge.URL{Scheme: schemePlain, Host: host, Target: target}
	if string(scheme) != schemePlain {
		u.Scheme = string(scheme)
	}
	return p.purgedSince(e, u)
}

// close waits for a sweep that goes on, and begins no other.
func (s *settler) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.sweep.Wait()
}
