package config

import (
	"regexp"
	"strings"

	"edgeproxy/internal/route/routing"
)

const wantQuery = `must be a section of parameters and their values, such as {beta: "1"}`

// percentEncoded matches an encoded byte of a query.
var percentEncoded = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// matchQuery checks conditions on parameters, which are compared as origins read them: decoded.
func (v *validator) matchQuery(path string, parameters []routing.ValueMatch) {
	for i := range parameters {
		name, value := parameters[i].Name, string(parameters[i].Value)
		at := child(path, name)
		switch {
		case !v.noErrorAt(at):
		case name == "" || strings.ContainsAny(name, "=&*"):
			v.fail(at, "must be the name of a parameter as key, without =, & and *")
		case percentEncoded.MatchString(name):
			v.fail(at, "must be a decoded name, without %-encoding: that is what is matched")
		case parameters[i].String() == "":
			v.fail(at, "must be a value; * stands for any")
		case strings.Contains(value, "*"):
			v.fail(at, "must have * only at the beginning or the end of the value")
		case percentEncoded.MatchString(value):
			v.fail(at, "must be a decoded value, without %-encoding: that is what is matched")
		}
	}
}
