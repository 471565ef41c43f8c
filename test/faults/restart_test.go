package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// asked is one request of the load, when it was under way and what came of it.
type asked struct {
	target     string
	begin, end time.Time
	got        string
}

// load is a number of clients that ask as fast as they are answered.
type load struct {
	e       *edge
	running sync.WaitGroup
	stopped atomic.Bool
	hits    atomic.Int64 // answered by the cache
	misses  atomic.Int64 // answered well by the origin
	errors  atomic.Int64 // all else
	mu      sync.Mutex
	asked   []asked
}

// startLoad starts clients; each asks in turn for what is stored and for what nobody has
// asked for.
func startLoad(t *testing.T, e *edge, clients int) *load {
	t.Helper()
	l := &load{e: e}
	for n := range clients {
		c := newClient(t)
		l.running.Go(func() {
			defer c.CloseIdleConnections()
			for i := 0; !l.stopped.Load(); i++ {
				l.ask(c, fresh)
				l.ask(c, object{path: fmt.Sprintf("/miss/%d/%d", n, i), cc: "max-age=600", size: 16 << 10})
			}
		})
	}
	return l
}

func (l *load) ask(c *http.Client, o object) {
	a := asked{target: o.path, begin: time.Now()}
	a.got = l.e.get(c, o)
	a.end = time.Now()
	switch a.got {
	case "200 hit":
		l.hits.Add(1)
	case "200 fwd=uri-miss":
		l.misses.Add(1)
	default:
		l.errors.Add(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, a)
}

// wantMore waits until each counter has grown.
func (l *load) wantMore(t *testing.T, what string, by int64, counters ...*atomic.Int64) {
	t.Helper()
	var goals []int64
	for _, c := range counters {
		goals = append(goals, c.Load()+by)
	}
	eventually(t, what, func() bool {
		for i, c := range counters {
			if c.Load() < goals[i] {
				return false
			}
		}
		return true
	})
}

// stop returns what was asked.
func (l *load) stop() []asked {
	l.stopped.Store(true)
	l.running.Wait()
	return l.asked
}

// TestRestartOfTheOriginUnderLoad kills the origin's process under load and starts it
// again, twice: hits go on, what the origin would have answered fails as long as it is not
// there and no longer, and nothing is left of it.
func TestRestartOfTheOriginUnderLoad(t *testing.T) {
	testkit.Slow(t, "it loads the built program")
	testkit.Plain(t, "the program does the work")
	t.Parallel()
	address := testkit.QuietAddress(t)
	kill := spawnOrigin(t, address)
	e := startEdge(t, address, "", "")
	c := newClient(t)
	compare(t, "warm", e.get(c, fresh), "200 fwd=uri-miss")
	c.CloseIdleConnections()
	l := startLoad(t, e, 8)
	type gap struct{ begin, end time.Time }
	var gaps []gap
	for range 2 {
		l.wantMore(t, "hits and misses are answered", 200, &l.hits, &l.misses)
		g := gap{begin: time.Now()}
		kill()
		l.wantMore(t, "misses fail, and hits do not", 50, &l.errors, &l.hits)
		kill = spawnOrigin(t, address)
		g.end = time.Now()
		gaps = append(gaps, g)
	}
	l.wantMore(t, "hits and misses are answered again", 200, &l.hits, &l.misses)
	all := l.stop()
	failures := 0
	for _, a := range all {
		if a.got == "200 hit" || a.got == "200 fwd=uri-miss" {
			continue
		}
		failures++
		inGap := slices.ContainsFunc(gaps, func(g gap) bool { return a.end.After(g.begin) && a.begin.Before(g.end) })
		proper := a.got == "502 fwd=uri-miss origin-error" || a.got == "200 fwd=uri-miss cut"
		if !strings.HasPrefix(a.target, "/miss/") || !inGap || !proper {
			t.Errorf("%s: got %q from %v to %v, gaps %v", a.target, a.got, a.begin, a.end, gaps)
		}
	}
	t.Logf("%d requests, %d failed in gaps of %v and %v", len(all), failures, gaps[0].end.Sub(gaps[0].begin), gaps[1].end.Sub(gaps[1].begin))
	e.wantBack()
}
