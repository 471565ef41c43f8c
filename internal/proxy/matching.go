package proxy

import (
	"bytes"
	"slices"

	"edgeproxy/internal/field"
)

// This file finds the route of a request. All that a route names has to hold, and the first route
// of which that is so gets the request. HEAD counts as GET, whose answer it asks about.
//
// Scheme, host and target are in every key. So routes that differ in host and path alone never
// share a stored response. Fields are not in the key: a route that goes by them has its name in
// its keys (newRoute).

// FieldMatch is a condition on a field of requests: its value, several lines joined, is Value.
type FieldMatch struct {
	// Name is canonical; KeyableHeader reports it.
	Name string
	// Value is compared byte for byte, without spaces around it.
	Value []byte
	// AnyBefore and AnyBehind let anything stand before and behind Value. With both and an empty
	// Value the field only has to be there.
	AnyBefore, AnyBehind bool
}

func (m *FieldMatch) holds(value []byte) bool {
	switch {
	case m.AnyBefore && m.AnyBehind:
		return bytes.Contains(value, m.Value)
	case m.AnyBefore:
		return bytes.HasSuffix(value, m.Value)
	case m.AnyBehind:
		return bytes.HasPrefix(value, m.Value)
	}
	return bytes.Equal(value, m.Value)
}

// routeFor returns the first route that takes x, nil if none does. It allocates nothing once x.folded
// has room.
func (x *exchange) routeFor(method []byte) *route {
	if string(method) == "HEAD" {
		method = []byte("GET")
	}
	for _, r := range x.settings.routes {
		if r.matches(x.scheme, x.host, x.path) && r.takesMethod(method) && r.takesFields(x) {
			return r
		}
	}
	return nil
}

// routeMethod is the method by which x finds its route. A PURGE is for what GETs have stored.
func (x *exchange) routeMethod() []byte {
	if x.purges() {
		return []byte("GET")
	}
	return x.method
}

// routesOf returns the routes that a GET for this URL may have, in their order. Which of them it has
// is for its fields to say.
func (s *settings) routesOf(scheme string, host, path []byte) (out []*route) {
	return routesOf(s.routes, scheme, host, path)
}

func routesOf(all []*route, scheme string, host, path []byte) (out []*route) {
	for _, r := range all {
		if !r.matches(scheme, host, path) || !r.takesMethod([]byte("GET")) {
			continue
		}
		if out = append(out, r); len(r.Fields) == 0 {
			break
		}
	}
	return out
}

// fieldsOfRoutes returns the names of the fields by which any route goes.
func fieldsOfRoutes(routes []Route) (names []string) {
	for i := range routes {
		for _, m := range routes[i].Fields {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// goesBy reports whether the route goes by the field of this canonical name.
func (r *route) goesBy(name string) bool {
	return slices.ContainsFunc(r.Fields, func(m FieldMatch) bool { return m.Name == name })
}

// imitates reports whether an origin may take the field of this canonical name for one by which some route
// goes: also on a route that goes by none, which has the URL where the field itself is not there.
func (r *route) imitates(name string) bool {
	if len(r.selecting) == 0 || slices.Contains(r.selecting, name) {
		return false
	}
	name = field.Hyphenated(name)
	return slices.ContainsFunc(r.selecting, func(s string) bool { return field.Hyphenated(s) == name })
}

// takesMethod reports whether the route is for this method, which is not HEAD.
func (r *route) takesMethod(method []byte) bool {
	return len(r.Methods) == 0 || slices.Contains(r.Methods, string(method))
}

// takesFields reports whether the fields of x are those that the route is for.
func (r *route) takesFields(x *exchange) bool {
	for i := range r.Fields {
		m := &r.Fields[i]
		value, ok := x.matchable(m.Name)
		if !ok || !m.holds(value) {
			return false
		}
	}
	return true
}

// matchable returns the value that routes compare: that of all lines of a field that would be
// forwarded, in one (RFC 9110 section 5.3; RFC 9113 section 8.2.3 for Cookie). No route is known yet, so no rules of one
// have a say. The value is valid until the next call.
func (x *exchange) matchable(name string) (value []byte, ok bool) {
	lines := x.asked(name)
	if len(lines) == 0 {
		return nil, false
	}
	if len(lines) == 1 {
		return bytes.Trim(lines[0], " \t"), true
	}
	between := ", "
	if name == "Cookie" {
		between = "; "
	}
	x.folded = x.folded[:0]
	for i, line := range lines {
		if i > 0 {
			x.folded = append(x.folded, between...)
		}
		x.folded = append(x.folded, bytes.Trim(line, " \t")...)
	}
	return x.folded, true
}

// matches reports whether the route takes a request for host (canonical, with
// its port if that is not the default of scheme) and path (decoded), as far as these say.
func (r *route) matches(scheme string, host, path []byte) bool {
	return (r.Scheme == "" || r.Scheme == scheme) && r.matchesHost(scheme, host) && r.matchesPath(path)
}

func (r *route) matchesHost(scheme string, host []byte) bool {
	name, port := splitPort(scheme, host)
	for i := range r.Hosts {
		if r.Hosts[i].matches(name, port) {
			return true
		}
	}
	return false
}

func (h *Host) matches(name []byte, port int) bool {
	switch {
	case h.Port != 0 && h.Port != port:
		return false
	case h.Name == "":
		return true
	case !h.Subdomains:
		return string(name) == h.Name
	}
	dot := len(name) - len(h.Name) - 1
	return dot > 0 && name[dot] == '.' && string(name[dot+1:]) == h.Name
}

// splitPort takes a canonical host apart.
func splitPort(scheme string, host []byte) (name []byte, port int) {
	i := bytes.LastIndexByte(host, ':')
	if i < 0 || bytes.IndexByte(host[i:], ']') >= 0 {
		return host, defaultPort(scheme)
	}
	for _, c := range host[i+1:] {
		port = port*10 + int(c-'0')
	}
	return host[:i], port
}

func (r *route) matchesPath(path []byte) bool {
	return (len(r.Paths) == 0 || isAnyOf(path, r.Paths)) && (len(r.PathSuffixes) == 0 || endsInAny(path, r.PathSuffixes)) && beginsWithAny(path, r.PathPrefixes)
}

func isAnyOf(path []byte, all []string) bool {
	return slices.ContainsFunc(all, func(p string) bool { return string(path) == p }) // Contains would copy path
}

func endsInAny(path []byte, suffixes []string) bool {
	for _, s := range suffixes {
		if len(path) >= len(s) && string(path[len(path)-len(s):]) == s {
			return true
		}
	}
	return false
}

func beginsWithAny(path []byte, prefixes []string) bool {
	for _, p := range prefixes {
		if beginsWith(path, p) {
			return true
		}
	}
	return false
}

// beginsWith reports whether path has these whole segments, prefix, first.
func beginsWith(path []byte, prefix string) bool {
	if len(path) < len(prefix) || string(path[:len(prefix)]) != prefix {
		// "OPTIONS *" asks about the server as a whole.
		return prefix == "/" && string(path) == "*"
	}
	return len(path) == len(prefix) || prefix[len(prefix)-1] == '/' || path[len(prefix)] == '/'
}
