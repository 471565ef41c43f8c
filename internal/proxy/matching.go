package proxy

import (
	"bytes"
	"slices"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/wire"
)

// This file finds the route of a request among those in force: the first whose routing.Match holds.
//
// Scheme, host and target are in every key. So routes that differ in host, path and query alone never
// share a stored response, as long as the rules for keys leave what a route goes by in the target. Fields
// are not in the key. A route that goes by what its key does not have has its name there (newRoute).

// routeFor returns the first route that takes x, nil if none does. It allocates nothing once x.folded
// has room.
func (x *exchange) routeFor(method []byte) *route { return x.routeAt(x.path, method) }

// routeAt is routeFor, were path the one that x asks for.
func (x *exchange) routeAt(path, method []byte) *route {
	for _, r := range x.settings.routes {
		if r.TakesPath(path) && r.takesBesidePath(x, method) {
			return r
		}
	}
	return nil
}

// takesBesidePath reports whether r takes x, as far as all but the path says.
func (r *route) takesBesidePath(x *exchange, method []byte) bool {
	if string(method) == "HEAD" {
		method = []byte("GET")
	}
	return r.TakesSite(x.scheme, x.host) && r.TakesMethod(method) && (len(r.Query) == 0 || r.TakesQuery(x.target.Query(), &x.folded)) && r.TakesFields(x)
}

// routeMethod is the method by which x finds its route. A PURGE is for what GETs have stored.
func (x *exchange) routeMethod() []byte {
	if x.purges() {
		return []byte("GET")
	}
	return x.method
}

// routesOf returns those of all routes that a GET for target at host may have, in their order. Which of
// them it has is for its fields to say.
func routesOf(all []*route, scheme string, host []byte, target wire.Target) (out []*route) {
	var room []byte
	for _, r := range routesOfPath(all, scheme, host, target) {
		if !r.TakesQuery(target.Query(), &room) {
			continue
		}
		if out = append(out, r); len(r.Fields) == 0 {
			break
		}
	}
	return out
}

// routesOfPath is routesOf for the path of target, whatever the query.
func routesOfPath(all []*route, scheme string, host []byte, target wire.Target) (out []*route) {
	path := wire.AppendPath(nil, target.Path)
	for _, r := range all {
		if !r.TakesURL(scheme, host, path) || !r.TakesMethod([]byte("GET")) {
			continue
		}
		if out = append(out, r); len(r.Fields)+len(r.Query) == 0 {
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

// imitates reports whether an origin may take the field of this canonical name for one by which some route
// goes: also on a route that goes by none, which has the URL where the field itself is not there.
func (r *route) imitates(name string) bool {
	if len(r.selecting) == 0 || slices.Contains(r.selecting, name) {
		return false
	}
	name = field.Hyphenated(name)
	return slices.ContainsFunc(r.selecting, func(s string) bool { return field.Hyphenated(s) == name })
}

// FieldValue implements routing.Fields. It returns the value that routes compare: that of all lines of a field that would be
// forwarded, in one (RFC 9110 section 5.3; RFC 9113 section 8.2.3 for Cookie). No route is known yet, so no rules of one
// have a say. The value is valid until the next call.
func (x *exchange) FieldValue(name string) (value []byte, ok bool) {
	lines := x.clientLines(name)
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
