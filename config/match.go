package config

import (
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/method"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/routing"
)

func matchTable(m *routing.Match) table {
	return table{
		live("hosts", hostPatterns(&m.Hosts, []routing.Host{{}}), "*, example.com, *.example.com, or one of them with the port of the request: *:80 is everything by http.").asBasic(),
		live("scheme", enum(&m.Scheme, routing.AnyScheme, routing.AnyScheme, routing.SchemeHTTP, routing.SchemeHTTPS), "The scheme that the client used; trusted proxies report it by X-Forwarded-Proto."),
		live("path", oneOrList(&m.Paths, nil, wantPaths), `The whole path, or a list of paths; "" is any.`).withExample("/favicon.ico"),
		live("path_prefix", oneOrList(&m.PathPrefixes, []string{"/"}, wantPrefixes),
			"The beginning of the path, or a list of beginnings, by whole segments: /api does not match /apix.").asBasic(),
		live("path_suffix", oneOrList(&m.PathSuffixes, nil, wantSuffixes), `How the path ends, or a list of endings; "" is any.`).withExample("[.css, .js]"),
		live("methods", texts(&m.Methods, "methods", "must be a list of methods, such as [GET]"), "Only these methods. GET is HEAD as well; an empty list is all.").withExample("[GET]"),
		live("query", valueMatches(&m.Query, "section of texts by parameter name", wantQuery),
			"Values of query parameters, decoded; case counts. * is as in headers. If a parameter is there several times, one match is enough.").withExample(`{beta: "1"}`),
		live("headers", valueMatches(&m.Fields, "section of texts by field name", wantFields),
			"Values of request fields. A * at the beginning or end of a value matches anything, * alone any value.").withExample(`{X-Beta: "1"}`),
	}
}

// valueMatches is namedValues for conditions on values.
func valueMatches(field *[]routing.ValueMatch, what, want string) *scalar[[]routing.ValueMatch] {
	named := namedValues(nil, what, want)
	return &scalar[[]routing.ValueMatch]{
		field: field, kindText: what, shape: named.shape,
		decode: func(d *decoder, f *[]routing.ValueMatch) func(node) {
			return func(n node) {
				var values map[string]string
				named.decode(d, &values)(n)
				*f = routing.ParseValues(values)
			}
		},
		masked: func(src *source, path string, all []routing.ValueMatch) string {
			values := map[string]string{}
			for i := range all {
				values[all[i].Name] = all[i].String()
			}
			return named.masked(src, path, values)
		},
	}
}

// match checks that there are requests for a route.
func (v *validator) match(path string, m *routing.Match) {
	if at := child(path, "hosts"); len(m.Hosts) == 0 && v.noErrorAt(at) {
		v.fail(at, `must be at least one host, or "*" for all`)
	}
	v.matchPaths(path, m)
	v.matchMethods(child(path, "methods"), m.Methods)
	v.matchQuery(child(path, "query"), m.Query)
	v.matchHeaders(child(path, "headers"), m.Fields)
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

func (v *validator) matchHeaders(path string, headers []routing.ValueMatch) {
	names := map[string]string{}
	for i := range headers {
		name, value := headers[i].Name, string(headers[i].Value)
		at := child(path, name)
		other, twice := names[strings.ToLower(name)]
		names[strings.ToLower(name)] = name
		switch {
		case !v.noErrorAt(at):
		case name == "" || strings.ContainsFunc(name, notToken):
			v.fail(at, "must be the name of a header field as key")
		case twice:
			v.fail(at, "each field must be listed once: this is the same as "+other+", case does not matter")
		case headers[i].String() == "":
			v.fail(at, "must be a value; * stands for any")
		case strings.Contains(value, "*"):
			v.fail(at, "must have * only at the beginning or the end of the value")
		case strings.ContainsFunc(value, notInField), hasOuterSpace(&headers[i]):
			v.fail(at, "must be a value without control characters, and without spaces before or behind it")
		}
	}
}

// notInField reports whether r is not allowed in the value of a field.
func notInField(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// hasOuterSpace reports whether the value of m has spaces at its ends: no value of a field has them.
func hasOuterSpace(m *routing.ValueMatch) bool {
	const space = " \t"
	value := string(m.Value)
	return !m.AnyBefore && strings.TrimLeft(value, space) != value || !m.AnyBehind && strings.TrimRight(value, space) != value
}

// matchedFields refuses conditions on fields that edgeproxy changes before it forwards a request.
func (v *validator) matchedFields() (found Errors) {
	for i := range v.c.Routes {
		for _, m := range v.c.Routes[i].Match.Fields {
			if !fieldrules.Keyable(field.Canonical(m.Name)) {
				found = append(found, v.src.fault(descendant(v.c.Routes[i].path, "match.headers")+"."+m.Name, wantForwarded))
			}
		}
	}
	return found
}
