package config

import (
	"maps"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/method"
	"edgeproxy/internal/route/fieldrules"
)

// Match is the conditions on a request. All must hold.
type Match struct {
	Hosts []HostPattern // one of them matches; never empty

	Scheme MatchScheme

	Paths []string // one of them is the whole decoded path; none is any

	// PathPrefixes are beginnings of the decoded path, in whole segments; one of them matches.
	// /api matches /api and /api/x, not /apix; /api/ matches /api/x, not /api. Each begins
	// with "/". There is at least one.
	PathPrefixes []string

	PathSuffixes []string // the decoded path ends in one of them; none is any

	Methods []string          // one of them; none is any, and GET includes HEAD
	Query   map[string]string // values of the query's parameters by name, decoded; see FieldPattern
	Headers map[string]string // values of request fields by name; see FieldPattern
}

// MatchScheme is the scheme that the client used. Trusted proxies may report it.
type MatchScheme string

// The schemes of a match.
const (
	AnyScheme   MatchScheme = "any"
	SchemeHTTP  MatchScheme = "http"
	SchemeHTTPS MatchScheme = "https"
)

func (s MatchScheme) covers(o MatchScheme) bool { return s == AnyScheme || s == o }

// HostPattern matches the host of a request.
type HostPattern struct {
	Host       string // lower case, no trailing dot, IPv6 in brackets; "" is any host
	Subdomains bool   // the host has one or more labels before Host: *.example.com
	Port       int    // 0 is any
}

// FieldPattern is the wanted value of a request field or of a query parameter. A * at its beginning or its end stands for
// anything, a * alone for any value.
type FieldPattern struct {
	Value                string // without the *
	AnyBefore, AnyBehind bool
}

// ParseFieldPattern reads the text of a FieldPattern.
func ParseFieldPattern(text string) (p FieldPattern) {
	return FieldPattern{
		Value: strings.Trim(text, "*"), AnyBefore: strings.HasPrefix(text, "*"), AnyBehind: strings.HasSuffix(text, "*"),
	}
}

func (m *Match) table() table {
	return table{
		live("hosts", hostPatterns(&m.Hosts, []HostPattern{{}}), "*, example.com, *.example.com, or one of them with the port of the request: *:80 is everything by http.").asBasic(),
		live("scheme", enum(&m.Scheme, AnyScheme, AnyScheme, SchemeHTTP, SchemeHTTPS), "The scheme that the client used; trusted proxies report it by X-Forwarded-Proto."),
		live("path", oneOrList(&m.Paths, nil, wantPaths), `The whole path, or a list of paths; "" is any.`).withExample("/favicon.ico"),
		live("path_prefix", oneOrList(&m.PathPrefixes, []string{"/"}, wantPrefixes),
			"The beginning of the path, or a list of beginnings, by whole segments: /api does not match /apix.").asBasic(),
		live("path_suffix", oneOrList(&m.PathSuffixes, nil, wantSuffixes), `How the path ends, or a list of endings; "" is any.`).withExample("[.css, .js]"),
		live("methods", texts(&m.Methods, "methods", "must be a list of methods, such as [GET]"), "Only these methods. GET is HEAD as well; an empty list is all.").withExample("[GET]"),
		live("query", namedValues(&m.Query, "section of texts by parameter name", wantQuery),
			"Values of query parameters, decoded; case counts. * is as in headers. If a parameter is there several times, one match is enough.").withExample(`{beta: "1"}`),
		live("headers", fieldValues(&m.Headers),
			"Values of request fields. A * at the beginning or end of a value matches anything, * alone any value.").withExample(`{X-Beta: "1"}`),
	}
}

// match checks that there are requests for a route.
func (v *validator) match(path string, m Match) {
	if at := child(path, "hosts"); len(m.Hosts) == 0 && v.noErrorAt(at) {
		v.fail(at, `must be at least one host, or "*" for all`)
	}
	v.matchPaths(path, m)
	v.matchMethods(child(path, "methods"), m.Methods)
	v.matchQuery(child(path, "query"), m.Query)
	v.matchHeaders(child(path, "headers"), m.Headers)
}

