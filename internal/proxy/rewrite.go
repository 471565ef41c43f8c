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
		return false // it would name a host to whoever makes a URL of it
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
func (w *Rewrite) comeBack(request *origin.Request, resp *origin.Response) {
	if w == nil || !w.Locations {
		return
	}
	for i := range resp.Header {
		switch f := &resp.Header[i]; f.Name {
		case "Location", "Content-Location":
			client, _ := request.Header.Get("X-Forwarded-Host")
			f.Value = w.location(f.Value, client, request.Host)
		}
	}
}

// location returns a reference in an answer as clients have it. client is the host that they ask, asked the
// one that the origin was sent. What does not lie below Add stays as it is, and so does a reference that is
// relative to the path: it leads clients to the same place. One with a tab does as well: browsers take it out, and
// what is left may name a host.
func (w *Rewrite) location(reference, client, asked string) string {
	if strings.IndexByte(reference, '\t') >= 0 {
		return reference
	}
	if strings.HasPrefix(reference, "/") && !strings.HasPrefix(reference, "//") {
		return w.outside(reference, reference)
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
		if out := w.outside(path, ""); out != "" {
			return front + out
		}
	case usual == asked, slices.Contains(w.Hosts, usual):
		return w.outside(path, reference)
	}
	return reference
}

// outside returns a path of the origin, with what follows it, as clients have it; other where it is none of
// them, or would be a host there.
func (w *Rewrite) outside(path, other string) string {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	rest, ok := strings.CutPrefix(path, w.Add)
	switch {
	case !ok, rest != "" && strings.IndexByte("/?#", rest[0]) < 0:
		return other
	case w.Strip == "" && strings.HasPrefix(strings.ReplaceAll(rest, `\`, "/"), "//"):
		return other
	case w.Strip == "" && (rest == "" || rest[0] != '/'):
		return "/" + rest
	}
	return w.Strip + rest
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
