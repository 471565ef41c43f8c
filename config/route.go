package config

import "strings"

// Route sends the requests it matches to an origin.
type Route struct {
	Name   string // unique; the metric label
	Match  Match
	Origin string // the Name of one of Config.Origins

	// Admission is in force as it stands: what the route does not say has been
	// taken from Config.Admission.
	Admission Rule

	// Cache is in force as it stands, like Admission.
	Cache Caching

	// AllowAmbiguousPath lets responses be stored whose target holds an encoded
	// slash, backslash or NUL, a dot segment or an empty segment.
	AllowAmbiguousPath bool

	// Rate is in force as it stands, like Admission.
	Rate Rate

	Headers Headers

	// UnusualNames lets request fields through whose names have other than letters, digits
	// and hyphens in them.
	UnusualNames bool

	own      Rule    // what the route says itself; zero values are not said
	ownCache Caching // the same; the source knows what is said
	ownRate  Rate    // likewise
}

// Match is a condition on a request. Both parts must hold.
type Match struct {
	Hosts []HostPattern // one of them; never empty

	// PathPrefix is a prefix of the decoded path, on segment borders: /api
	// matches /api and /api/x, not /apix; /api/ matches /api/x, not /api. It
	// begins with "/".
	PathPrefix string
}

// HostPattern matches the host of a request.
type HostPattern struct {
	Host       string // lower case, no trailing dot, IPv6 in brackets; "" is any host
	Subdomains bool   // one or more labels before Host are wanted: *.example.com
	Port       int    // 0 is any
}

// covers reports whether m matches every request that o matches.
func (m Match) covers(o Match) bool {
	for _, want := range o.Hosts {
		found := false
		for _, have := range m.Hosts {
			found = found || have.covers(want)
		}
		if !found {
			return false
		}
	}
	return prefixCovers(m.PathPrefix, o.PathPrefix)
}

func prefixCovers(have, want string) bool {
	return have == want || strings.HasPrefix(want, strings.TrimSuffix(have, "/")+"/")
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