func (v *validator) matchMethods(path string, methods []string) {
	for i, name := range methods {
		at := item(path, i)
		switch {
		case !v.noErrorAt(at):
		case name == "" || strings.ContainsFunc(name, notToken):
			v.fail(at, "must be a method, such as GET")
		case strings.ToUpper(name) != name:
			v.fail(at, "must be upper case: a method with lower case letters is refused")
		case method.Refused([]byte(name)):
			v.fail(at, "must be another method: edgeproxy refuses this one")
		case name == "HEAD" && !slices.Contains(methods, "GET"):
			v.fail(at, "must be GET, which is HEAD as well: both are answered from the same response")
		case slices.Contains(methods[:i], name):
			v.fail(at, "each method must be listed once")
		}
	}
}

func (v *validator) matchHeaders(path string, headers map[string]string) {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at := child(path, name)
		p := ParseFieldPattern(headers[name])
		other, twice := names[strings.ToLower(name)]
		names[strings.ToLower(name)] = name
		switch {
		case !v.noErrorAt(at):
		case name == "" || strings.ContainsFunc(name, notToken):
			v.fail(at, "must be the name of a header field as key")
		case twice:
			v.fail(at, "each field must be listed once: this is the same as "+other+", case does not matter")
		case p == FieldPattern{}:
			v.fail(at, "must be a value; * stands for any")
		case strings.Contains(p.Value, "*"):
			v.fail(at, "must have * only at the beginning or the end of the value")
		case strings.ContainsFunc(p.Value, notInField), p != p.trimmed():
			v.fail(at, "must be a value without control characters, and without spaces before or behind it")
		}
	}
}

// notInField reports whether r is not allowed in the value of a field.
func notInField(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// trimmed returns p without spaces at the ends of its value: no value of a field has them.
func (p FieldPattern) trimmed() FieldPattern {
	if !p.AnyBefore {
		p.Value = strings.TrimLeft(p.Value, " \t")
	}
	if !p.AnyBehind {
		p.Value = strings.TrimRight(p.Value, " \t")
	}
	return p
}

// covers reports whether m matches every request that o matches. It says no where it is not sure.
func (m Match) covers(o Match) bool {
	return m.coversPath(o) && m.coversBesidePath(o)
}

// coversBesidePath is covers for all conditions but those on the path.
func (m Match) coversBesidePath(o Match) bool {
	for _, want := range o.Hosts {
		if !slices.ContainsFunc(m.Hosts, func(have HostPattern) bool { return have.covers(want) }) {
			return false
		}
	}
	return m.Scheme.covers(o.Scheme) && m.coversMethods(o) && m.coversQuery(o) && m.coversHeaders(o)
}

func (m Match) coversMethods(o Match) bool {
	if len(m.Methods) == 0 {
		return true
	}
	return len(o.Methods) > 0 && !slices.ContainsFunc(o.Methods, func(method string) bool {
		return !slices.Contains(m.Methods, method) && (method != "HEAD" || !slices.Contains(m.Methods, "GET"))
	})
}

func (m Match) coversHeaders(o Match) bool {
	for name, want := range m.Headers {
		found := false
		for other, value := range o.Headers {
			found = found || strings.EqualFold(name, other) && (want == "*" || want == value)
		}
		if !found {
			return false
		}
	}
	return true
}

func (p HostPattern) covers(o HostPattern) bool {
	if p.Port != 0 && p.Port != o.Port {
		return false
	}
	if p.Host == "" {
		return true
	}
	if p.Subdomains && strings.HasSuffix(o.Host, "."+p.Host) {
		return true
	}
	return p.Host == o.Host && p.Subdomains == o.Subdomains
}

// matchedFields refuses conditions on fields that edgeproxy changes before it forwards a request.
func (v *validator) matchedFields() (found Errors) {
	for i := range v.c.Routes {
		for _, name := range slices.Sorted(maps.Keys(v.c.Routes[i].Match.Headers)) {
			if !fieldrules.Keyable(field.Canonical(name)) {
				found = append(found, v.src.fault(descendant(item("routes", i), "match.headers")+"."+name, wantForwarded))
			}
		}
	}
	return found
}
