package shadow

import "github.com/prometheus/client_golang/prometheus"

// Collector exports the figures of one Shadow to Prometheus, read at each scrape.
// There is no counter for hits: they are requests less origin_requests, an estimate
// that may fall while there are few requests. Counters must never fall.
type Collector struct {
	shadow  *Shadow
	share   *prometheus.Desc
	figures []figure
}

// figure is one metric with a value for each policy.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*PolicyStats) float64
}

// NewCollector returns a Collector to be registered. With a nil Shadow it exports
// nothing.
func NewCollector(s *Shadow) *Collector {
	c := &Collector{shadow: s, share: prometheus.NewDesc("edgeproxy_shadow_share",
		"Share of the keys that the shadow policies follow. What they count there is scaled up by its inverse.", nil, nil)}
	c.count("requests_total", "Requests the policy was tried on, of all keys; hits = requests - origin_requests.",
		func(s *PolicyStats) int64 { return s.Requests })
	c.count("sampled_requests_total", "Requests of the keys followed: what the estimates rest on.",
		func(s *PolicyStats) int64 { return s.SampledRequests })
	c.count("request_bytes_total", "Bytes of the objects asked for, of all keys; hit bytes = request_bytes - origin_bytes.",
		func(s *PolicyStats) int64 { return s.RequestBytes })
	c.count("origin_requests_total", "Requests the policy would have sent to the origin; an estimate.",
		func(s *PolicyStats) int64 { return s.OriginRequests })
	c.count("origin_bytes_total", "Bytes of the objects the policy would have fetched; an estimate.",
		func(s *PolicyStats) int64 { return s.OriginBytes })
	c.count("writes_total", "Objects the policy would have stored; an estimate.", func(s *PolicyStats) int64 { return s.Writes })
	c.count("write_bytes_total", "Bytes of the objects the policy would have stored; an estimate.",
		func(s *PolicyStats) int64 { return s.WriteBytes })
	c.count("held_back_total", "Fills the policy would not have stored, although they were storable; an estimate.",
		func(s *PolicyStats) int64 { return s.HeldBack })
	c.gauge("hit_ratio", "Hits by requests since the start that the policy would have had; an estimate.",
		func(s *PolicyStats) float64 { return s.HitRatio })
	c.gauge("byte_hit_ratio", "Hit bytes by request bytes since the start that the policy would have had; an estimate.",
		func(s *PolicyStats) float64 { return s.ByteHitRatio })
	return c
}

func (c *Collector) count(name, help string, of func(*PolicyStats) int64) {
	c.add(name, help, prometheus.CounterValue, func(s *PolicyStats) float64 { return float64(of(s)) })
}

func (c *Collector) gauge(name, help string, of func(*PolicyStats) float64) {
	c.add(name, help, prometheus.GaugeValue, of)
}

func (c *Collector) add(name, help string, kind prometheus.ValueType, of func(*PolicyStats) float64) {
	desc := prometheus.NewDesc("edgeproxy_shadow_"+name, help, []string{"policy"}, nil)
	c.figures = append(c.figures, figure{desc: desc, kind: kind, of: of})
}

// Describe sends the description of each metric.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.share
	for i := range c.figures {
		out <- c.figures[i].desc
	}
}

// Collect sends the value of each metric for each policy.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	stats := c.shadow.Stats()
	if len(stats) == 0 {
		return
	}
	out <- prometheus.MustNewConstMetric(c.share, prometheus.GaugeValue, c.shadow.Share())
	for i := range stats {
		for _, f := range c.figures {
			out <- prometheus.MustNewConstMetric(f.desc, f.kind, f.of(&stats[i]), stats[i].Name)
		}
	}
}
