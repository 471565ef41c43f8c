package origin

import (
	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/origin/balance"
)

// Collector shows how many servers of each origin are in which state, and the classes of their responses. It reads them at each
// scrape; requests do nothing for it.
type Collector struct {
	stats     func() []Stats
	servers   *prometheus.Desc
	responses *prometheus.Desc
}

// NewCollector returns a Collector to be registered. stats returns the origins to show, each
// name once.
func NewCollector(stats func() []Stats) *Collector {
	return &Collector{stats: stats, servers: prometheus.NewDesc("edgeproxy_origin_servers",
		"Servers of the origin, backups included, by state: up, ejected because requests failed, down because health checks failed, or drained by an operator."+
			" All states are there, also those of no server: their sum is the number of all servers.",
		[]string{"origin", "state"}, nil), responses: prometheus.NewDesc("edgeproxy_origin_responses_total",
		"Responses of a server of the origin by the class of their status; none: requests given to it that it has not answered, by its own fault."+
			" A server that is one no longer has no series.",
		[]string{"origin", "server", "status"}, nil)}
}

// Describe sends the descriptions of the metrics.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.servers
	out <- c.responses
}

// Collect sends the number of servers for each origin and state, and the responses of each server. Class 2xx is there from the start, each
// other one when it first occurs.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, o := range c.stats() {
		var in [len(balance.States)]int
		for i := range o.Servers {
			in[o.Servers[i].State]++
		}
		for _, state := range balance.States {
			out <- prometheus.MustNewConstMetric(c.servers, prometheus.GaugeValue, float64(in[state]), o.Name, state.String())
		}
		c.collectResponses(out, &o)
	}
}

func (c *Collector) collectResponses(out chan<- prometheus.Metric, o *Stats) {
	sums := map[string]statusclass.Counts{} // keyed by name, which several servers may have
	for i := range o.Servers {
		sum := sums[o.Servers[i].Address]
		for class, n := range o.Servers[i].Classes {
			sum[class] += n
		}
		sums[o.Servers[i].Address] = sum
	}
	for server, sum := range sums {
		for class, n := range sum {
			if class := statusclass.Class(class); n > 0 || class == statusclass.Success { //nolint:gosec // below Count
				out <- prometheus.MustNewConstMetric(c.responses, prometheus.CounterValue, float64(n), o.Name, server, class.String())
			}
		}
	}
}
