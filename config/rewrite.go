package config

import (
	"strings"

	"edgeproxy/internal/route/rewrite"
	"edgeproxy/internal/route/routing"
)

func rewriteTable(r *rewrite.Options) table {
	return table{
		live("strip_prefix", textual(&r.StripPrefix, ""), "The beginning of the path to remove, in whole segments; every path in match must begin with it.").withExample("/api"),
		live("add_prefix", textual(&r.AddPrefix, ""), "The prefix that the path gets, in its place if there is one.").withExample("/v2"),
		live("locations", boolean(&r.Locations, true), "true rewrites Location and Content-Location of the origin the other way. Use false if the origin writes them for clients."),
	}
}

// rewrite checks the rewrite section, and that each request of the route can be rewritten.
func (v *validator) rewrite(path string, r *Route) {
	strip, add, locations := child(path, "strip_prefix"), child(path, "add_prefix"), child(path, "locations")
	if !v.noErrorAt(strip, add, locations) {
		return
	}
	w := &r.Rewrite
	switch {
	case !w.Locations && v.src.given(locations) && !w.Changes():
		v.fail(locations, "needs strip_prefix or add_prefix as well, or remove the section")
	case w.Changes() && r.AnswersItself():
		v.addError(path, "", "remove the section: a route with redirect or respond asks no origin")
	}
	v.prefix(strip, w.StripPrefix)
	v.prefix(add, w.AddPrefix)
	match := descendant(strings.TrimSuffix(path, ".rewrite"), "match")
	if w.StripPrefix != "" && v.noErrorAt(strip, child(match, "path"), child(match, "path_prefix")) {
		v.stripsAllPaths(strip, w.StripPrefix, &r.Match)
	}
}

// stripsAllPaths checks that each path of a route begins with prefix.
func (v *validator) stripsAllPaths(at, prefix string, m *routing.Match) {
	begins := m.Paths
	if len(begins) == 0 {
		begins = m.PathPrefixes
	}
	they := "they begin"
	if len(begins) > 1 {
		they = "some begin"
	}
	for _, of := range begins {
		if !routing.BeginsWith(of, strings.TrimSuffix(prefix, "/")) {
			v.fail(at, "must be a beginning of match.path_prefix or match.path, in whole segments: every path of the route must begin with it, and "+they+" with "+of)
			return
		}
	}
}

// prefix checks a prefix of request targets.
func (v *validator) prefix(at, prefix string) {
	encoded := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }
	switch {
	case prefix == "" || !v.noErrorAt(at):
	case strings.Trim(prefix, "/") == "":
		v.fail(at, "must be more than slashes, or remove the key")
	case strings.ContainsFunc(prefix, encoded):
		v.fail(at, "must be only characters that need no %-encoding in a URL")
	default:
		v.matchPath(at, prefix)
	}
}
