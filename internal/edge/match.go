package edge

import (
	"maps"
	"slices"

	"edgeproxy/config"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/routing"
)

func matchOf(m *config.Match) routing.Match {
	return routing.Match{
		Hosts: hosts(m.Hosts), Scheme: schemeOf(m.Scheme), Paths: m.Paths, PathPrefixes: m.PathPrefixes, PathSuffixes: m.PathSuffixes,
		Methods: m.Methods, Query: valueMatches(m.Query, asIs), Fields: valueMatches(m.Headers, field.Canonical),
	}
}

func hosts(patterns []config.HostPattern) []routing.Host {
	var out []routing.Host
	for _, h := range patterns {
		out = append(out, routing.Host{Name: h.Host, Subdomains: h.Subdomains, Port: h.Port})
	}
	return out
}

// schemeOf returns the scheme that a match wants, "" for either.
func schemeOf(s config.MatchScheme) string {
	if s == config.AnyScheme {
		return ""
	}
	return string(s)
}

func asIs(name string) string { return name }

// valueMatches returns conditions on values, sorted by name. named maps a name to its form in routing.
func valueMatches(values map[string]string, named func(string) string) (out []routing.ValueMatch) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p := config.ParseFieldPattern(values[name])
		out = append(out, routing.ValueMatch{Name: named(name), Value: []byte(p.Value), AnyBefore: p.AnyBefore, AnyBehind: p.AnyBehind})
	}
	return out
}
