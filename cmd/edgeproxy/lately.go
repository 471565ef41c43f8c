package main

import (
	"sync"
	"time"

	"edgeproxy/internal/origin"
)

// What /status has since the start says little of now, after a week. So counts are noted from time to time, and /status says
// what has come to them in the last minute, or a little more: from the oldest note on.
const (
	noteEvery = 10 * time.Second
	notesKept = 7
)

// note is some counts of a moment. Nobody writes to it any more.
type note struct {
	at         time.Time
	limits     map[string]int64            // by kind and name, see limitsStatus
	firstBytes map[string]origin.FirstByte // by origin
}

// lately has the notes of the last minute. It is safe for concurrent use.
type lately struct {
	take    func() note // of now
	guarded func(step func())

	mu    sync.Mutex
	notes []note // the oldest first, at least one

	quit    chan struct{}
	working sync.WaitGroup
	closing sync.Once
}

// newLately takes the first note, and more of them until close.
func newLately(take func() note, guarded func(step func())) *lately {
	l := &lately{take: take, guarded: guarded, notes: []note{take()}, quit: make(chan struct{})}
	l.working.Go(l.work)
	return l
}

func (l *lately) work() {
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.guarded(func() { l.add(l.take()) })
		case <-l.quit:
			return
		}
	}
}

func (l *lately) add(n note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes = append(l.notes, n); len(l.notes) > notesKept {
		l.notes = append(l.notes[:0:0], l.notes[1:]...)
	}
}

// since returns the oldest note. A nil lately has one of now, without counts.
func (l *lately) since(now time.Time) note {
	if l == nil {
		return note{at: now}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.notes[0]
}

// close ends it. It may be called again, and of nil.
func (l *lately) close() {
	if l != nil {
		l.closing.Do(func() { close(l.quit) })
		l.working.Wait()
	}
}

// note notes the counts of now.
func (e *edge) note() note {
	n := note{at: time.Now(), limits: map[string]int64{}, firstBytes: map[string]origin.FirstByte{}}
	e.eachLimit(func(kind, name string, count int64) { n.limits[kind+" "+name] = count })
	for _, o := range e.now.Load().origins {
		n.firstBytes[o.config.Name] = o.origin.FirstByte()
	}
	return n
}
