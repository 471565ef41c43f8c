package proxy

import (
	"bytes"
	"slices"
	"strings"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/reason"
	"edgeproxy/internal/wire"
)

// This file puts a route elsewhere at its origin. Clients ask for /api/x, and the origin is asked for
// /v2/x. Keys, purges, logs and rules have the URL of the client; what the origin is asked for follows
// from it, so nothing else needs a key. Only the request that goes to the origin has the other path, and
// a Location that comes back has that of the client again, before anything is made of it.

// Rewrite says which begin of the path the origin has in place of the client's. It is immutable; nil is none.
type Rewrite struct {
	// Strip is the begin of the path that the origin does not have: "", or whole segments as they stand
	// in targets, without % and without a slash at the end. All paths of the route begin with it.
	Strip string
	// Add is what it has there instead, of the same form.
	Add string
	// Locations has Location and Content-Location say where clients find what the origin names.
	Locations bool
	// Hosts are those by which the origin may call itself, beside what it is sent as Host: in
	// lower case, without the default port.
	Hosts []string
}

// NewRewrite returns a Rewrite from strip to add. A slash at the end of either does not matter.
func NewRewrite(strip, add string, locations bool, hosts []string) *Rewrite {
	return &Rewrite{Strip: strings.TrimRight(strip, "/"), Add: strings.TrimRight(add, "/"), Locations: locations, Hosts: hosts}
}

// rewritable refuses x if its target cannot be rewritten in one way only.
func (p *Proxy) rewritable(x *exchange) bool {
	if x.route.Rewrite == nil || x.route.Rewrite.takes(x.target, x.path) {
		return true
	}
	p.refuse(x, statusNotFound, reason.AmbiguousPath)
	return false
}

// takes reports whether an origin reads the rewritten target as what target means here, which is path: the
// bytes are those of Strip, and no dot segment leads out of Add, or back through Strip. A segment of dots with
// parameters is one, too: some origins take the parameters away before they resolve the path.
func (w *Rewrite) takes(target wire.Target, path []byte) bool {
	if string(target.Raw) == "*" {
		return true
	}
	n := len(w.Strip)
	if len(target.Path) < n || string(target.Path[:n]) != w.Strip || len(target.Path) > n && target.Path[n] != '/' {
		return false
	}
	if dotsWithParameters(path) {
		return false
	}
	if !target.Ambiguous {
		return true
	}
	if w.Add == "" && w.Strip != "" && bytes.HasPrefix(target.Path[n:], []byte("//")) {
		return false // an origin that makes a URL of it would read a host
	}
	want := append([]byte(w.Add), path[n:]...)
	return bytes.Equal(wire.AppendPath(nil, w.append(nil, target.Path)), want)
}

// dotsWithParameters reports whether a segment of path, which is decoded, is . or .. but for what follows a semicolon.
func dotsWithParameters(path []byte) bool {
	for rest := path; ; {
		at := bytes.IndexByte(rest, ';')
		if at < 0 {
			return false
		}
		switch segment := rest[bytes.LastIndexByte(rest[:at], '/')+1 : at]; string(segment) {
		case ".", "..":
			return true
		}
		if rest = rest[at:]; bytes.IndexByte(rest, '/') < 0 {
			return false
		}
		rest = rest[bytes.IndexByte(rest, '/'):]
	}
}

// append appends what the origin is asked for in place of target, which takes has let through, with or
// without a query. It allocates nothing when dst has room.
func (w *Rewrite) append(dst, target []byte) []byte {
	if string(target) == "*" {
		return append(dst, target...)
	}
	rest := target[len(w.Strip):]
	if dst = append(dst, w.Add...); w.Add == "" && (len(rest) == 0 || rest[0] == '?') {
		dst = append(dst, '/')
	}
	return append(dst, rest...)
}

// atOrigin returns what the origin is asked for in place of target.
func (x *exchange) atOrigin(target []byte) []byte {
	w := x.route.Rewrite
	if w == nil {
		return target
	}
	n := len(x.scratch)
	x.scratch = w.append(x.scratch, target)
	return x.scratch[n:]
}

