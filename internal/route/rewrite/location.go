package rewrite

import (
	"slices"
	"strings"
)

// Location returns a reference in an answer (RFC 9110 sections 8.7 and 10.2.2) as clients have it. client is the
// host that they ask, asked the one that the origin was sent. leadsBack reports whether clients find at the URL out
// what the origin has at path; nil is that they always do.
//
// What does not lie below Add stays as it is, as does what would not lead back, and a reference that is relative to the
// path: it leads clients to the same place. One with a tab does as well: browsers take it out, and what is left may
// name a host.
func (w *Rule) Location(reference, client, asked string, leadsBack func(out, path string) bool) string {
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
func (w *Rule) outside(path, other string, leadsBack func(out, path string) bool) string {
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
