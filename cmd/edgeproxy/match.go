package main

import (
	"fmt"
	"maps"
	"slices"

	"edgeproxy/config"
	"edgeproxy/internal/field"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/routing"
)

func matchOf(m *config.Match) routing.Match {
	return routing.Match{
		Hosts: hosts(m.Hosts), Scheme: schemeOf(m.Scheme), Paths: m.Paths, PathPrefixes: m.PathPrefixes, PathSuffixes: m.PathSuffixes,
		Methods: m.Methods, Fields: fieldMatches(m.Headers),
	}
}

func hosts(patterns []config.HostPattern) []routing.Host {
	var out []routing.Host
	for _, h := range patterns {
		out = append(out, routing.Host{Name: h.Host, Subdomains: h.Subdomains, Port: h.Port})
	}
	return out
}

// schemeOf is the scheme that a match wants, "" for either.
func schemeOf(s config.MatchScheme) string {
	if s == config.AnyScheme {
		return ""
	}
	return string(s)
}

// fieldMatches are the conditions on fields, in the order of their names.
func fieldMatches(headers map[string]string) (out []routing.FieldMatch) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		p := config.ParseFieldPattern(headers[name])
		out = append(out, routing.FieldMatch{Name: field.Canonical(name), Value: []byte(p.Value), AnyBefore: p.AnyBefore, AnyBehind: p.AnyBehind})
	}
	return out
}

// matchFaults refuses conditions on fields that do not reach origins as the client sent them.
func matchFaults(c *config.Config) (faults config.Errors) {
	for i, r := range c.Routes {
		for _, name := range slices.Sorted(maps.Keys(r.Match.Headers)) {
			if !proxy.KeyableHeader(field.Canonical(name)) {
				faults = append(faults, c.Fault(fmt.Sprintf("routes[%d].match.headers.%s", i, name), "want a field that reaches the origin as the client sent it"))
			}
		}
	}
	return faults
}
