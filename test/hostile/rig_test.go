package hostile

import (
	"fmt"
	"math"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
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

// settings are what an operator says of an edge before o, up to the end of the section of limits, which the caller may go on with. limit, if
// it is not 0, is how long each step may take.
func settings(o *origin, limit time.Duration) (yaml string) {
	limits, times := "body_bytes: 1MiB", ""
	if limit > 0 {
		limits += fmt.Sprintf(", header_timeout: %s, read_idle_timeout: %s, write_idle_timeout: %s", limit, limit, limit)
		times = fmt.Sprintf(", first_byte_timeout: %s, idle_timeout: %s", limit, limit)
	}
	return fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: ["http://%s"]%s}}
admission: {policy: always}
cache: {memory: {max_bytes: 4MiB, max_object_bytes: 1MiB}}
limits: {%s`, o.listener.Addr(), times, limits)
}

// inProcess starts an edge of the test's own process.
func inProcess(tb testing.TB, limit time.Duration) *rig {
	tb.Helper()
	o := startOrigin(tb)
	// Without a buffer the origin sees what becomes of half a body.
	e := edgetest.Start(tb, settings(o, limit)+", request_buffer: 0B}\n", edgetest.Options{Origin: o.listener.Addr().String()})
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
