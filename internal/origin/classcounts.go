package origin

import (
	"sync"
	"sync/atomic"

	"edgeproxy/internal/http/statusclass"
)

// classCounts counts what came of the requests of a server, by class. Another server of the same name, of the Origin that takes the
// place of this one, goes on with them: requests that are still under way are counted, and no count begins anew.
type classCounts [statusclass.Count]atomic.Int64

// lasting is what a server of the same name goes on with: of the Origin that takes the place of this one.
type lasting struct {
	classes classCounts
	waited  atomic.Int64 // sum of the times to the first byte of its responses, in nanoseconds
}

// counts returns the counts as they are now.
func (a *classCounts) counts() (c statusclass.Counts) {
	for class := range a {
		c[class] = a[class].Load()
	}
	return c
}

// legacy is what is kept of the servers that another Origin had. Its methods may be called at any time.
type legacy struct {
	mu     sync.Mutex
	byName map[string][]*lasting // names of servers; guarded by mu
	drains *drains
}

// legacyOf returns what is kept of the servers that o has now; none without an o.
func legacyOf(o *Origin) *legacy {
	l := &legacy{byName: map[string][]*lasting{}, drains: &drains{names: map[string]bool{}}}
	if o == nil {
		return l
	}
	l.drains = o.pool.drains
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	for _, s := range o.pool.servers {
		l.byName[s.String()] = append(l.byName[s.String()], s.lasting)
	}
	return l
}

// take returns what a server of this name goes on with.
func (l *legacy) take(name string) *lasting {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.byName[name]
	if len(left) == 0 {
		return new(lasting)
	}
	l.byName[name] = left[1:]
	return left[0]
}
