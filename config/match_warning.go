package config

import (
	"regexp"
	"strings"

	"edgeproxy/internal/route/routing"
)

// warnOfExpressions warns of values of fields and parameters that look like regular expressions. They are compared as they are.
func (c *Config) warnOfExpressions(warn func(path, text string)) {
	for i := range c.Routes {
		m, match := &c.Routes[i].Match, child(c.Routes[i].path, "match")
		for _, matcher := range []struct {
			key    string
			values []routing.ValueMatch
		}{{"query", m.Query}, {"headers", m.Fields}} {
			for n := range matcher.values {
				if value := &matcher.values[n]; expression.MatchString(value.String()) {
					warn(child(child(match, matcher.key), value.Name), "is compared as it is: there are no regular expressions. A * at the beginning or the end stands for anything")
				}
			}
		}
	}
}

// expression matches what values seldom are, and regular expressions often.
var expression = regexp.MustCompile(`^\^|\.\*|[^$]\$$|^\([^()]*\|[^()]*\)|\\[dws.]`)

// warnOfStars warns of a * in a path of match. It is an ordinary character there, but a wildcard in nginx, Caddy and shells.
func (c *Config) warnOfStars(warn func(path, text string)) {
	for i := range c.Routes {
		m, match := &c.Routes[i].Match, child(c.Routes[i].path, "match")
		for _, matcher := range []struct {
			key    string
			values []string
		}{{"path", m.Paths}, {"path_prefix", m.PathPrefixes}, {"path_suffix", m.PathSuffixes}} {
			for _, value := range matcher.values {
				if strings.Contains(value, "*") {
					warn(child(match, matcher.key), "* is an ordinary character here, so "+value+" matches no path without one: path_prefix and path_suffix need none")
				}
			}
		}
	}
}
