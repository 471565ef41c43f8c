package proxy

import (
	"slices"
	"sync/atomic"

	"edgeproxy/internal/route/routing"
)

// otherHosts is the label host of all requests for other hosts, and of those whose host was not understood.
const otherHosts = "other"

// hostMetrics are the counters of one label.
type hostMetrics struct {
	label    string
	requests [resultCount]atomic.Int64
	bytes    [resultCount]atomic.Int64
}

// countedHosts are the hosts that are counted. They do not change.
type countedHosts struct {
	hosts   []routing.Host
	exact   map[string]*hostMetrics // the hosts that are one name at any port
	metrics []*hostMetrics          // one for each host
	other   *hostMetrics
}

// newCountedHosts gives hosts their counters; nil for none.
func newCountedHosts(hosts []routing.Host, m *Metrics) *countedHosts {
	if len(hosts) == 0 {
		return nil
	}
	c := &countedHosts{hosts: hosts, exact: map[string]*hostMetrics{}, other: m.forHost(otherHosts)}
	for i := range hosts {
		h := m.forHost(hosts[i].String())
		c.metrics = append(c.metrics, h)
		if one := &hosts[i]; !one.Subdomains && one.Port == 0 && !c.earlier(i) {
			c.exact[one.Name] = h
		}
	}
	return c
}

// earlier reports whether a host before number i may have some of its requests.
func (c *countedHosts) earlier(i int) bool {
	for n := range i {
		one := c.hosts[n]
		if one.Port = 0; one.Takes([]byte(c.hosts[i].Name), 0) {
			return true
		}
	}
	return false
}

// forHost returns the counters for the canonical host of a request. It allocates nothing.
func (c *countedHosts) forHost(scheme string, host []byte) *hostMetrics {
	name, port := routing.SplitPort(scheme, host)
	if h := c.exact[string(name)]; h != nil {
		return h
	}
	for i := range c.hosts {
		if c.hosts[i].Takes(name, port) {
			return c.metrics[i]
		}
	}
	return c.other
}

// count counts x, which has ended.
func (c *countedHosts) count(x *exchange) {
	h := c.other
	if x.target.Raw != nil {
		h = c.forHost(x.scheme, x.host)
	}
	h.requests[x.result].Add(1)
	h.bytes[x.result].Add(x.bytes)
}

// forHost returns the counters of a label, new ones if need be.
func (m *Metrics) forHost(label string) *hostMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.hosts {
		if h.label == label {
			return h
		}
	}
	h := &hostMetrics{label: label}
	m.hosts = append(m.hosts, h)
	m.hostNames.Add(label)
	return h
}

// hostsInForce says which hosts new requests are counted by; nil is none. Series of those that are gone for long go, as
// package series has it.
func (m *Metrics) hostsInForce(c *countedHosts) {
	var labels []string
	if c != nil {
		labels = append(labels, otherHosts)
		for _, h := range c.hosts {
			labels = append(labels, h.String())
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := m.hostNames.Change(labels, func(string) bool { return false })
	m.hosts = slices.DeleteFunc(slices.Clone(m.hosts), func(h *hostMetrics) bool { return slices.Contains(gone, h.label) })
}

// countedHosts returns those that have series.
func (m *Metrics) countedHosts() []*hostMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clip(m.hosts)
}

var (
	descHostRequests = desc("host_requests_total",
		"Requests answered, by the hosts that metrics.hosts names; all others are host=\"other\". Together they are those of requests_total since the setting was made.", "host", "result")
	descHostBytes = desc("host_response_bytes_total", "Body bytes sent to clients, by the hosts that metrics.hosts names.", "host", "result")
)

// hosts sends the counters of hosts. Each result is there from the start.
func (e emitter) hosts(all []*hostMetrics) {
	for _, h := range all {
		for result, word := range resultWords {
			e.counter(descHostRequests, h.requests[result].Load(), h.label, word)
			e.counter(descHostBytes, h.bytes[result].Load(), h.label, word)
		}
	}
}
