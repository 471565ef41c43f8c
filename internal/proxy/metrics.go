package proxy

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/statusclass"
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

// Metrics are the counters of one Proxy. Counts are plain atomics, which the collector reads at
// each scrape. Every request is counted once, under one result:
//
//	requests = hit + stale + revalidated + miss + held_back + pass + error
type Metrics struct {
	overload, overRate            *refusals
	overShare                     *refusals // one client's share of the slots
	overTunnels, overTunnelsShare *refusals
	overConnections               *refusals // to origins, of one client
	overQueue                     *refusals // for these
	overMemory, overMemoryShare   *refusals // bodies on their way
	overChecks, overChecksShare   *refusals // passwords

	proxy atomic.Pointer[Proxy]
	none  *routeMetrics

	mu      sync.Mutex
	routes  []*routeMetrics          // the routes that have series, in the order in which they came
	byRoute map[string]*routeMetrics // the same by name
	names   series.Names             // theirs
	came    uint32                   // how many there have been

	hosts     []*hostMetrics // the hosts that have series
	hostNames series.Names   // theirs

	gone departed // what those counted that have no series any more

	options MetricsOptions
	sums    *routeMetrics // without RouteLabel: the series of those in gone; guarded by mu
}

// MetricsOptions say what is shown.
type MetricsOptions struct {
	RouteLabel bool // series are of each route, by the label route; otherwise of all routes together
}

// routeMetrics are the counters of one route. A scrape during a request may see
// some of its counts and not yet the others.
type routeMetrics struct {
	name      string
	ordinal   uint32       // among all routes there have been
	busy      atomic.Int64 // requests under way that are no hits, and fills
	gone      bool         // it has no series any more; guarded by Metrics.mu
	requests  [resultCount][statusclass.Count]atomic.Int64
	meant     atomic.Int64 // requests that got a status 5xx on purpose; see exchange.meant
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
	if m.options.RouteLabel {
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
	class := statusclass.Of(status)
	r.requests[x.result][class].Add(1)
	if class == statusclass.ServerError && x.meant() {
		r.meant.Add(1)
	}
	r.bytes[x.result].Add(x.bytes)
	if x.collapsed {
		r.collapsed.Add(1)
	}
	r.duration[x.result].observe(duration)
	if x.firstByte >= 0 {
		r.firstByte[x.result].observe(x.firstByte)
	}
}

// meant reports whether a status of 5xx is what the client or the operator wants, and tells of no failure: nothing is stored for a
// client that asks for no more, a request goes in a circle, or the route answers by itself.
func (x *exchange) meant() bool {
	return x.reason == reason.OnlyIfCached || x.reason == reason.Loop || x.result == resultPass && x.route != nil && x.route.answer != nil
}

// bounds are the upper bounds of the buckets of times, the bound included. They run from a hit, a
// few dozen microseconds, to the longest wait for an origin.
var bounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	1 * time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// histogram counts times by buckets, in two atomic additions each: a hit is observed twice. It is
// read by collector. Its zero value is empty.
type histogram struct {
	counts [len(bounds) + 1]atomic.Int64 // one for each bound, the first that is not exceeded; last: above all
	sum    atomic.Int64                  // in ticks: of nanoseconds it would be full after some months of much traffic
}

const tick = 100 * time.Nanosecond

// observe counts one time.
func (h *histogram) observe(d time.Duration) {
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d / tick))
}

// send sends h as a histogram of Prometheus, in seconds, unless nothing was observed. Its count is
// that of its buckets; what is observed meanwhile may be in the sum already.
func (h *histogram) send(e emitter, d *prometheus.Desc, labels ...string) {
	sum := float64(h.sum.Load()) * tick.Seconds()
	buckets := make(map[float64]uint64, len(bounds))
	var count uint64
	for i := range bounds {
		count += uint64(h.counts[i].Load())
		buckets[bounds[i].Seconds()] = count
	}
	if count += uint64(h.counts[len(bounds)].Load()); count > 0 {
		d, labels = e.labelled(d, labels)
		e.out <- prometheus.MustNewConstHistogram(d, count, sum, buckets, labels...)
	}
}

