package rfc9111

import (
	"iter"

	"edgeproxy/internal/http/field"
)

// HopByHop reports whether the field of this canonical name is hop-by-hop in every
// message. Such a field is neither stored nor forwarded, in either direction.
//
// These are the fields of RFC 9110 section 7.6.1, and those between one proxy and its
// next client (RFC 9111 section 3.1). Trailer is among them: it announces trailers in
// the framing of this one message, and a proxy that frames the message anew writes its
// own. HTTP2-Settings has no meaning without Upgrade: h2c (RFC 7540 section 3.2.1).
func HopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings",
		"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization":
		return true
	}
	return false
}

// ConnectionOptions yields the names of the fields that a Connection line makes
// hop-by-hop (RFC 9110 section 7.6.1), as written; they share the bytes of value.
//
// It leaves out "close" and "keep-alive", which name no field, and members that are
// no field name. It also leaves out fields meant for all recipients, which a sender
// must not list: without Host or Content-Length the message would have another
// meaning, and without Cache-Control or Vary a private response would look shared
// to the next cache.
//
// The caller must remove the fields from a request before it makes the variant key.
// Otherwise a client could store, under one variant's key, the answer to a request
// without the field.
func ConnectionOptions[T string | []byte](value T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for list := value; len(list) > 0; {
			var option T
			option, list = cutMember(list)
			if field.ValidName(option) && removable(option) && !yield(option) {
				return
			}
		}
	}
}

// removable reports whether a message keeps its meaning without the field. Only
// such a field may be named by Connection, or by private="…" and no-cache="…".
func removable[T text](name T) bool {
	for _, kept := range [...]string{
		"close", "keep-alive", // options of the connection; HopByHop has Keep-Alive in any case
		"host", "content-length", "content-type", "content-encoding", "content-range", // what the message is
		"cache-control", "cdn-cache-control", "surrogate-control", "expires", "date", "age", "vary", "etag", "last-modified", // its use by caches
		"via", "cdn-loop", "max-forwards", // its path through proxies
	} {
		if equalFold(name, kept) {
			return false
		}
	}
	return true
}

// EndToEnd returns the fields of h that may be stored and forwarded: all but those
// of HopByHop and those that its Connection lines name. The result is a new list,
// in order, that shares the strings of h.
func EndToEnd(h field.List) field.List {
	return AppendEndToEnd(make(field.List, 0, len(h)), h, func(string) bool { return false })
}

// AppendEndToEnd appends to out what EndToEnd returns for h, without the fields for which
// drop returns true.
func AppendEndToEnd(out, h field.List, drop func(name string) bool) field.List {
	named := named(h)
	for i := range h {
		name := h[i].Name
		if _, ok := named[name]; !ok && !HopByHop(name) && !drop(name) {
			out = append(out, h[i])
		}
	}
	return out
}

// named returns the canonical names of the fields that h's Connection lines make
// hop-by-hop; nil if there are none.
func named(h field.List) (named map[string]struct{}) {
	for i := range h {
		if h[i].Name != "Connection" {
			continue
		}
		for option := range ConnectionOptions(h[i].Value) {
			if named == nil {
				named = make(map[string]struct{})
			}
			named[field.Canonical(option)] = struct{}{}
		}
	}
	return named
}
