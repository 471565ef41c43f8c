package config

import (
	"slices"
	"time"

	"edgeproxy/internal/route/rate"
)

func rateTable(r *rate.Limit) table {
	return table{
		live("requests", count(&r.Requests, 0).between(0, maxRate), "How many requests a client may send in each per; 0 is no limit."),
		live("per", duration(&r.Per, time.Second).atLeast(minPer), "The time for that many requests."),
		live("burst", count(&r.Burst, 0).between(0, maxRate), "How many of them it may send at once; 0 is as many as requests."),
	}
}

// routeLimits is the limits section of a route. Only rate is allowed in it.
func routeLimits(r *rate.Limit) table {
	var out table
	for _, s := range new(Limits).table() {
		if s.name == "rate" {
			out = append(out, section("rate", func() table { return rateTable(r) }, s.about))
			continue
		}
		out = append(out, misplaced(s.name, "belongs in the limits section: a route may have only rate"))
	}
	return out
}

// rate returns the rate of a route. Its rate section is at path and holds own. Keys that
// the section lacks have the values for all routes.
func (c *Config) rate(src *source, path string, own *rate.Limit) rate.Limit {
	return overlaid(c.Limits.Rate, own, rateTable, src, path)
}

// warnOfRates warns of listeners on which no rate applies.
func (c *Config) warnOfRates(warn func(path, text string)) {
	if !slices.ContainsFunc(c.Routes, func(r Route) bool { return r.Rate.Requests > 0 }) {
		return
	}
	for i, l := range c.Listen {
		if l.Socket() && !l.ProxyProtocol {
			warn(item("listen", i), "clients of a socket have no address, so no rate applies: with proxy_protocol the peer can send one")
		}
	}
}

const (
	maxRate = 1_000_000 // requests, or burst
	minPer  = time.Millisecond
	maxFill = 24 * time.Hour // to fill an empty token bucket
)

// rates checks the rate for all routes, and those of single routes.
func (v *validator) rates() {
	const path = "limits.rate"
	all := v.c.Limits.Rate
	v.refillTime(path, all)
	if all.Requests == 0 && !slices.ContainsFunc(v.c.Routes, func(r Route) bool { return r.Rate.Requests > 0 }) {
		v.unusedRateKeys(path, all)
	}
	for i, r := range v.c.Routes {
		at := descendant(v.c.Routes[i].path, path)
		if !v.src.given(at) {
			continue
		}
		v.refillTime(at, r.Rate)
		if r.Rate.Requests == 0 {
			v.unusedRateKeys(at, r.ownRate)
		}
	}
}

// unusedRateKeys refuses per and burst without requests: the operator expects a limit.
func (v *validator) unusedRateKeys(path string, r rate.Limit) {
	defaults := withDefaults(rateTable)
	said := r.Per != defaults.Per && v.src.given(child(path, "per")) || r.Burst != defaults.Burst && v.src.given(child(path, "burst"))
	if said && v.noErrorAt(path) {
		v.fail(path, "needs requests above 0 in it: without them there is no rate")
	}
}

// refillTime checks how long an empty bucket takes to fill: a client is remembered until then.
func (v *validator) refillTime(path string, r rate.Limit) {
	requests, per, burst := child(path, "requests"), child(path, "per"), child(path, "burst")
	if r.Requests <= 0 || !v.noErrorAt(path, requests, per, burst) {
		return
	}
	if fill := float64(r.Per) / float64(r.Requests) * float64(max(r.Burst, 1)); fill > float64(maxFill) {
		v.fail(burst, "must be a burst that the rate refills within "+formatDuration(maxFill)+": a smaller burst, or a greater rate")
	}
}
