package config

import (
	"slices"
	"time"

	"edgeproxy/internal/ops/top"
	"edgeproxy/internal/route/routing"
)

// Metrics is an optional listener for health and metrics only, and what /metrics and /top show.
type Metrics struct {
	Address    string // HOST:PORT; "" is no further listener
	RouteLabel bool   // requests and fills have series for each route; otherwise for all routes together
	Top        top.Options
	// Hosts have series of their own. The first pattern that matches a request counts it. An empty list makes no
	// such series. The patterns' texts are unique, and none is "other" or any host.
	Hosts []routing.Host
}

const (
	maxTopEntries   = 4096 // each takes 4 KiB in up to four stripes
	maxCountedHosts = 100  // 14 series each
)

// otherHost is the label of hosts that are not listed.
const otherHost = "other"

func (m *Metrics) table() table {
	return table{
		restart("address", textual(&m.Address, ""), `A further listener; "" is none.`).withExample(`"127.0.0.1:9981"`),
		restart("route_label", boolean(&m.RouteLabel, true),
			"false counts requests and fills of all routes together, for fewer series. /status and the access log still tell routes apart."),
		live("hosts", hostPatterns(&m.Hosts, nil),
			"Hosts with series of their own in edgeproxy_host_requests_total; others are counted together, as other. An empty list makes no such series.").withExample(`["www.example.com", "*.example.net"]`),
		section("top", func() table { return topTable(&m.Top) }, "The most requested hosts and URLs, at /top.").asInline(),
	}
}

func topTable(t *top.Options) table {
	return table{
		live("entries", count(&t.Entries, 0).between(0, maxTopEntries),
			"How many hosts and URLs are listed. With N, a count is too low by at most 1/N of all. 0 counts nothing. Each takes at most 16 KiB of memory.").withExample("256"),
		live("window", duration(&t.Window, 5*time.Minute).atLeast(time.Second), "Requests of the last one to two windows are counted."),
	}
}

// hostPatterns is a list of host patterns.
func hostPatterns(field *[]routing.Host, byDefault []routing.Host) *scalar[[]routing.Host] {
	return list(field, byDefault, "host patterns", `must be a list, such as ["*.example.com"]`, func(p *routing.Host) *scalar[routing.Host] {
		return parsed(p, routing.Host{}, "host pattern", routing.WantHost, routing.ParseHost, routing.Host.String)
	})
}

// metrics checks the metrics section, except its address.
func (v *validator) metrics() {
	const entries, window = "metrics.top.entries", "metrics.top.window"
	m := &v.c.Metrics
	if m.Top.Entries == 0 && m.Top.Window != withDefaults(topTable).Window && v.src.given(window) && v.noErrorAt(entries, window) {
		v.fail(window, "needs entries above 0 as well: without them nothing is counted")
	}
	v.countedHosts(m.Hosts)
}

// countedHosts checks the hosts that have series of their own.
func (v *validator) countedHosts(patterns []routing.Host) {
	const hosts = "metrics.hosts"
	if len(patterns) > maxCountedHosts && v.noErrorAt(hosts) {
		v.fail(hosts, "must be at most 100: each has 14 series")
	}
	for i, h := range patterns {
		at := item(hosts, i)
		switch {
		case !v.noErrorAt(at):
		case h.Name == "":
			v.fail(at, "must be a host, such as example.com or *.example.com: edgeproxy_requests_total counts all hosts together")
		case h.String() == otherHost:
			v.fail(at, "must be another host: this is the label of hosts that are not listed")
		case slices.Contains(patterns[:i], h):
			v.fail(at, "each host must be listed once")
		case slices.ContainsFunc(patterns[:i], h.Within):
			v.fail(at, "must stand before the pattern that matches all of its hosts: the first match counts")
		}
	}
}
