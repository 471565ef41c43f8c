package config

import "strings"

// warnOfStars warns of a * in a path of match. It is an ordinary character there, but a wildcard in nginx, Caddy and shells.
func (c *Config) warnOfStars(warn func(path, text string)) {
	for i := range c.Routes {
		m, match := &c.Routes[i].Match, child(item("routes", i), "match")
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
