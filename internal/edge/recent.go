package edge

import (
	"fmt"
	"sync"
	"time"

	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy"
)

// Counts since the start say little about the present after a week. So a snapshot of counts is taken from time to time, and
// /status shows how much they have grown since the oldest one: in the last minute, or a little more.
const (
	snapshotEvery = 10 * time.Second
	snapshotsKept = 7

	// The writes avoided of the last hour are told, too: they come slowly.
	hourEvery = 5 * time.Minute
	hoursKept = 13
)

// countSnapshot has the counts at one moment. It is immutable.
type countSnapshot struct {
	at         time.Time
	limits     map[string]int64              // counts by kind and name, see limitsStatus
	firstBytes map[string]origin.FirstByte   // times by origin
	bytes      map[string]int64              // bytes of bodies by origin
	classes    map[string]statusclass.Counts // responses by origin and server, see serverKeys
	waited     map[string]time.Duration      // sums of the times to their first byte, likewise
	requests   proxy.Counts
}

// serverKeys are the keys of the servers of o in countSnapshot.classes. Several servers may have one name.
func serverKeys(o *origin.Stats) []string {
	keys, named := make([]string, len(o.Servers)), map[string]int{}
	for i := range o.Servers {
		name := o.Servers[i].Address
		keys[i] = fmt.Sprint(o.Name, " ", name, " ", named[name])
		named[name]++
	}
	return keys
}

// recentCounts keeps the snapshots of the last minute. It is safe for concurrent use.
type recentCounts struct {
	take    func() countSnapshot
	guarded func(step func())

	mu        sync.Mutex
	snapshots []countSnapshot       // the oldest first, at least one
	history   history               // the last hour, in steps
	hours     []proxy.AvoidedCounts // counts of the last hour, the oldest first, at least one

	quit    chan struct{}
	working sync.WaitGroup
	closing sync.Once
}

// newRecentCounts takes the first snapshot, and more of them until close. guarded runs a step and survives its panic.
func newRecentCounts(take func() countSnapshot, guarded func(step func())) *recentCounts {
	first := take()
	l := &recentCounts{
		take: take, guarded: guarded, snapshots: []countSnapshot{first}, hours: []proxy.AvoidedCounts{first.requests.Avoided()}, quit: make(chan struct{}),
	}
	l.working.Go(l.work)
	return l
}

func (l *recentCounts) work() {
	tick := time.NewTicker(snapshotEvery)
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

func (l *recentCounts) add(n countSnapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history.add(&l.snapshots[len(l.snapshots)-1], &n)
	if l.snapshots = append(l.snapshots, n); len(l.snapshots) > snapshotsKept {
		l.snapshots = append(l.snapshots[:0:0], l.snapshots[1:]...)
	}
	if n.requests.At.Sub(l.hours[len(l.hours)-1].At) < hourEvery {
		return
	}
	if l.hours = append(l.hours, n.requests.Avoided()); len(l.hours) > hoursKept {
		l.hours = append(l.hours[:0:0], l.hours[1:]...)
	}
}

// since returns the oldest snapshot. For a nil recentCounts it is one of now, without counts.
func (l *recentCounts) since(now time.Time) countSnapshot {
	if l == nil {
		return countSnapshot{at: now}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.snapshots[0]
}

// sinceHour returns the writes avoided until an hour ago, or a little more. For a nil recentCounts they are of no moment.
func (l *recentCounts) sinceHour() proxy.AvoidedCounts {
	if l == nil {
		return proxy.AvoidedCounts{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hours[0]
}

// lastHour returns the last hour in steps; for a nil recentCounts there are none.
func (l *recentCounts) lastHour() *History {
	if l == nil {
		return new(history).document()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.history.document()
}

// close ends the snapshots. It may be called again, and on nil.
func (l *recentCounts) close() {
	if l != nil {
		l.closing.Do(func() { close(l.quit) })
		l.working.Wait()
	}
}

// snapshot returns the current counts.
func (e *Edge) snapshot() countSnapshot {
	n := countSnapshot{
		at: time.Now(), limits: map[string]int64{}, firstBytes: map[string]origin.FirstByte{}, bytes: map[string]int64{},
		classes: map[string]statusclass.Counts{}, waited: map[string]time.Duration{}, requests: e.proxy.Counts(),
	}
	e.eachLimit(func(kind, name string, count int64) { n.limits[kind+" "+name] = count })
	for _, o := range e.now.Load().origins {
		name := o.config.Name
		n.firstBytes[name], n.bytes[name] = o.origin.FirstByte(), o.origin.Bytes()
		s := o.origin.Stats(n.at)
		for i, key := range serverKeys(&s) {
			n.classes[key], n.waited[key] = s.Servers[i].Classes, s.Servers[i].Waited
		}
	}
	return n
}
