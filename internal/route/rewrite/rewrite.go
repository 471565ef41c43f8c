package rewrite

import (
	"bytes"
	"strings"

	"edgeproxy/internal/http/wire"
)

// Rule replaces a prefix of the path in requests to the origin. It is immutable, and safe for concurrent use; nil
// changes nothing.
type Rule struct {
	// Strip is the prefix that is taken away: "", or whole segments as they stand in normal forms of targets, without % and
	// without a slash at the end. All paths of the route begin with it.
	Strip string
	// Add is the prefix that is put in its place, of the same form.
	Add string
	// Locations has Location and Content-Location say where clients find what the origin names.
	Locations bool
	// Hosts are those by which the origin may call itself, beside what it is sent as Host: in
	// lower case, without the default port.
	Hosts []string
}

// Options are what an operator chooses of a Rule. A slash at the end of a prefix does not matter.
type Options struct {
	StripPrefix string // the beginning of the path to remove; "" is none
	AddPrefix   string // the prefix in its place; "" is none
	Locations   bool   // Location and Content-Location are rewritten the other way
}

// Changes reports whether o changes the path for the origin.
func (o Options) Changes() bool { return o.StripPrefix+o.AddPrefix != "" }

// New returns the Rule of o, for an origin that may call itself by hosts, which the Rule keeps.
func New(o Options, hosts []string) *Rule {
	return &Rule{Strip: strings.TrimRight(o.StripPrefix, "/"), Add: strings.TrimRight(o.AddPrefix, "/"), Locations: o.Locations, Hosts: hosts}
}

// Takes reports whether target, whose decoded path is path, can be rewritten so that the origin reads the same path below
// Add: its normal form begins with the bytes of Strip, and no dot segment leads out of Add, or back through Strip. Segments of dots that path still has
// have parameters, or stand beside a backslash: some origins take the parameters away, or take the backslash for a slash, before they
// resolve the path. What is not taken could be read in two ways, and must not be asked for.
func (w *Rule) Takes(target wire.Target, path []byte) bool {
	if string(target.Normal) == "*" {
		return true
	}
	n := len(w.Strip)
	if len(target.Path) < n || string(target.Path[:n]) != w.Strip || len(target.Path) > n && target.Path[n] != '/' {
		return false
	}
	if wire.HasDotSegment(path) {
		return false
	}
	if !target.Ambiguous {
		return true
	}
	if w.Add == "" && w.Strip != "" && bytes.HasPrefix(target.Path[n:], []byte("//")) {
		return false // an origin that makes a URL of it would read a host
	}
	rest, ok := bytes.CutPrefix(path, []byte(w.Strip))
	if !ok {
		return false
	}
	want := append([]byte(w.Add), rest...)
	return bytes.Equal(wire.AppendPath(nil, w.Append(nil, target.Path)), want)
}

// Append appends what the origin is asked for in place of target, the normal form of what Takes has let through, with or
// without a query. It allocates nothing when dst has room.
func (w *Rule) Append(dst, target []byte) []byte {
	if string(target) == "*" {
		return append(dst, target...)
	}
	rest := target[len(w.Strip):]
	if dst = append(dst, w.Add...); w.Add == "" && (len(rest) == 0 || rest[0] == '?') {
		dst = append(dst, '/')
	}
	return append(dst, rest...)
}

// AtOrigin is Append for a path as text: "" if the origin has nothing in its place, and path itself if w is nil.
func (w *Rule) AtOrigin(path string) string {
	if w == nil {
		return path
	}
	if rest, ok := strings.CutPrefix(path, w.Strip); !ok || rest != "" && rest[0] != '/' {
		return ""
	}
	return string(w.Append(nil, []byte(path)))
}
