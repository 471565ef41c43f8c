package faults

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Objects of each kind; three are stored before the fault begins.
var (
	fresh    = object{path: "/fresh", cc: "max-age=600", size: 64 << 10}
	stale    = object{path: "/stale", cc: "max-age=0,stale-if-error=600", size: 64 << 10}
	strict   = object{path: "/strict", cc: "max-age=0,must-revalidate", size: 64 << 10}
	miss     = object{path: "/miss", cc: "max-age=600", size: 64 << 10}
	chunked  = object{path: "/chunked", cc: "max-age=600", size: 64 << 10, frame: "chunked"}
	unframed = object{path: "/unframed", cc: "max-age=600", size: 64 << 10, frame: "close"}
)

// seen is what clients get of each, in the words of edge.get.
type seen struct{ fresh, stale, strict, miss, chunked, unframed, post string }

// allWell is what they get without a fault, when the first three are stored. Nothing is
// ever stored of a body that only the end of its connection ends (0013).
var allWell = seen{
	fresh: "200 hit", stale: "200 fwd=stale", strict: "200 fwd=stale",
	miss: "200 fwd=uri-miss", chunked: "200 fwd=uri-miss", unframed: "200 fwd=uri-miss", post: "200 fwd=method",
}

// silent and failed are what they get of an origin that does not answer in time, and of
// one that answers nothing proper: what is stored and may be used stale goes on.
var (
	silent = seen{
		fresh: "200 hit", stale: "200 stale", strict: "504 fwd=stale origin-timeout",
		miss: "504 fwd=uri-miss origin-timeout", chunked: "504 fwd=uri-miss origin-timeout",
		unframed: "504 fwd=uri-miss origin-timeout", post: "504 fwd=method origin-timeout",
	}
	failed = seen{
		fresh: "200 hit", stale: "200 stale", strict: "502 fwd=stale origin-error",
		miss: "502 fwd=uri-miss origin-error", chunked: "502 fwd=uri-miss origin-error",
		unframed: "502 fwd=uri-miss origin-error", post: "502 fwd=method origin-error",
	}
)

// but returns s with a change.
func (s seen) but(change func(*seen)) seen {
	change(&s)
	return s
}

// hasty are timeouts for origins that are expected to miss them. What comes without a fault comes in time on a busy machine, too.
const hasty = ", first_byte_timeout: 10s, idle_timeout: 10s"

// scene is a fault and what is expected of it.
type scene struct {
	name    string
	origin  string // settings of the origin
	closes  bool   // the origin ends each connection after one answer
	fault   toxic  // no kind: nobody listens
	want    seen
	outcome string // the label of edgeproxy_origin_requests_total that counts it
}

func scenes() []scene {
	return []scene{
		{"latency", "", false, toxic{"latency", map[string]int{"latency": 100}}, allWell, "ok"},
		{"latency beyond first_byte_timeout", hasty, false, toxic{"latency", map[string]int{"latency": 60_000}}, silent, "timeout"},
		{"narrow", "", false, toxic{"bandwidth", map[string]int{"rate": 128}}, allWell, "ok"},
		{"cut in the head", "", false, toxic{"limit_data", map[string]int{"bytes": 20}}, failed, "cut"},
		{"cut in the body", "", false, toxic{"limit_data", map[string]int{"bytes": 20_000}}, allWell.but(func(s *seen) {
			s.miss += " cut"
			s.chunked += " cut"
			s.unframed += " short" // nobody can tell
		}), "cut"},
		// Each on its own: the stall is also after the last slice, where nobody sees it but the next.
		{"stall in the body", hasty, true, toxic{"slicer", map[string]int{"average_size": 8 << 10, "delay": 60_000_000}}, allWell.but(func(s *seen) {
			s.miss += " cut"
			s.chunked += " cut"
			s.unframed += " cut"
			s.post += " cut"
		}), "timeout"},
		{"reset", "", false, toxic{"reset_peer", nil}, failed, "cut"},
		{"slow close", "", false, toxic{"slow_close", map[string]int{"delay": 500}}, allWell, "ok"},
		{"close that never comes", hasty, false, toxic{"slow_close", map[string]int{"delay": 60_000}}, allWell.but(func(s *seen) {
			s.unframed += " cut" // the others know their end
		}), "timeout"},
		{"blackhole", hasty, false, toxic{"timeout", nil}, silent.but(func(s *seen) {
			// The origin closes behind it, and the close comes through.
			s.unframed = failed.unframed
		}), "timeout"},
		{"refused", "", false, toxic{}, failed, "connect"},
	}
}

// TestFaults plays each scene: what is stored beforehand, what clients see of the fault,
// that nothing broken was stored, that all is well when it is over, and that nothing is
// left of it.
func TestFaults(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program does the work")
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			l := newLink(t, startOrigin(t, s.closes))
			e := startEdge(t, l.address(), s.origin, "")
			c := newClient(t)
			for _, o := range []object{fresh, stale, strict} {
				compare(t, "before, "+o.path, e.get(c, o), "200 fwd=uri-miss")
			}
			if s.fault.kind == "" {
				l.p.Stop()
			} else {
				l.add(s.fault)
			}
			got := e.look(c)
			got.compare(t, "during", s.want)
			e.wantCounted(`edgeproxy_origin_requests_total{origin="app",outcome="` + s.outcome + `"}`)
			if strings.HasSuffix(s.want.miss, " cut") {
				e.wantCounted(`edgeproxy_not_stored_total{reason="incomplete",route="default"}`)
			}
			l.become()
			e.look(c).compare(t, "after", allWell.but(func(w *seen) {
				w.miss, w.chunked = stored(got.miss), stored(got.chunked)
			}))
			e.look(c).compare(t, "once more", allWell.but(func(w *seen) { w.miss, w.chunked = "200 hit", "200 hit" }))
			c.CloseIdleConnections()
			e.wantBack()
		})
	}
}

// wantCounted waits until a series is there and not 0: what ends is counted a moment after
// clients have seen the end.
func (e *edge) wantCounted(series string) {
	e.t.Helper()
	eventually(e.t, series+" counts", func() bool { return e.metrics()[series] > 0 })
}

// stored is what a client gets of an object next time: it is stored if it came whole.
func stored(during string) string {
	if during == allWell.miss {
		return "200 hit"
	}
	return allWell.miss
}

// look asks for all objects at once.
func (e *edge) look(c *http.Client) (s seen) {
	var all sync.WaitGroup
	for o, into := range map[object]*string{
		fresh: &s.fresh, stale: &s.stale, strict: &s.strict, miss: &s.miss, chunked: &s.chunked, unframed: &s.unframed,
	} {
		all.Go(func() { *into = e.get(c, o) })
	}
	all.Go(func() { s.post = e.post(c) })
	all.Wait()
	return s
}

func (s seen) compare(t *testing.T, when string, want seen) {
	t.Helper()
	compare(t, when+", fresh", s.fresh, want.fresh)
	compare(t, when+", stale", s.stale, want.stale)
	compare(t, when+", strict", s.strict, want.strict)
	compare(t, when+", miss", s.miss, want.miss)
	compare(t, when+", chunked", s.chunked, want.chunked)
	compare(t, when+", unframed", s.unframed, want.unframed)
	compare(t, when+", post", s.post, want.post)
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
