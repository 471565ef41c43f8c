package rfc9111

import (
	"iter"

	"edgeproxy/internal/field"
)

// HopByHop reports whether a field of this canonical name ends at every hop, so
// that it is neither stored nor forwarded, in either direction.
//
// These are the fields of RFC 9110 section 7.6.1, and those that belong to one
// proxy and its next client (RFC 9111 section 3.1). Trailer is among them: it
// announces the trailer section of this message's own framing. A proxy that
// frames the message anew announces its own. HTTP2-Settings goes with Upgrade: h2c and
// without it means nothing (RFC 7540 section 3.2.1).
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
// Left out are "close" and "keep-alive", which name no field to look for, what is
// no field name, and fields meant for all recipients, which a sender must not
// list: without Host or Content-Length a message would be another one, and
// without Cache-Control or Vary a private response would look shared to the next
// cache.
//
// Remove the fields from a request before its variant key is made. Otherwise a
// client can have one variant's key filled with the answer to a request that
// came without the field.
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

// removable reports whether a message can do without the field, so that
// Connection, or private="…" and no-cache="…", may name it.
func removable[T text](name T) bool {
	for _, kept := range [...]string{
		"close", "keep-alive", // options of the connection; Keep-Alive goes in any case
		"host", "content-length", "content-type", "content-encoding", "content-range", // what the message is
		"cache-control", "cdn-cache-control", "surrogate-control", "expires", "date", "age", "vary", "etag", "last-modified", // how it may be reused
		"via", "cdn-loop", "max-forwards", // where it has been
	} {
		if equalFold(name, kept) {
			return false
		}
	}
	return true
}

// EndToEnd returns the fields of a head that may be stored and
// forwarded: all but those of HopByHop and those its Connection lines name. The
// result is a new list, in order, that shares the strings of h.
func EndToEnd(h field.List) field.List {
	return AppendEndToEnd(make(field.List, 0, len(h)), h, func(string) bool { return false })
}

// AppendEndToEnd appends to out what EndToEnd returns for h, without the fields that drop names.
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
