package cache

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The values of the label tier.
const (
	memoryTier = "memory" // what admission let in
	stageTier  = "stage"  // first sightings; see PutStage
	diskName   = "disk"   // what admission let in, where there is a disk; memory has copies then
)

// Metrics exports the counters of one Store to Prometheus, by tier: "memory", and "stage" and "disk" if there are such.
// They are read from the Store at each scrape and are zero until it is made.
type Metrics struct {
	store atomic.Pointer[Store] // the Store made last

	writes, writeBytes       *prometheus.Desc
	objects, bytes, maxBytes *prometheus.Desc
	evictions, neverHit      *prometheus.Desc
	promotions, pinned       *prometheus.Desc
	age                      *prometheus.Desc
}

// NewMetrics registers the metrics with reg. It panics if reg has them already:
// that is a mistake of the program, not of its user. To show a Store, give the
// result to New. If several Stores get it, it shows the last.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("edgeproxy_cache_"+name, help, labels, nil)
	}
	m := &Metrics{
		writes: desc("writes_total", "Responses stored. Moves inside a tier are not counted; a promotion is a write of tier memory. "+
			"Writes = objects held + evictions + responses replaced by newer ones or purged; for tier stage also + promotions. "+
			"Beside a disk, those of memory are copies of what is asked for most.", "tier"),
		writeBytes: desc("write_bytes_total", "Bytes of the bodies stored, without header and key. A body that another variant of the URL has already is none.", "tier"),
		objects:    desc("objects", "Responses held.", "tier"),
		bytes: desc("bytes", "Bytes held: bodies, headers, keys, the index of variants and what it takes to hold them. "+
			"Never above max_bytes.", "tier"),
		maxBytes: desc("max_bytes", "Bound of bytes. The tiers add up to the size configured.", "tier"),
		evictions: desc("evictions_total", "Responses that left although nobody replaced, purged or promoted them. "+
			"capacity: to make room; rejected: refused on leaving the landing window; "+
			"variants: too many variants of a URL, or of all URLs; lost: damaged, or not written (disk only).", "tier", "reason"),
		neverHit: desc("stores_never_hit_total", "Responses that left, for whatever reason, and had not been found once "+
			"since they were stored in the tier.", "tier"),
		age: desc("eviction_age_seconds", "How old those were that were evicted lately, as a mean: since they were received or last validated. "+
			"Of the disk how long the records had lain that were looked at last to make room. Not there before the first.", "tier", "reason"),
		promotions: desc("promotions_total", "Responses that moved from tier stage to tier memory. Part of the writes of memory."),
		pinned:     desc("pinned_bytes", "Bytes of bodies that have left the cache and are still being sent: outside of bytes, until their clients have taken them or are let go."),
	}
	reg.MustRegister(m)
	return m
}

// Describe sends the description of each metric.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.writes, m.writeBytes, m.objects, m.bytes, m.maxBytes, m.evictions, m.neverHit, m.promotions, m.pinned, m.age,
	} {
		out <- d
	}
}

// Collect sends the value of each metric.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	var st Stats
	if s := m.store.Load(); s != nil {
		st = s.Stats()
	}
	m.collectTier(out, memoryTier, st.TierStats)
	if st.Stage.MaxBytes > 0 {
		m.collectTier(out, stageTier, st.Stage)
	}
	if s := m.store.Load(); s != nil && s.disk != nil {
		m.collectTier(out, diskName, st.Disk)
	}
	out <- prometheus.MustNewConstMetric(m.promotions, prometheus.CounterValue, float64(st.Stage.Promoted))
	out <- prometheus.MustNewConstMetric(m.pinned, prometheus.GaugeValue, float64(st.PinnedBytes))
}

func (m *Metrics) collectTier(out chan<- prometheus.Metric, tier string, st TierStats) {
	send := func(d *prometheus.Desc, t prometheus.ValueType, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, t, float64(v), append([]string{tier}, labels...)...)
	}
	send(m.writes, prometheus.CounterValue, st.Writes)
	send(m.writeBytes, prometheus.CounterValue, st.WriteBytes)
	send(m.objects, prometheus.GaugeValue, st.Objects)
	send(m.bytes, prometheus.GaugeValue, st.Bytes)
	send(m.maxBytes, prometheus.GaugeValue, st.MaxBytes)
	send(m.evictions, prometheus.CounterValue, st.Capacity, "capacity")
	send(m.evictions, prometheus.CounterValue, st.Variants, "variants")
	for reason, age := range map[string]time.Duration{"capacity": st.CapacityAge, "rejected": st.RejectedAge} {
		if age > 0 {
			out <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, age.Seconds(), tier, reason)
		}
	}
	if tier == diskName { // the disk does not count whether a departed record was ever found
		send(m.evictions, prometheus.CounterValue, st.Lost, "lost")
		return
	}
	send(m.neverHit, prometheus.CounterValue, st.NeverHit)
	if tier == memoryTier { // the stage takes every entry
		send(m.evictions, prometheus.CounterValue, st.Rejected, "rejected")
	}
}
