package origin

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/ops/series"
)

// outcome is how a request to the origin ended; it is the metric label.
type outcome uint8

const (
	outcomeOK outcome = iota
	outcomeNotModified
	outcomeClientError
	outcomeServerError
	outcomeConnect
	outcomeTimeout
	outcomeCut
	outcomeCount
)

// String returns the label value.
func (o outcome) String() string {
	return [outcomeCount]string{"ok", "not_modified", "client_error", "server_error", "connect", "timeout", "cut"}[o]
}

// outcomeOf returns the outcome of a whole response with the given status.
func outcomeOf(status int) outcome {
	switch {
	case status == 304:
		return outcomeNotModified
	case status < 400:
		return outcomeOK
	case status < 500:
		return outcomeClientError
	}
	return outcomeServerError
}

// failure returns the outcome that a failed request counts as. Overload and Unsupported never
// reached the origin, and Canceled, BadRequest and Fault are not its doing: these
// count as nothing.
func (k Kind) failure() (outcome, bool) {
	switch k {
	case Connect:
		return outcomeConnect, true
	case Timeout:
		return outcomeTimeout, true
	case Cut, Malformed:
		return outcomeCut, true
	case Overload, Canceled, BadRequest, Unsupported, Fault:
	}
	return 0, false
}

// Metrics counts what all origins do. It is safe for concurrent use.
type Metrics struct {
	requests    *prometheus.CounterVec
	bytes       *prometheus.CounterVec
	firstByte   *prometheus.HistogramVec
	queue       *prometheus.GaugeVec
	connections *prometheus.GaugeVec
	shortages   *prometheus.CounterVec
	backup      *prometheus.CounterVec
	retries     *prometheus.CounterVec
	refused     *prometheus.CounterVec

	mu    sync.Mutex
	names series.Names // names of origins
}

// NewMetrics creates the metrics and registers them with r; nil registers
// nothing. It panics if r has metrics of these names already.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edgeproxy_origin_requests_total",
			Help: "Requests to the origin by how they ended, one per request, a repeated try not counted. A body that the origin cut counts as cut," +
				" one that we gave up as the class of its status. Not counted: requests that found no connection (overload), were canceled before the" +
				" head, or failed by their own fault.",
		}, []string{"origin", "outcome"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edgeproxy_origin_bytes_total",
			Help: "Bytes of response bodies received from the origin, without framing, and of protocols switched to.",
		}, []string{"origin"}),
		firstByte: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "edgeproxy_origin_first_byte_seconds",
			Help:    "Time from starting to send a request to the first byte of its final response, for every head received whole.",
			Buckets: firstByteBounds[:],
		}, []string{"origin"}),
		queue: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "edgeproxy_origin_queue_requests",
			Help: "Requests waiting for a connection to the origin.",
		}, []string{"origin"}),
		connections: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "edgeproxy_origin_connections",
			Help: "Connections to the origin: idle, or active (carrying a request or being made); the sum of these is what max_connections limits, per server." +
				" Upgraded ones speak another protocol and are beyond it. By HTTP/2 active counts requests, and http2 the connections that these share.",
		}, []string{"origin", "state"}),
		shortages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edgeproxy_origin_local_failures_total",
			Help: "Connections to the origin that were not made because this machine had no descriptor, port or memory for them. They are held against no server.",
		}, []string{"origin"}),
		backup: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edgeproxy_origin_backup_requests_total",
			Help: "Requests that were given to a backup server of the origin, each try on one counted: the other servers were out, or the request had tried them.",
		}, []string{"origin"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edgeproxy_origin_retries_total",
			Help: "Requests sent once more to the origin because a server was reached and gave no whole response head, or a status of retry.statuses.",
		}, []string{"origin"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edgeproxy_origin_retries_refused_total",
			Help: "Requests that were not sent once more to the origin because retry.budget was used up.",
		}, []string{"origin"}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.bytes, m.firstByte, m.queue, m.connections, m.shortages, m.backup, m.retries, m.refused)
	}
	return m
}

// originMetrics are the metrics of one origin, looked up once. Gauges are moved
// by steps only, so that Origins of the same name add up.
type originMetrics struct {
	outcomes  [outcomeCount]prometheus.Counter
	bytes     prometheus.Counter
	shortages prometheus.Counter
	backup    prometheus.Counter
	firstByte prometheus.Observer

	retries, retriesRefused prometheus.Counter

	queue, idle, active, upgraded, http2 prometheus.Gauge
}

// connectionStates are the values of the state label.
var connectionStates = [...]string{"idle", "active", "upgraded", "http2"}

func (m *Metrics) of(name string) *originMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names.Add(name)
	om := &originMetrics{
		bytes:     m.bytes.WithLabelValues(name),
		firstByte: m.firstByte.WithLabelValues(name),
		shortages: m.shortages.WithLabelValues(name),
		backup:    m.backup.WithLabelValues(name),
		retries:   m.retries.WithLabelValues(name),

		retriesRefused: m.refused.WithLabelValues(name),

		queue:    m.queue.WithLabelValues(name),
		idle:     m.connections.WithLabelValues(name, connectionStates[0]),
		active:   m.connections.WithLabelValues(name, connectionStates[1]),
		upgraded: m.connections.WithLabelValues(name, connectionStates[2]),
		http2:    m.connections.WithLabelValues(name, connectionStates[3]),
	}
	for o := range outcomeCount {
		om.outcomes[o] = m.requests.WithLabelValues(name, o.String())
	}
	return om
}

// InForce says that the Origins of these names, and no others, get new requests from now on, and
// whether one that gets none still has requests. Series of names that are gone for long go, as
// package series has it. What is counted of such a name later is in no series.
func (m *Metrics) InForce(names []string, busy func(name string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.names.Change(names, busy) {
		for o := range outcomeCount {
			m.requests.DeleteLabelValues(name, o.String())
		}
		for _, state := range connectionStates {
			m.connections.DeleteLabelValues(name, state)
		}
		m.bytes.DeleteLabelValues(name)
		m.firstByte.DeleteLabelValues(name)
		m.queue.DeleteLabelValues(name)
		m.shortages.DeleteLabelValues(name)
		m.backup.DeleteLabelValues(name)
		m.retries.DeleteLabelValues(name)
		m.refused.DeleteLabelValues(name)
	}
}

func (m *originMetrics) ended(o outcome) { m.outcomes[o].Inc() }

func (m *originMetrics) failed(k Kind) {
	if o, ok := k.failure(); ok {
		m.ended(o)
	}
}

func (m *originMetrics) received(n int) { m.bytes.Add(float64(n)) }

func (m *originMetrics) waited(d time.Duration) { m.firstByte.Observe(d.Seconds()) }

func (m *originMetrics) localFailure() { m.shortages.Inc() }
