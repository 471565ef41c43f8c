package rfc9111

import (
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
)

// InTrailers reports whether a field of this canonical name is forwarded if it comes in
// a trailer section. Fields are not that must be known before the content, or that are
// for framing, routing, authentication or caching (RFC 9110 section 6.5.1): a recipient
// that merged one into the header would see another message than this proxy did. A name
// with underscores counts as the one with hyphens, since some servers read it so.
//
// Of the fields that describe the content, Content-Digest (RFC 9530 section 2) and
// ETag (RFC 9110 section 8.8.3) are meant for trailers and are forwarded.
func InTrailers(name string) bool {
	if strings.IndexByte(name, '_') >= 0 {
		name = field.Canonical(strings.ReplaceAll(name, "_", "-"))
	}
	if HopByHop(name) {
		return false
	}
	switch name {
	case "Content-Digest":
		return true
	case "Host", "Via", "Forwarded", "Origin", "Referer", "User-Agent", "Server", // routing and path
		"Authorization", "Authentication-Info", "Cookie", "Set-Cookie", "Set-Cookie2", "Www-Authenticate", // authentication
		"Accept", "Expect", "Max-Forwards", "Pragma", "Range", "Priority", "Prefer", // request modifiers
		"Age", "Date", "Expires", "Last-Modified", "Location", "Refresh", "Retry-After", "Vary", "No-Vary-Search", "Warning", // response controls
		"Alt-Svc", "Clear-Site-Data", "Strict-Transport-Security": // what a client keeps
		return false
	}
	return !slices.ContainsFunc(headerOnlyPrefixes[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// headerOnlyPrefixes are prefixes of the names of fields that are not forwarded in trailers.
var headerOnlyPrefixes = [...]string{
	"Accept-", "Access-Control-", "Cache-", "Cdn-", "Content-", "If-", "Proxy-", "Sec-", "Surrogate-", "X-Forwarded", "X-Real-Ip",
}

// Trailers returns the fields of a trailer section that are forwarded: those of
// InTrailers that Connection in the head of the message does not name (RFC 9110 section
// 7.6.1). It is a new list, in order; nil if section is empty.
func Trailers(head, section field.List) field.List {
	if len(section) == 0 {
		return nil
	}
	named := named(head)
	return section.Without(func(name string) bool {
		_, ok := named[name]
		return ok || !InTrailers(name)
	})
}

// Announced returns the value of Trailer for the forwarded message: the names that
// the Trailer lines of head announce and Trailers would forward, each once; "" if
// there are none.
func Announced(head field.List) string {
	var names []string
	named := named(head)
	for i := range head {
		if head[i].Name != "Trailer" {
			continue
		}
		for part := range strings.SplitSeq(head[i].Value, ",") {
			name := field.Canonical(strings.Trim(part, " \t"))
			if _, ok := named[name]; !ok && field.ValidName(name) && InTrailers(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// TakesTrailers reports whether a TE line has "trailers": the sender accepts
// trailers (RFC 9110 section 10.1.4).
func TakesTrailers[T text](te T) bool {
	for list := te; len(list) > 0; {
		var member T
		member, list = cutMember(list)
		if equalFold(member, "trailers") {
			return true
		}
	}
	return false
}
