package proxy

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/proxy/compress"
)

// collector shows the atomics of Metrics, and the gauges of the Proxy and its filters, at each
// scrape.
type collector struct{ m *Metrics }

func desc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("edgeproxy_"+name, help, labels, nil)
	if len(labels) > 0 && labels[0] == "route" {
		ofAll[d] = prometheus.NewDesc("edgeproxy_"+name, help, labels[1:], nil)
	}
	return d
}

// ofAll has the descriptions of what is counted by route, with the same without that label.
var ofAll = map[*prometheus.Desc]*prometheus.Desc{}

var (
	descRequests = desc("requests_total",
		"Requests answered, each under exactly one result; requests = hit + stale + revalidated + miss + held_back + pass + error.",
		"route", "result", "status")
	descBytes    = desc("response_bytes_total", "Body bytes sent to clients, and those of protocols switched to.", "route", "result")
	descDuration = desc("request_duration_seconds",
		"Time from the receipt of a request to the end of its answer: for a body from the store until it is handed to the connection, for a streamed one until it is written.",
		"route", "result")
	descFirstByte     = desc("first_byte_seconds", "Time from the receipt of a request to the first byte of its answer's body.", "route", "result")
	descCollapsed     = desc("collapsed_requests_total", "Requests answered by the fetch of another one.", "route")
	descHeldBack      = desc("cache_held_back_total", "Storable responses not written because of admission; several per key.", "route")
	descHeldBackBytes = desc("cache_held_back_bytes_total", "Body bytes of storable responses not written because of admission.", "route")
	descRegret        = desc("admission_regret_total", "Fills of a key whose fill before was held back within the window: writes that held back did not save.", "route")
	descRegretBytes   = desc("admission_regret_bytes_total", "Body bytes of fills of a key whose fill before was held back within the window.", "route")
	descStorable      = desc("storable_fills_total", "Fills judged storable when their header came; storable = stored + held_back + refused of fills_total.", "route")
	descCompressed    = desc("compressed_responses_total", "Responses of origins that were compressed, once each, whatever became of them; identity is of those that stayed as they were because too many others were being compressed.", "route", "coding")
	descCompressedIn  = desc("compressed_in_bytes_total", "Body bytes of such responses as origins sent them.", "route", "coding")
	descCompressedOut = desc("compressed_out_bytes_total", "Body bytes that came of them.", "route", "coding")
	descFills         = desc("fills_total", "Fetches of a GET that asked the cache and got a response, by what became of it when its body had ended.", "route", "outcome")
	descBehind        = desc("readers_behind_total", "Clients of a shared fetch that it has left behind because others read faster: the rest came from what was stored by then, or by a request of their own to the origin, or they were cut off.", "route", "rest")
	descSpooled       = desc("spooled_bytes_total", "Bytes written to files in limits.spool_path for clients slower than their origin. They are no writes of the cache.")
	descSpool         = desc("spool_bytes", "Bytes of disk that such files hold now.")
	descSpoolFiles    = desc("spool_files", "Such files.")
	descSpoolFailed   = desc("spool_failures_total", "Files that could not be made, and writes that found no room or failed; the response goes on at its client's pace.")
	descGateOpen      = desc("admission_gate_open", "1 while the cache is below admission.warm_up_below and everything storable is stored, else 0.")
	descNotStored     = desc("not_stored_total", "Responses to requests that asked the cache and were not stored, by reason; held back ones included.", "route", "reason")
	descInFlight      = desc("requests_in_flight", "Requests received and not yet answered in full.")
	descInflightBytes = desc("inflight_bytes", "Bytes of memory reserved for bodies on their way: responses kept whole while they arrive, what is read ahead of clients, and what is read of uploads before a connection to the origin is taken.")
	descPanics        = desc("panics_total", "Panics that ended a request.")
	descFill          = desc("filter_fill_ratio", "Share of the bits, or counters, of a generation that are set; generation 0 is the newest.", "filter", "generation")
	descFalsePositive = desc("filter_false_positive_ratio", "Share of unseen keys the filter reports: expected from its fill now; measured in a sample of the keys over the last generations, to be compared with expected_sampled, the mean of expected over those sightings.", "filter", "kind")
	descFalseNegative = desc("filter_false_negatives_total", "Sightings within the guarantee that the filter denied, in a sample of the keys; 0 unless something is wrong.", "filter")
	descWindow        = desc("filter_window_seconds", "Time since the start of the oldest generation held.", "filter")
	descWindowMax     = desc("filter_window_max_seconds", "The longest that the window can be while rotations come in time, generations times rotate_every; only where a generation ends by time.", "filter")
	descWindowKeys    = desc("filter_window_keys", "Distinct keys held, summed over the generations.", "filter")
	descFilterBytes   = desc("filter_bytes", "Memory of the filter itself; admission_bytes has what stands beside it, too.", "filter")
	descAdmission     = desc("admission_bytes", "Memory of all filters, of those that find regret, and of the samples.")
	descRotations     = desc("filter_rotations_total", "Rotations: by time, because the newest generation was full, or because it had had the sightings that suit the cache.", "filter", "cause")
	descWindowObjects = desc("filter_window_objects", "Objects that the tier behind the gate holds when it is full, which a window that is fitted goes by.", "filter")
	descPurges        = desc("purges_total", "URLs, prefixes, hosts, tags and groups purged, once for each time, and purges of all.")
	descInvalidations = desc("cache_invalidations_total", "URLs and groups forgotten because of a client's request, by what named them; something may have been stored of them or not.", "route", "cause")
	descPurgesFolded  = desc("purges_folded_total", "Purges that had to make room for later ones and take more than they were for since.")
	descPurgeSweeps   = desc("purge_sweeps_total", "Times that all that is stored was held against the marks of purges, to make room for others.")
	descGone          = desc("clients_gone_total", "Clients that were seen to leave before they had their answer.")
	descForgotten     = desc("rate_forgotten_total", "Clients that were forgiven what they lacked of a token, because more had asked than there are buckets.")
	descSlowUploads   = prometheus.NewDesc(LimitRejections, LimitRejectionsHelp, nil, prometheus.Labels{"limit": slowUploadsLimit})
)

