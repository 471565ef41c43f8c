package routing

import (
	"cmp"
	"slices"
)

// Match is what a route wants of its requests. All of Hosts, Scheme, Paths, PathPrefixes,
// PathSuffixes, Methods, Query and Fields have to hold; of a list but the last two, one does.
type Match struct {
	Hosts []Host
	// Scheme is what the client has used, as far as trusted proxies tell it.
	Scheme Scheme
	// Paths are decoded paths, none is any.
	Paths []string
	// PathPrefixes match whole segments: /api matches /api and /api/x, not /apix. None matches nothing.
	PathPrefixes []string
	// PathSuffixes are how the decoded path ends: .jpg matches /a.jpg. None is any.
	PathSuffixes []string
	// Methods are those it is for, none is all. GET is HEAD as well.
	Methods []string
	// Query are conditions on parameters of the query, Fields those on fields of the head. All of them
	// have to hold. The names of Query are decoded and not empty, those of Fields canonical once requests are matched. The
	// value of a field is that of its lines joined, without spaces around it.
	Query, Fields []ValueMatch
}

// Scheme is a scheme of requests, or any.
type Scheme string

// The schemes.
const (
	AnyScheme   Scheme = ""
	SchemeHTTP  Scheme = "http"
	SchemeHTTPS Scheme = "https"
)

// String returns the word of s in the configuration.
func (s Scheme) String() string { return cmp.Or(string(s), "any") }

// TakesURL reports whether m is for requests for host (canonical, with its port if that is not
// the default of scheme) and path (decoded), as far as these say.
func (m *Match) TakesURL(scheme string, host, path []byte) bool {
	return m.TakesSite(scheme, host) && m.TakesPath(path)
}

// TakesSite reports whether m is for requests for this host by this scheme, as far as these say.
func (m *Match) TakesSite(scheme string, host []byte) bool {
	return (m.Scheme == AnyScheme || string(m.Scheme) == scheme) && m.takesHost(scheme, host)
}

// TakesMethod reports whether m is for this method, which is not HEAD.
func (m *Match) TakesMethod(method []byte) bool {
	return len(m.Methods) == 0 || slices.Contains(m.Methods, string(method))
}
