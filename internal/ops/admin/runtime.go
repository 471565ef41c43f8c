package admin

import (
	"fmt"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// RegisterRuntime registers the metrics of the process: go_*, process_* and
// edgeproxy_build_info, which is 1 and has version, commit ("" if it is unknown) and
// the version of Go as labels. An error says which of them registerer already had. Those before it
// stay registered.
func RegisterRuntime(registerer prometheus.Registerer, version, commit string) error {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "edgeproxy_build_info",
		Help: "1, with the version and commit of edgeproxy and the version of Go as labels.",
	}, []string{"version", "commit", "go_version"})
	info.WithLabelValues(version, commit, runtime.Version()).Set(1)
	for _, c := range []struct {
		name string
		prometheus.Collector
	}{
		{"build info", info},
		{"Go", collectors.NewGoCollector()},
		{"process", collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})},
	} {
		if err := registerer.Register(c.Collector); err != nil {
			return fmt.Errorf("register %s metrics: %w", c.name, err)
		}
	}
	return nil
}
