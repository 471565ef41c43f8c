// Package metrics answers one question: what does a program say of itself at /metrics?
//
// Get asks for the text format of Prometheus, and Sum adds up the samples of one name. It knows no metric.
package metrics

import (
	"context"
	"fmt"
	"io"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// mostBytes bounds what is read of /metrics.
const mostBytes = 64 << 20

// Exposition is the content of /metrics, by metric name.
type Exposition map[string]*dto.MetricFamily

// Read reads the text format of Prometheus.
func Read(r io.Reader) (Exposition, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(r, mostBytes))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return families, nil
}

// client keeps no connection: one that is idle would outlive its server.
var client = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Get reads /metrics of the admin listener at address, host:port.
func Get(ctx context.Context, address string) (Exposition, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("scrape: %w", err)
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("scrape: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("scrape /metrics: status %s", resp.Status)
	}
	e, err := Read(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("scrape /metrics: %w", err)
	}
	return e, nil
}

// Sum adds the samples of a counter or a gauge that have the given labels (name, value
// pairs). found says whether there was any.
func (e Exposition) Sum(name string, labels ...string) (total float64, found bool) {
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
