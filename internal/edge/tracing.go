package edge

import (
	"edgeproxy/config"
	"edgeproxy/internal/ops/spans"
)

// buildTracing builds the span exporter, even if there is no receiver: a reload may set one.
func (e *Edge) buildTracing() {
	e.spans = spans.New(spans.Options{
		Node: e.config.Node.Name, Version: e.version, Panics: e.panics,
		OnError: func(err error) { e.log.Warn("spans were not sent", "error", err) },
	})
	e.spans.Register(e.registry)
	e.spans.Point(spanTarget(e.config))
}

// spanTarget returns where spans are sent.
func spanTarget(c *config.Config) spans.Target {
	t := &c.Tracing
	headers := make(map[string]string, len(t.Headers))
	for name, value := range t.Headers {
		headers[name] = string(value)
	}
	return spans.Target{Endpoint: t.Endpoint, Headers: headers, Timeout: t.Timeout, Service: t.Service}
}

// sampler returns what decides which requests are traced; nil: none.
func sampler(t *config.Tracing) *spans.Sampler {
	if t.Endpoint == "" {
		return nil
	}
	return spans.NewSampler(t.Sample, t.Most)
}