var descs = []*prometheus.Desc{
	descRequests, descBytes, descDuration, descFirstByte, descCollapsed, descHeldBack, descHeldBackBytes, descRegret, descRegretBytes, descStorable, descFills, descBehind, descSpooled, descSpool, descSpoolFiles, descSpoolFailed, descGateOpen, descNotStored, descInFlight, descInflightBytes,
	descPanics, descFill, descFalsePositive, descFalseNegative, descWindow, descWindowMax, descWindowKeys, descFilterBytes, descAdmission, descRotations, descWindowObjects, descPurges, descInvalidations, descPurgesFolded, descPurgeSweeps, descGone, descForgotten,
	descSlowUploads, descCompressed, descCompressedIn, descCompressedOut, descHostRequests, descHostBytes,
}

// Describe sends the description of every metric.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	e := emitter{routeLabel: c.m.options.RouteLabel}
	for _, d := range descs {
		d, _ = e.labelled(d, nil)
		out <- d
	}
}

// Collect sends the value of every metric.
func (c collector) Collect(out chan<- prometheus.Metric) {
	e := emitter{out, c.m.options.RouteLabel}
	for _, r := range c.m.shown() {
		e.route(r)
	}
	e.hosts(c.m.countedHosts())
	if p := c.m.proxy.Load(); p != nil {
		e.proxy(p)
	}
}

// emitter sends values.
type emitter struct {
	out        chan<- prometheus.Metric
	routeLabel bool
}

// labelled returns what d and its labels are where there are no routes, else both.
func (e emitter) labelled(d *prometheus.Desc, labels []string) (*prometheus.Desc, []string) {
	bare := ofAll[d]
	switch {
	case e.routeLabel || bare == nil:
		return d, labels
	case len(labels) == 0:
		return bare, nil
	}
	return bare, labels[1:]
}

