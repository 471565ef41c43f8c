package rfc9111

import (
	"slices"
	"strings"

	"edgeproxy/internal/field"
)

// InTrailers reports whether a field of this canonical name goes on where it comes in a
// trailer section. Those do not that have to be known before the content, or that say
// whose the message is, where it ends and who may keep it (RFC 9110 section 6.5.1): a
// recipient that took one for a field of the header would have another message than
// the one that was looked at. A name with underscores counts as the one with hyphens,
// as which some servers read it.
//
// Of those that describe the content, the digest of it is made for trailers (RFC 9530
// section 2); so is ETag, which is not in the list (RFC 9110 section 8.8.3).
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
	case "Host", "Via", "Forwarded", "Origin", "Referer", "User-Agent", "Server", // whose it is, and its way
		"Authorization", "Authentication-Info", "Cookie", "Set-Cookie", "Set-Cookie2", "Www-Authenticate", // authentication
		"Accept", "Expect", "Max-Forwards", "Pragma", "Range", "Priority", "Prefer", // request modifiers
		"Age", "Date", "Expires", "Last-Modified", "Location", "Refresh", "Retry-After", "Vary", "No-Vary-Search", "Warning", // response controls
		"Alt-Svc", "Clear-Site-Data", "Strict-Transport-Security": // what a client keeps
		return false
	}
	return !slices.ContainsFunc(familiesOfTheHead[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// familiesOfTheHead begin the names of fields that do not go on in trailers.
var familiesOfTheHead = [...]string{
	"Accept-", "Access-Control-", "Cache-", "Cdn-", "Content-", "If-", "Proxy-", "Sec-", "Surrogate-", "X-Forwarded", "X-Real-Ip",
}

// Trailers returns the fields of a trailer section that go on: those of InTrailers that
// Connection in the head of the message does not name (RFC 9110 section 7.6.1). It is a
// new list, in order; nil if there are none.
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

// Announced returns the names that the Trailer lines of head announce and Trailers
// would let through, each once, as they are announced anew; "" if there are none.
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

// TakesTrailers reports whether a TE line says that trailers are welcome (RFC 9110
// section 10.1.4).
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
