package cache

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/cache/evicted"
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
	outweighed               *prometheus.Desc
	age                      *prometheus.Desc
	objectsHit, bytesHit     *prometheus.Desc
	evicted                  evictedDescs
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
		objectsHit: desc("objects_hit", "Of edgeproxy_cache_objects, those found at least once since they were stored in the tier; measured at the scrape. "+
			"Of the disk those found since they were written, since eviction last passed them, or since the start. "+
			"A tier with more than some ten thousand objects is sampled, and this is estimated.", "tier"),
		bytesHit: desc("bytes_hit", "Of edgeproxy_cache_bytes, those of edgeproxy_cache_objects_hit. "+
			"Of the disk part of edgeproxy_disk_live_bytes, and always estimated.", "tier"),
		evicted: evictedDescs{
			objects: desc("evicted_objects_total", "Evictions by the bytes that the response took in the tier: up to size, or more than all of these (larger). "+
				"Their sum is that of edgeproxy_cache_evictions_total, on the disk for reason capacity.", "tier", "size"),
			bytes: desc("evicted_bytes_total", "Bytes that these took in the tier.", "tier", "size"),
			neverHitObjects: desc("evicted_never_hit_objects_total", "Of edgeproxy_cache_evicted_objects_total, those not found once since they were stored in the tier, "+
				"on the disk also not since the start.", "tier", "size"),
			neverHitBytes: desc("evicted_never_hit_bytes_total", "Bytes that these took in the tier.", "tier", "size"),
		},
		promotions: desc("promotions_total", "Responses that moved from tier stage to tier memory. Part of the writes of memory."),
		outweighed: desc("outweighed_total", "How often a response was not stored in tier memory because those that would have had to leave for it were worth more. "+
			"One that was staged stays in the stage."),
		pinned: desc("pinned_bytes", "Bytes of bodies that have left the cache and are still being sent: outside of bytes, until their clients have taken them or are let go."),
	}
	reg.MustRegister(m)
	return m
}

// Describe sends the description of each metric.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.writes, m.writeBytes, m.objects, m.bytes, m.maxBytes, m.evictions, m.neverHit, m.promotions, m.outweighed, m.pinned, m.age,
		m.objectsHit, m.bytesHit, m.evicted.objects, m.evicted.bytes, m.evicted.neverHitObjects, m.evicted.neverHitBytes,
	} {
		out <- d
	}
}

// Collect sends the value of each metric.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	var st Stats
	var hit HitParts
	if s := m.store.Load(); s != nil {
		st, hit = s.Stats(), s.HitParts()
	}
	m.collectTier(out, memoryTier, st.TierStats, hit.Memory)
	if st.Stage.MaxBytes > 0 {
		m.collectTier(out, stageTier, st.Stage, hit.Stage)
	}
	if s := m.store.Load(); s != nil && s.disk != nil {
		m.collectTier(out, diskName, st.Disk, hit.Disk)
	}
	out <- prometheus.MustNewConstMetric(m.promotions, prometheus.CounterValue, float64(st.Stage.Promoted))
	out <- prometheus.MustNewConstMetric(m.outweighed, prometheus.CounterValue, float64(st.Outweighed))
	out <- prometheus.MustNewConstMetric(m.pinned, prometheus.GaugeValue, float64(st.PinnedBytes))
}

func (m *Metrics) collectTier(out chan<- prometheus.Metric, tier string, st TierStats, hit HitPart) {
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
	send(m.objectsHit, prometheus.GaugeValue, hit.Objects)
	send(m.bytesHit, prometheus.GaugeValue, hit.Bytes)
	m.evicted.collect(out, tier, &st.Evicted)
	for reason, age := range map[string]time.Duration{"capacity": st.CapacityAge, "rejected": st.RejectedAge, "variants": st.VariantsAge} {
		if age > 0 {
			out <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, age.Seconds(), tier, reason)
		}
	}
	if tier == diskName { // the disk knows it of evicted records alone
		send(m.evictions, prometheus.CounterValue, st.Lost, "lost")
		return
	}
	send(m.neverHit, prometheus.CounterValue, st.NeverHit)
	if tier == memoryTier { // the stage takes every entry
		send(m.evictions, prometheus.CounterValue, st.Rejected, "rejected")
	}
}

// evictedDescs describes the evictions of a tier by size.
type evictedDescs struct{ objects, bytes, neverHitObjects, neverHitBytes *prometheus.Desc }

func (d *evictedDescs) collect(out chan<- prometheus.Metric, tier string, counts *evicted.Counts) {
	for class := range evicted.Class(evicted.Classes) {
		send := func(d *prometheus.Desc, n int64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), tier, class.String())
		}
		all, neverHit := counts.All(class), counts.NeverHit[class]
		send(d.objects, all.Objects)
		send(d.bytes, all.Bytes)
		send(d.neverHitObjects, neverHit.Objects)
		send(d.neverHitBytes, neverHit.Bytes)
	}
}
