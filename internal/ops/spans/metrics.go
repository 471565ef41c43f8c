package spans

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers the counts of e as metrics.
func (e *Exporter) Register(r prometheus.Registerer) {
	const dropped, help = "edgeproxy_tracing_dropped_total", "Spans not sent: the queue was full, the export failed, the receiver refused them, or tracing was off by then."
	counter := func(name, help string, labels prometheus.Labels, of *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(of.Load()) })
	}
	c := &e.counts
	r.MustRegister(
		counter("edgeproxy_tracing_spans_total", "Spans that the receiver has taken.", nil, &c.sent),
		counter(dropped, help, prometheus.Labels{"cause": "queue"}, &c.full),
		counter(dropped, help, prometheus.Labels{"cause": "export"}, &c.failed),
		counter(dropped, help, prometheus.Labels{"cause": "refused"}, &c.refused),
		counter(dropped, help, prometheus.Labels{"cause": "off"}, &c.off),
		counter("edgeproxy_tracing_over_limit_total", "Requests not traced because of tracing.most_per_second.", nil, &c.over),
	)
}
