package main

import (
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// maxExposition bounds what is read of /metrics.
const maxExposition = 64 << 20

// exposition is the content of /metrics, by metric name.
type exposition map[string]*dto.MetricFamily

// parseExposition reads the Prometheus text format.
func parseExposition(r io.Reader) (exposition, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(r, maxExposition))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return families, nil
}

// sum adds the samples of a counter or a gauge that have the given labels (name, value
// pairs). found says whether there was any.
func (e exposition) sum(name string, labels ...string) (total float64, found bool) {
	for _, m := range e[name].GetMetric() {
		if has(m, labels) {
			// Only one of the three is set; the others are 0.
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
			found = true
		}
	}
	return total, found
}

func has(m *dto.Metric, labels []string) bool {
	values := map[string]string{}
	for _, l := range m.GetLabel() {
		values[l.GetName()] = l.GetValue()
	}
	for i := 0; i+1 < len(labels); i += 2 {
		if values[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}
