package proxy

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

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
