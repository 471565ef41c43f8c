package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const wantQuery = `must be a section of parameters and their values, such as {beta: "1"}`

// percentEncoded matches an encoded byte of a query.
var percentEncoded = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// matchQuery checks conditions on parameters, which are compared as origins read them: decoded.
func (v *validator) matchQuery(path string, parameters map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		at := child(path, name)
		p := ParseFieldPattern(parameters[name])
		switch {
		case !v.noErrorAt(at):
		case name == "" || strings.ContainsAny(name, "=&*"):
			v.fail(at, "must be the name of a parameter as key, without =, & and *")
		case percentEncoded.MatchString(name):
			v.fail(at, "must be a decoded name, without %-encoding: that is what is matched")
		case p == FieldPattern{}:
			v.fail(at, "must be a value; * stands for any")
		case strings.Contains(p.Value, "*"):
			v.fail(at, "must have * only at the beginning or the end of the value")
		case percentEncoded.MatchString(p.Value):
			v.fail(at, "must be a decoded value, without %-encoding: that is what is matched")
		}
	}
}

// coversQuery reports whether m matches each query that o matches. It says no where it is not sure.
func (m Match) coversQuery(o Match) bool {
	for name, want := range m.Query {
		value, there := o.Query[name]
		if !there || want != "*" && want != value {
			return false
		}
	}
	return true
}
