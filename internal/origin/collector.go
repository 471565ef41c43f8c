package origin

import (
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

// Collector shows how many servers of each origin are in which state. It reads them at each
// scrape; requests do nothing for it.
type Collector struct {
	stats   func() []Stats
	servers *prometheus.Desc
}

// NewCollector returns a Collector to be registered. stats returns the origins to show, each
// name once.
func NewCollector(stats func() []Stats) *Collector {
	return &Collector{stats: stats, servers: prometheus.NewDesc("edgeproxy_origin_servers",
		"Servers of the origin, backups included, by state: up, ejected because requests failed, or down because health checks failed."+
			" All states are there, also those of no server: their sum is the number of all servers.",
		[]string{"origin", "state"}, nil)}
}

// Describe sends the description of the metric.
func (c *Collector) Describe(out chan<- *prometheus.Desc) { out <- c.servers }

// Collect sends the number of servers for each origin and state.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, o := range c.stats() {
		var in [len(balance.States)]int
		for i := range o.Servers {
			in[o.Servers[i].State]++
		}
		for _, state := range balance.States {
			out <- prometheus.MustNewConstMetric(c.servers, prometheus.GaugeValue, float64(in[state]), o.Name, state.String())
		}
	}
}
