package edge

import (
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/proxy"
)

// LimitsStatus is how often each limit took effect. Limits that never did are not in it.
type LimitsStatus struct {
	Refused map[string]LimitCount `json:"refused"` // counts by the label limit of edgeproxy_limit_rejections_total
	LetGo   map[string]LimitCount `json:"let_go"`  // counts by the label cause of edgeproxy_connections_let_go_total
}

// LimitCount is how often a limit took effect: since the start, and in the last lately_seconds.
type LimitCount struct {
	Total  int64 `json:"total"`
	Lately int64 `json:"lately"`
}

// What a limit does: refuse a request or connection, or close an open connection (let go).
const (
	limitRefused = "refused"
	limitLetGo   = "let_go"
)

// limitCounter is a limit that is counted outside of the proxy engine.
type limitCounter struct {
	kind, name string
	count      func() int64
}

// eachLimit calls f for every limit, with how often it took effect since the start.
func (k *core) eachLimit(f func(kind, name string, count int64)) {
	for _, l := range k.limits {
		f(l.kind, l.name, l.count())
	}
	k.proxy.Refusals(func(limit string, count int64) { f(limitRefused, limit, count) })
}

func (k *core) limitsStatus(since countSnapshot) LimitsStatus {
	s := LimitsStatus{Refused: map[string]LimitCount{}, LetGo: map[string]LimitCount{}}
	k.eachLimit(func(kind, name string, count int64) {
		if count == 0 {
			return
		}
		of := s.Refused
		if kind == limitLetGo {
			of = s.LetGo
		}
		of[name] = LimitCount{Total: count, Lately: count - since.limits[kind+" "+name]}
	})
	return s
}

// rejections returns the metric of what one limit refused, and adds the limit to e.limits.
func (k *core) rejections(limit string, count func() int64) prometheus.Collector {
	k.limits = append(k.limits, limitCounter{limitRefused, limit, count})
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: proxy.LimitRejections, Help: proxy.LimitRejectionsHelp, ConstLabels: prometheus.Labels{"limit": limit},
	}, func() float64 { return float64(count()) })
}

// registerLetGoMetrics registers the metrics of connections that were closed to make room for others.
func (cl *clientSide) registerLetGoMetrics() {
	for _, l := range []limitCounter{
		{limitLetGo, "idle", func() int64 { return cl.limiter.LetGo().Idle }},
		{limitLetGo, "idle_of_address", func() int64 { return cl.limiter.LetGo().IdleOfClient }},
		{limitLetGo, "silent", func() int64 { return cl.limiter.LetGo().Silent }},
		{limitLetGo, "proxy_header", cl.peers.Cut},
		{limitLetGo, "handshake", cl.handshakesCut},
	} {
		cl.limits = append(cl.limits, l)
		cl.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "edgeproxy_connections_let_go_total", Help: "Client connections that were ended to make room for others.",
			ConstLabels: prometheus.Labels{"cause": l.name},
		}, func() float64 { return float64(l.count()) }))
	}
}

func (cl *clientSide) handshakesCut() (n int64) {
	for _, d := range cl.listeners {
		n += d.handshakesCut()
	}
	return n
}

// countDrops registers a metric of the lines of a log that were not written.
func (k *core) countDrops(log string, dropped func() uint64) {
	k.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "edgeproxy_log_dropped_total", Help: "Lines of a log not written, because its reader was too slow, or a write failed.",
		ConstLabels: prometheus.Labels{"log": log},
	}, func() float64 { return float64(dropped()) }))
}
