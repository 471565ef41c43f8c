package edge

import (
	"edgeproxy/config"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/spans"
)

// records are the access log and the spans of requests.
type records struct {
	*core
	access *accesslog.Log // nil: no access log
	spans  *spans.Exporter
}

// buildTracing builds the span exporter, even if there is no receiver: a reload may set one.
func (r *records) buildTracing() {
	r.spans = spans.New(spans.Options{
		Node: r.config.Node.Name, Version: r.version, Panics: r.panics,
		OnError: func(err error) { r.log.Warn("spans were not sent", "error", err) },
	})
	r.spans.Register(r.registry)
	r.spans.Point(r.config.Tracing.Target)
}

// sampler returns what decides which requests are traced; nil: none.
func sampler(t *config.Tracing) *spans.Sampler {
	if t.Endpoint == "" {
		return nil
	}
	return spans.NewSampler(t.Sample, t.Most)
}

// closeRecords flushes the queues of the access log and of spans, each within its own time limit.
func (r *records) closeRecords() {
	if r.access != nil {
		if err := r.access.Close(); err != nil {
			r.log.Warn("access log", "error", err)
		}
	}
	if r.spans != nil {
		r.spans.Close()
	}
}

func (r *records) accessLogFailed(err error) { r.log.Error("access log", "error", err) }
