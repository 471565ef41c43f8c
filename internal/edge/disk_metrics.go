package edge

import (
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/cache/disk"
)

// diskMetrics has the metrics that only the disk tier has; those that all tiers have are edgeproxy_cache_*. They are sums over
// all directories.
type diskMetrics struct {
	tier *disk.Group

	up, segments, live, index, load, queue, unfilled *prometheus.Desc
	stayed                                           *prometheus.Desc
	lookups, writeBytes, readBytes                   *prometheus.Desc
	readSeconds, writeSeconds                        *prometheus.Desc
	refused, lost, errors, failures, process         *prometheus.Desc
}

func newDiskMetrics(tier *disk.Group) *diskMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("edgeproxy_disk_"+name, help, labels, nil)
	}
	return &diskMetrics{
		tier:         tier,
		up:           desc("directories", "Directories of the disk tier, by whether they are in use: up, or failed and tried again from time to time.", "state"),
		segments:     desc("segments", "Files of records."),
		stayed:       desc("segments_stayed_total", "How often a segment of small records stayed for a lap, since 40 % of it or more was asked for."),
		live:         desc("live_bytes", "Bytes of records that can be found, within some percent. The rest of edgeproxy_cache_bytes{tier=\"disk\"} was replaced or removed and is not free yet, or is no record."),
		index:        desc("index_bytes", "Memory of the index."),
		load:         desc("index_load_ratio", "How full the index is; above 0.95 it forgets records."),
		queue:        desc("queue_bytes", "Bytes that wait in memory to be written."),
		unfilled:     desc("unfilled_segments", "Segments whose records are not found yet: after a start, until all are read."),
		lookups:      desc("lookups_total", "Look-ups by result: hit from the directory, queue for a hit of what waits to be written, miss.", "result"),
		writeBytes:   desc("device_write_bytes_total", "Bytes written to directories: new ones, and those written again to be kept. Their sum by edgeproxy_cache_write_bytes_total{tier=\"disk\"} is the write amplification.", "kind"),
		readBytes:    desc("device_read_bytes_total", "Bytes read that did not lie in the page cache."),
		readSeconds:  desc("read_seconds", "How long reads took that went to the device."),
		writeSeconds: desc("write_seconds", "How long writes of full buffers took."),
		refused:      desc("refused_total", "Responses that the disk did not take. Those of reason off and read-only went to memory.", "reason"),
		lost:         desc("lost_total", "Responses that the disk took and then lost: full file system, failed writes, no place in the index, damage. Their sum is edgeproxy_cache_evictions_total with reason lost.", "reason"),
		errors:       desc("errors_total", "Calls of the system that failed, by kind; no-space is a full file system, slow a read that was given up.", "kind"),
		failures:     desc("failures_total", "How often a directory was given up, to be tried again."),
		process:      desc("process_write_bytes_total", "Bytes that all of the process has sent to devices, as /proc/self/io says (Linux)."),
	}
}

// Describe implements prometheus.Collector.
func (m *diskMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.up, m.segments, m.stayed, m.live, m.index, m.load, m.queue, m.unfilled, m.lookups, m.writeBytes, m.readBytes, m.readSeconds, m.writeSeconds,
		m.refused, m.lost, m.errors, m.failures, m.process,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *diskMetrics) Collect(out chan<- prometheus.Metric) {
	st, up, down := m.tier.Stats(), 0, 0
	for _, s := range m.tier.Stores() {
		if s.Err() == nil {
			up++
		} else {
			down++
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(m.up, float64(up), "up")
	gauge(m.up, float64(down), "failed")
	gauge(m.segments, float64(st.Segments))
	count(m.stayed, st.Stays)
	gauge(m.live, float64(st.LiveBytes))
	gauge(m.index, float64(st.IndexBytes))
	gauge(m.load, st.IndexLoad)
	gauge(m.queue, float64(st.WaitingBytes))
	gauge(m.unfilled, float64(st.Unfilled))
	count(m.lookups, st.Hits, "hit")
	count(m.lookups, st.MemoryHits, "queue")
	count(m.lookups, st.Misses, "miss")
	count(m.writeBytes, st.WriteBytes-st.RewriteBytes, "new")
	count(m.writeBytes, st.RewriteBytes, "again")
	count(m.readBytes, st.ReadBytes)
	out <- histogram(m.readSeconds, &st.ReadTimes)
	out <- histogram(m.writeSeconds, &st.WriteTimes)
	m.collectTrouble(count, &st)
	if n, ok := processWrites(); ok {
		count(m.process, n)
	}
}

// collectTrouble sends the counts of refusals, losses and errors.
func (m *diskMetrics) collectTrouble(count func(d *prometheus.Desc, v int64, labels ...string), st *disk.Stats) {
	count(m.refused, st.Busy, "disk-busy")
	count(m.refused, st.OverRate, "write-rate")
	count(m.refused, st.TooLarge, "too-large")
	count(m.refused, st.ReadOnly, "read-only")
	count(m.refused, st.Off, "off")
	count(m.lost, st.Full, "full")
	count(m.lost, st.Dropped, "write-error")
	count(m.lost, st.Lost, "index")
	count(m.lost, st.Damaged, "damaged")
	count(m.errors, st.ReadErrors, "read")
	count(m.errors, st.WriteErrors, "write")
	count(m.errors, st.NoSpace, "no-space")
	count(m.errors, st.SlowReads, "slow")
	count(m.failures, st.Failures)
}

// histogram converts t to a Prometheus histogram.
func histogram(d *prometheus.Desc, t *disk.Times) prometheus.Metric {
	buckets, sum := map[float64]uint64{}, uint64(0)
	for i, bound := range disk.TimeBounds {
		sum += uint64(t.Counts[i]) //nolint:gosec // a count
		buckets[bound.Seconds()] = sum
	}
	return prometheus.MustNewConstHistogram(d, uint64(t.Count()), t.Sum.Seconds(), buckets) //nolint:gosec // a count
}

// processWrites returns how many bytes this process has sent to devices; false if the system does not say.
func processWrites() (bytes int64, ok bool) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if number, found := strings.CutPrefix(line, "write_bytes: "); found {
			bytes, err = strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return bytes, err == nil
		}
	}
	return 0, false
}
