package hostile

import (
	"fmt"
	"math"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	edgetest "edgeproxy/internal/test/oldrig"
	"edgeproxy/internal/test/testkit"
)

// Limits of time of the edges that some cases are played before: many times what a step
// that must keep them takes, and less than what must not.
const (
	shortly = 2 * time.Second
	later   = 6 * time.Second
)

// rig is an edge that cases are played before, and its origin.
type rig struct {
	origin  *origin
	address string
	counts  func() (counts, error)
	idle    func() (int, error) // connections to the origin
	purge   func() error
	ahead   bool // bodies are read before the origin is asked
}

// counts are what an edge has done so far.
type counts struct {
	requests int64 // what the gate saw
	writes   int64 // what was stored
	busy     int64 // requests and fetches under way
	panics   int64
}

// inProcess starts an edge of the test's own process.
func inProcess(tb testing.TB, limit time.Duration) *rig {
	tb.Helper()
	o := startOrigin(tb)
	options := edgetest.Options{Rule: admission.Rule{Policy: admission.Always}}
	options.Origin.Address = o.listener.Addr().String()
	options.RequestBuffer = -1 // so that the origin sees what becomes of half a body
	options.HeaderTimeout, options.ReadIdleTimeout, options.WriteIdleTimeout = limit, limit, limit
	options.Origin.FirstByteTimeout, options.Origin.IdleTimeout = limit, limit
	e := edgetest.Start(tb, options)
	return &rig{
		origin: o, address: e.Address,
		counts: func() (counts, error) {
			s := e.Proxy.Status()
			return counts{s.Totals.Requests, e.Store.Stats().Writes, s.RequestsInFlight + int64(s.Flights), s.Panics}, nil
		},
		idle: func() (int, error) {
			return int(e.Metric(tb, "edgeproxy_origin_connections", "origin=app", "state=idle")), nil
		},
		purge: func() error {
			_, _, err := e.Proxy.Purge("all", nil, false)
			return err
		},
	}
}

// rest waits until nothing is under way, and returns what the edge has done. Then the
// origin has read all of it: what the edge has closed, the origin has read to its end.
func (r *rig) rest() (counts, error) {
	var c counts
	err := r.origin.settle()
	if err != nil {
		return c, err
	}
	if !testkit.ComesTrue(func() bool {
		if c, err = r.counts(); err != nil || c.busy > 0 {
			return err != nil
		}
		idle, n := 0, r.origin.connections()
		if n > 0 {
			idle, err = r.idle()
		}
		return err != nil || n <= idle
	}) {
		return c, fmt.Errorf("requests or fetches under way: %w", errPatience)
	}
	return c, err
}

// dropIdle has the edge find out which of its idle connections the origin has closed. On
// a busy machine the kernel may not have told it yet, and a POST that goes out on such a
// connection is lost: only a GET is sent again. Each takes one at least, of an edge that
// counts them.
func (r *rig) dropIdle() error {
	for last := math.MaxInt; ; {
		idle, err := r.idle()
		if err != nil || idle == 0 || idle >= last {
			return err
		}
		last = idle
		target := fmt.Sprintf("/drop?n=%d", idle)
		text := "GET " + target + " HTTP/1.1\r\nHost: h\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
		if err := r.ask(text, wantAnswer{status: "200", body: &target}); err != nil {
			return err
		}
	}
}