// comeBack has the URLs in an answer to request be those of clients.
func (r *route) comeBack(request *origin.Request, resp *origin.Response) {
	w := r.Rewrite
	if w == nil || !w.Locations {
		return
	}
	for i := range resp.Header {
		switch f := &resp.Header[i]; f.Name {
		case "Location", "Content-Location":
			scheme, _ := request.Header.Get("X-Forwarded-Proto")
			client, _ := request.Header.Get("X-Forwarded-Host")
			f.Value = w.location(f.Value, client, request.Host, func(out, path string) bool { return r.leadsBack(scheme, client, out, path) })
		}
	}
}

// leadsBack reports whether out is where clients find what the origin of r calls path: below the path of r and with its query, or on another route that asks
// the same origin for path. A route with Add alone, and one that is for a part of what lies below Strip, could else
// send clients to what another origin has there.
func (r *route) leadsBack(scheme, host, out, path string) bool {
	raw, _, _ := strings.Cut(out, "#")
	out, path = beforeQuery(out), beforeQuery(path)
	target := wire.Target{Raw: []byte(raw), Path: []byte(out)}
	if r.TakesPath(wire.AppendPath(nil, target.Path)) && r.TakesQuery(target.Query(), new([]byte)) {
		return true
	}
	return slices.ContainsFunc(routesOf(r.all, scheme, []byte(host), target), func(other *route) bool {
		return other.Origin == r.Origin && strings.TrimRight(other.Rewrite.atOrigin(out), "/") == strings.TrimRight(path, "/")
	})
}

// beforeQuery returns the path that a reference begins with.
func beforeQuery(reference string) string {
	if end := strings.IndexAny(reference, "?#"); end >= 0 {
		return reference[:end]
	}
	return reference
}

// atOrigin returns what the origin is asked for in place of path, "" if that is nothing.
func (w *Rewrite) atOrigin(path string) string {
	switch {
	case w == nil:
		return path
	case !strings.HasPrefix(path, w.Strip):
		return ""
	}
	return string(w.append(nil, []byte(path)))
}

// location returns a reference in an answer as clients have it. client is the host that they ask, asked the
// one that the origin was sent. What does not lie below Add stays as it is, as does what would not lead back (nil: all does), and a reference
// that is relative to the path: it leads clients to the same place. One with a tab does as well: browsers take it out, and
// what is left may name a host.
func (w *Rewrite) location(reference, client, asked string, leadsBack func(out, path string) bool) string {
	if strings.IndexByte(reference, '\t') >= 0 {
		return reference
	}
	if strings.HasPrefix(reference, "/") && !strings.HasPrefix(reference, "//") {
		return w.outside(reference, reference, leadsBack)
	}
	scheme, behind, ok := strings.Cut(reference, "//")
	if lower := strings.ToLower(scheme); !ok || lower != "" && lower != "http:" && lower != "https:" {
		return reference
	}
	host, path := behind, ""
	if end := strings.IndexAny(behind, "/?#"); end >= 0 {
		host, path = behind[:end], behind[end:]
	}
	switch usual := usualHost(scheme, host); {
	case usual == client:
		front := reference[:len(reference)-len(path)]
		if out := w.outside(path, "", leadsBack); out != "" {
			return front + out
		}
	case usual == asked, slices.Contains(w.Hosts, usual):
		return w.outside(path, reference, leadsBack)
	}
	return reference
}

// outside returns a path of the origin, with what follows it, as clients have it; other where it is none of
// them, or would be a host there.
func (w *Rewrite) outside(path, other string, leadsBack func(out, path string) bool) string {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	rest, ok := strings.CutPrefix(path, w.Add)
	switch {
	case !ok, rest != "" && strings.IndexByte("/?#", rest[0]) < 0:
		return other
	case w.Strip == "" && strings.HasPrefix(strings.ReplaceAll(rest, `\`, "/"), "//"):
		return other
	}
	out := w.Strip + rest
	if w.Strip == "" && (rest == "" || rest[0] != '/') {
		out = "/" + rest
	}
	if leadsBack != nil && !leadsBack(out, path) {
		return other
	}
	return out
}

// usualHost returns a host in lower case and without the default port.
func usualHost(scheme, host string) string {
	host = strings.ToLower(host)
	switch strings.ToLower(scheme) {
	case "http:":
		return strings.TrimSuffix(host, ":80")
	case "https:":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}
