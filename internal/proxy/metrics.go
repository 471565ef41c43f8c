package proxy

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/reason"
	"edgeproxy/internal/series"
)

// noRoute is the route label of requests that matched none.
const noRoute = "-"

// LimitRejections counts what a limit refused; the server's own limits are
// counted under the same name.
const (
	LimitRejections     = "edgeproxy_limit_rejections_total"
	LimitRejectionsHelp = "Requests or connections refused because a limit was reached."
)

// statusClasses are the values of the status label; index 0 is for none.
var statusClasses = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// Metrics are the counters of one Proxy. Counts are plain atomics, which the collector reads at
// each scrape. Every request is counted once, under one result:
//
//	requests = hit + stale + revalidated + miss + scarce + pass + error
type Metrics struct {
	duration, firstByte           *prometheus.HistogramVec
	overload, overRate            prometheus.Counter
	overShare                     prometheus.Counter // of places
	overTunnels, overTunnelsShare prometheus.Counter
	overConnections               prometheus.Counter // to origins, of one client
	overMemory, overMemoryShare   prometheus.Counter // of bodies on their way

	proxy atomic.Pointer[Proxy]
	none  *routeMetrics

	mu     sync.Mutex
	routes []*routeMetrics // that have series, in the order in which they came
	names  series.Names    // theirs
	came   uint32          // how many there have been
	gone   departed        // what those counted that have no series any more
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

	duration, firstByte [resultCount]atomic.Pointer[prometheus.Observer]
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

// buckets run from a hit, a few dozen microseconds, to the longest wait for an
// origin.
var buckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics returns the metrics of a Proxy, registered with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	labels := []string{"route", "result"}
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "edgeproxy_request_duration_seconds", Buckets: buckets,
			Help: "Time from the receipt of a request to the end of its answer: for a body from the store until it is handed to the connection, for a streamed one until it is written.",
		}, labels),
		firstByte: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "edgeproxy_first_byte_seconds", Buckets: buckets,
			Help: "Time from the receipt of a request to the first byte of its answer's body.",
		}, labels),
		overload:         rejections("requests_in_flight"),
		overRate:         rejections("rate"),
		overShare:        rejections("requests_in_flight_share"),
		overConnections:  rejections("origin_share"),
		overTunnels:      rejections("tunnels"),
		overTunnelsShare: rejections("tunnels_share"),
		overMemory:       rejections("inflight_bytes"),
		overMemoryShare:  rejections("inflight_share"),
	}
	m.none = m.forRoute(noRoute)
	r.MustRegister(m.duration, m.firstByte, m.overload, m.overRate, m.overShare, m.overConnections, m.overTunnels, m.overTunnelsShare, m.overMemory, m.overMemoryShare, collector{m})
	return m
}

// rejections counts what one limit refused.
func rejections(limit string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: LimitRejections, Help: LimitRejectionsHelp, ConstLabels: prometheus.Labels{"limit": limit},
	})
}

// forRoute returns the counters of the route called name, new ones if need be.
func (m *Metrics) forRoute(name string) *routeMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.routeLocked(name); r != nil {
		return r
	}
	r := &routeMetrics{name: name, ordinal: m.came, fills: fillCounts{notStored: make([]atomic.Int64, reason.Count)}}
	m.came++
	m.routes = append(m.routes, r)
	m.names.Add(name)
	return r
}

// routeLocked returns the counters of a route that has series, nil if it has none.
func (m *Metrics) routeLocked(name string) *routeMetrics {
	for _, r := range m.routes {
		if r.name == name {
			return r
		}
	}
	return nil
}

// all returns the counters of every route that has series, and the sums of the others.
func (m *Metrics) all() ([]*routeMetrics, departed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clip(m.routes), m.gone
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
	m.observer(m.duration, &r.duration[x.result], r, x.result).Observe(duration.Seconds())
	if x.firstByte >= 0 {
		m.observer(m.firstByte, &r.firstByte[x.result], r, x.result).Observe(x.firstByte.Seconds())
	}
}

// observer finds the histogram of a route and a result in v once and keeps it at at. Two
// requests that race find the same one.
func (m *Metrics) observer(v *prometheus.HistogramVec, at *atomic.Pointer[prometheus.Observer], of *routeMetrics, r result) prometheus.Observer {
	if o := at.Load(); o != nil {
		return *o
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if of.gone {
		return nowhere
	}
	o := v.WithLabelValues(of.name, r.String())
	at.Store(&o)
	return o
}
