package edge

import (
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/proxy"
)

// LimitsStatus is how often each limit took effect. Limits that never did are not in it.
type LimitsStatus struct {
	Refused map[string]LimitCount `json:"refused"` // by the label limit of edgeproxy_limit_rejections_total
	LetGo   map[string]LimitCount `json:"let_go"`  // by the label cause of edgeproxy_connections_let_go_total
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
func (e *Edge) eachLimit(f func(kind, name string, count int64)) {
	for _, l := range e.limits {
		f(l.kind, l.name, l.count())
	}
	e.proxy.Refusals(func(limit string, count int64) { f(limitRefused, limit, count) })
}

func (e *Edge) limitsStatus(since countSnapshot) LimitsStatus {
	s := LimitsStatus{Refused: map[string]LimitCount{}, LetGo: map[string]LimitCount{}}
	e.eachLimit(func(kind, name string, count int64) {
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
func (e *Edge) rejections(limit string, count func() int64) prometheus.Collector {
	e.limits = append(e.limits, limitCounter{limitRefused, limit, count})
	return prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: proxy.LimitRejections, Help: proxy.LimitRejectionsHelp, ConstLabels: prometheus.Labels{"limit": limit},
	}, func() float64 { return float64(count()) })
}

// registerLetGoMetrics registers the metrics of connections that were closed to make room for others.
func (e *Edge) registerLetGoMetrics() {
	for _, l := range []limitCounter{
		{limitLetGo, "idle", func() int64 { return e.limiter.LetGo().Idle }},
		{limitLetGo, "idle_of_address", func() int64 { return e.limiter.LetGo().IdleOfClient }},
		{limitLetGo, "silent", func() int64 { return e.limiter.LetGo().Silent }},
		{limitLetGo, "proxy_header", e.peers.Cut},
		{limitLetGo, "handshake", e.handshakesCut},
	} {
		e.limits = append(e.limits, l)
		e.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "edgeproxy_connections_let_go_total", Help: "Client connections that were ended to make room for others.",
			ConstLabels: prometheus.Labels{"cause": l.name},
		}, func() float64 { return float64(l.count()) }))
	}
}

func (e *Edge) handshakesCut() (n int64) {
	for _, d := range e.listeners {
		n += d.handshakesCut()
	}
	return n
}
