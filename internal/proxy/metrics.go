package proxy

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/series"
	"edgeproxy/internal/proxy/compress"
)

// noRoute is the route label of requests that matched none.
const noRoute = "-"

// LimitRejections counts what a limit refused; the server's own limits are
// counted under the same name.
const (
	LimitRejections     = "edgeproxy_limit_rejections_total"
	LimitRejectionsHelp = "Requests or connections refused because a limit was reached."

	slowUploadsLimit = "receive_rate"
)

// statusClasses are the values of the status label; index 0 is for none.
var statusClasses = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// Metrics are the counters of one Proxy. Counts are plain atomics, which the collector reads at
// each scrape. Every request is counted once, under one result:
//
//	requests = hit + stale + revalidated + miss + scarce + pass + error
type Metrics struct {
	overload, overRate            *refusals
	overShare                     *refusals // of client slots
	overTunnels, overTunnelsShare *refusals
	overConnections               *refusals // to origins, of one client
	overQueue                     *refusals // for these
	overMemory, overMemoryShare   *refusals // of bodies on their way
	overChecks, overChecksShare   *refusals // of passwords

	proxy atomic.Pointer[Proxy]
	none  *routeMetrics

	mu      sync.Mutex
	routes  []*routeMetrics          // that have series, in the order in which they came
	byRoute map[string]*routeMetrics // the same by name
	names   series.Names             // theirs
	came    uint32                   // how many there have been

	hosts     []*hostMetrics // that have series
	hostNames series.Names   // theirs

	gone departed // what those counted that have no series any more

	options MetricsOptions
	sums    *routeMetrics // with WithoutRoutes: the series of those in gone; guarded by mu
}

// MetricsOptions say what is shown. The zero value shows all.
type MetricsOptions struct {
	WithoutRoutes bool // series have no label route, and are of all routes together
}

// routeMetrics are the counters of one route. A scrape during a request may see
// some of its counts and not yet the others.
type routeMetrics struct {
	name      string
	ordinal   uint32       // among all routes there have been
	busy      atomic.Int64 // requests under way that are no hits, and fills
	gone      bool         // it has no series any more; guarded by Metrics.mu
	requests  [resultCount][len(statusClasses)]atomic.Int64
	bytes     [resultCount]atomic.Int64
	collapsed atomic.Int64
	fills     fillCounts
	behind    [behindCount]atomic.Int64

	invalidations [causeCount]atomic.Int64
	compressed    [compress.Count]compress.Counts

	duration, firstByte [resultCount]histogram
}

// What becomes of a client whose flight has left it behind: the rest comes from the store, or
// from the origin, or never.
const (
	behindStored = iota
	behindOrigin
	behindCut

	behindCount
)

var behindWords = [behindCount]string{"stored", "origin", "cut"}

// NewMetrics returns the metrics of a Proxy, registered with r.
func NewMetrics(r prometheus.Registerer, o MetricsOptions) *Metrics {
	m := &Metrics{
		options: o, sums: newRouteMetrics(""), byRoute: map[string]*routeMetrics{},
		overload:         newRefusals("requests_in_flight"),
		overRate:         newRefusals("rate"),
		overShare:        newRefusals("requests_in_flight_share"),
		overConnections:  newRefusals("origin_share"),
		overQueue:        newRefusals("origin_queue"),
		overTunnels:      newRefusals("tunnels"),
		overTunnelsShare: newRefusals("tunnels_share"),
		overMemory:       newRefusals("inflight_bytes"),
		overMemoryShare:  newRefusals("inflight_share"),
		overChecks:       newRefusals("password_checks"),
		overChecksShare:  newRefusals("password_checks_share"),
	}
	m.none = m.forRoute(noRoute)
	for _, l := range m.limits() {
		r.MustRegister(l)
	}
	r.MustRegister(collector{m})
	return m
}

// forRoute returns the counters of the route called name, new ones if need be.
func (m *Metrics) forRoute(name string) *routeMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.byRoute[name]; r != nil {
		return r
	}
	r := newRouteMetrics(name)
	r.ordinal = m.came
	m.came++
	m.routes = append(m.routes, r)
	m.byRoute[name] = r
	m.names.Add(name)
	return r
}

func newRouteMetrics(name string) *routeMetrics {
	return &routeMetrics{name: name, fills: fillCounts{notStored: make([]atomic.Int64, reason.Count)}}
}

// all returns the counters of every route that has series, and the sums of the others.
func (m *Metrics) all() ([]*routeMetrics, departed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clip(m.routes), m.gone
}

// shown returns what series there are of: each route, or all together.
func (m *Metrics) shown() []*routeMetrics {
	if !m.options.WithoutRoutes {
		routes, _ := m.all()
		return routes
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := newRouteMetrics("")
	sum.add(m.sums)
	for _, r := range m.routes {
		sum.add(r)
	}
	return []*routeMetrics{sum}
}

// observe says which Proxy's gauges are shown.
func (m *Metrics) observe(p *Proxy) { m.proxy.Store(p) }

// request counts a finished request.
func (m *Metrics) request(x *exchange, status int, duration time.Duration) {
	r := m.none
	if x.route != nil {
		r = x.route.metrics
	}
	class := status / 100
	if class < 1 || class >= len(statusClasses) {
		class = 0
	}
	r.requests[x.result][class].Add(1)
	r.bytes[x.result].Add(x.bytes)
	if x.collapsed {
		r.collapsed.Add(1)
	}
	r.duration[x.result].observe(duration)
	if x.firstByte >= 0 {
		r.firstByte[x.result].observe(x.firstByte)
	}
}