func (e emitter) counter(d *prometheus.Desc, v int64, labels ...string) {
	d, labels = e.labelled(d, labels)
	e.out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (e emitter) gauge(d *prometheus.Desc, v float64, labels ...string) {
	e.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// route sends the counters of a route. Each result is there from the start with status class
// 2xx; other classes and reasons appear when they first occur.
func (e emitter) route(r *routeMetrics) {
	for result := range r.requests {
		word := resultWords[result]
		for class := range r.requests[result] {
			if v := r.requests[result][class].Load(); v > 0 || class == int(statusclass.Success) {
				e.counter(descRequests, v, r.name, word, statusclass.Class(class).String()) //nolint:gosec // below Count
			}
		}
		e.counter(descBytes, r.bytes[result].Load(), r.name, word)
		r.duration[result].send(e, descDuration, r.name, word)
		r.firstByte[result].send(e, descFirstByte, r.name, word)
	}
	e.counter(descCollapsed, r.collapsed.Load(), r.name)
	for i, word := range behindWords {
		e.counter(descBehind, r.behind[i].Load(), r.name, word)
	}
	for cause := range r.invalidations {
		e.counter(descInvalidations, r.invalidations[cause].Load(), r.name, causeWords[cause])
	}
	e.fills(&r.fills, r.name)
	e.compressed(&r.compressed, r.name)
}

// compressed sends the counters of each coding that has been used.
func (e emitter) compressed(all *[compress.Count]compress.Counts, route string) {
	for i := range all {
		c, word := &all[i], compress.Coding(i).String() //nolint:gosec // below Count
		if n := c.Responses.Load(); n > 0 {
			e.counter(descCompressed, n, route, word)
			if i == int(compress.None) {
				continue
			}
			e.counter(descCompressedIn, c.In.Load(), route, word)
			e.counter(descCompressedOut, c.Out.Load(), route, word)
		}
	}
}

// fills sends the counters of fills: what was storable, and what became of it.
func (e emitter) fills(c *fillCounts, route string) {
	e.counter(descStorable, c.storable.Load(), route)
	e.counter(descFills, c.stored.Load(), route, "stored")
	e.counter(descFills, c.heldBack.Load(), route, "held_back")
	e.counter(descFills, c.refused.Load(), route, "refused")
	e.counter(descFills, c.notStorable.Load(), route, "not_storable")
	e.counter(descHeldBack, c.heldBack.Load(), route)
	e.counter(descHeldBackBytes, c.heldBackBytes.Load(), route)
	e.counter(descRegret, c.regret.Load(), route)
	e.counter(descRegretBytes, c.regretBytes.Load(), route)
	for i := range c.notStored {
		if v := c.notStored[i].Load(); v > 0 {
			e.counter(descNotStored, v, route, reason.Reason(i).String())
		}
	}
}

func (e emitter) proxy(p *Proxy) {
	e.gauge(descInFlight, float64(p.inFlight.Load()))
	e.gauge(descInflightBytes, float64(p.bodiesOnTheirWay()))
	e.counter(descPanics, p.Panics.Count())
	purges := p.purgeStatus()
	e.counter(descPurges, int64(purges.Count))
	e.counter(descPurgesFolded, int64(purges.Folded))
	e.counter(descPurgeSweeps, purges.Sweeps)
	e.counter(descGone, p.watch.Gone())
	if rates := p.settings.Load().rates; rates != nil {
		e.counter(descForgotten, rates.Crowded())
	}
	e.counter(descSlowUploads, p.slowUploads.Load())
	if p.Spool != nil {
		s := p.Spool.Stats()
		e.counter(descSpooled, s.Written)
		e.gauge(descSpool, float64(s.Bytes))
		e.gauge(descSpoolFiles, float64(s.Files))
		e.counter(descSpoolFailed, s.Failed)
	}
	e.gauge(descGateOpen, boolean(p.Gate.Open()))
	e.gauge(descAdmission, float64(p.Gate.Bytes()))
	for _, f := range p.Gate.Stats(now()) {
		for i, g := range f.Generations {
			e.gauge(descFill, g.FillRatio, f.Name, strconv.Itoa(i))
		}
		e.gauge(descFalsePositive, f.FalsePositiveRatio, f.Name, "expected")
		e.gauge(descFalsePositive, f.Measured.Expected, f.Name, "expected_sampled")
		e.gauge(descFalsePositive, f.Measured.Ratio, f.Name, "measured")
		e.counter(descFalseNegative, f.Measured.FalseNegatives, f.Name)
		e.gauge(descWindow, f.Window.Seconds(), f.Name)
		if f.Longest > 0 {
			e.gauge(descWindowMax, f.Longest.Seconds(), f.Name)
		}
		e.gauge(descWindowKeys, float64(f.Keys), f.Name)
		e.gauge(descFilterBytes, float64(f.Bytes), f.Name)
		e.counter(descRotations, f.Rotations.Time, f.Name, "time")
		e.counter(descRotations, f.Rotations.Full, f.Name, "full")
		e.counter(descRotations, f.Rotations.Fitted, f.Name, "fitted")
		if f.Objects > 0 {
			e.gauge(descWindowObjects, float64(f.Objects), f.Name)
		}
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