// refusals counts what one limit refused.
type refusals struct {
	prometheus.Collector
	limit string
	count atomic.Int64
}

func newRefusals(limit string) *refusals {
	r := &refusals{limit: limit}
	r.Collector = prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: LimitRejections, Help: LimitRejectionsHelp, ConstLabels: prometheus.Labels{"limit": limit},
	}, func() float64 { return float64(r.count.Load()) })
	return r
}

func (r *refusals) note() { r.count.Add(1) }

// limits are the counters of all limits but that of slow uploads, which is counted by the collector.
func (m *Metrics) limits() []*refusals {
	return []*refusals{
		m.overload, m.overRate, m.overShare, m.overConnections, m.overQueue, m.overTunnels, m.overTunnelsShare, m.overMemory, m.overMemoryShare,
		m.overChecks, m.overChecksShare,
	}
}

// Refusals calls f with each limit that is kept here, by its label in LimitRejections, and how often it refused
// something since the start. It is safe for concurrent use.
func (p *Proxy) Refusals(f func(limit string, count int64)) {
	for _, r := range p.Metrics.limits() {
		f(r.limit, r.count.Load())
	}
	f(slowUploadsLimit, p.slowUploads.Load())
}

// departed are the sums of routes that have no series any more, for the totals of the status.
type departed struct {
	tally

	notStored [reason.Count]int64
}

func (d *departed) add(r *routeMetrics) {
	d.tally.add(r)
	for i := range r.fills.notStored {
		d.notStored[i] += r.fills.notStored[i].Load()
	}
}

// inForce says that these are the routes of new requests. Series of routes that are gone for
// long go, as package series has it. What is counted of one later is in no series, nor in
// the totals.
func (m *Metrics) inForce(routes []*route) {
	names := []string{noRoute}
	for _, r := range routes {
		names = append(names, r.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := m.names.Change(names, func(name string) bool { return m.byRoute[name].busy.Load() > 0 })
	if len(gone) == 0 {
		return
	}
	for _, name := range gone {
		r := m.byRoute[name]
		r.gone = true
		delete(m.byRoute, name)
		m.gone.add(r)
		m.sums.add(r)
	}
	// A scrape may be reading the slice as it was.
	m.routes = slices.DeleteFunc(slices.Clone(m.routes), func(r *routeMetrics) bool { return r.gone })
}

// add adds what other has counted so far. Nobody else counts in r meanwhile.
func (r *routeMetrics) add(other *routeMetrics) {
	for i := range r.requests {
		addEach(r.requests[i][:], other.requests[i][:])
		r.duration[i].add(&other.duration[i])
		r.firstByte[i].add(&other.firstByte[i])
	}
	addEach(r.bytes[:], other.bytes[:])
	addEach(r.behind[:], other.behind[:])
	addEach(r.invalidations[:], other.invalidations[:])
	for i := range r.compressed {
		to, from := &r.compressed[i], &other.compressed[i]
		addOne(&to.Responses, &from.Responses)
		addOne(&to.In, &from.In)
		addOne(&to.Out, &from.Out)
	}
	addOne(&r.meant, &other.meant)
	addOne(&r.collapsed, &other.collapsed)
	r.fills.add(&other.fills)
}

// add adds what other has counted.
func (c *fillCounts) add(other *fillCounts) {
	to, from := c.counts(), other.counts()
	for i := range to {
		addOne(to[i], from[i])
	}
	addEach(c.notStored, other.notStored)
}

// counts are all but those by reason.
func (c *fillCounts) counts() [12]*atomic.Int64 {
	return [...]*atomic.Int64{
		&c.storable, &c.notStorable, &c.stored, &c.refused, &c.heldBack, &c.heldBackBytes, &c.regret, &c.regretBytes,
		&c.unjudged, &c.unjudgedBytes, &c.promoted, &c.promotedBytes,
	}
}

// add adds what other has observed.
func (h *histogram) add(other *histogram) {
	addEach(h.counts[:], other.counts[:])
	addOne(&h.sum, &other.sum)
}

func addEach(to, from []atomic.Int64) {
	for i := range to {
		addOne(&to[i], &from[i])
	}
}

func addOne(to, from *atomic.Int64) { to.Add(from.Load()) }
