package config

import "strings"

// Rewrite gives requests to an origin another path. A slash at the end of its prefixes does not matter.
type Rewrite struct {
	StripPrefix string // the begin of the path that the origin does not have; "" is none
	AddPrefix   string // what it has there instead; "" is nothing
	Locations   bool   // Location and Content-Location name what clients ask for
}

func (r *Rewrite) table() table {
	return table{
		live("strip_prefix", textual(&r.StripPrefix, ""), "The beginning of the path to remove, in whole segments; every path in match must begin with it.").withExample("/api"),
		live("add_prefix", textual(&r.AddPrefix, ""), "The prefix that the path gets, in its place if there is one.").withExample("/v2"),
		live("locations", boolean(&r.Locations, true), "true rewrites Location and Content-Location of the origin the other way. Use false if the origin writes them for clients."),
	}
}

// Rewrites reports whether the origin of the route has another path.
func (r *Route) Rewrites() bool { return r.Rewrite.StripPrefix+r.Rewrite.AddPrefix != "" }

// rewrite checks that each request of a route can be rewritten.
func (v *validator) rewrite(path string, r *Route) {
	strip, add, locations := child(path, "strip_prefix"), child(path, "add_prefix"), child(path, "locations")
	if !v.noErrorAt(strip, add, locations) {
		return
	}
	w := &r.Rewrite
	switch {
	case !w.Locations && v.src.given(locations) && !r.Rewrites():
		v.fail(locations, "want strip_prefix or add_prefix as well, or remove the section")
	case r.Rewrites() && r.AnswersItself():
		v.addError(path, "", "remove the section: a route with redirect or respond asks no origin")
	}
	v.prefix(strip, w.StripPrefix)
	v.prefix(add, w.AddPrefix)
	match := descendant(strings.TrimSuffix(path, ".rewrite"), "match")
	if w.StripPrefix != "" && v.noErrorAt(strip, child(match, "path"), child(match, "path_prefix")) {
		v.stripsAllPaths(strip, w.StripPrefix, r.Match)
	}
}

// stripsAllPaths checks that each path of a route begins with prefix.
func (v *validator) stripsAllPaths(at, prefix string, m Match) {
	begins := m.Paths
	if len(begins) == 0 {
		begins = m.PathPrefixes
	}
	they := "they begin"
	if len(begins) > 1 {
		they = "some begin"
	}
	for _, of := range begins {
		if !prefixCovers(strings.TrimSuffix(prefix, "/"), of) {
			v.fail(at, "want a beginning of match.path_prefix or match.path, in whole segments: every path of the route must begin with it, and "+they+" with "+of)
			return
		}
	}
}

// prefix checks a begin of targets, as it stands in them.
func (v *validator) prefix(at, prefix string) {
	encoded := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }
	switch {
	case prefix == "" || !v.noErrorAt(at):
	case strings.Trim(prefix, "/") == "":
		v.fail(at, "want more than slashes, or remove the key")
	case strings.ContainsFunc(prefix, encoded):
		v.fail(at, "want only characters that need no %-encoding in a URL")
	default:
		v.matchPath(at, prefix)
	}
}
