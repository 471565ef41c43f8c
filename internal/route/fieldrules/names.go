package fieldrules

import (
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// Keyable reports whether the request field of this canonical name reaches origins as the client sent it, so that a rule may
// select by it.
func Keyable(name string) bool {
	return !WrittenByProxy(name) && !rfc9111.HopByHop(name) && !RangeOrCondition(name) && name != "If-Match" && name != "If-Unmodified-Since"
}

// WrittenByProxy names the request fields that origins get from the proxy, not from the client, and those that an origin may take
// for one. A response that varies on one cannot be selected by a later request.
func WrittenByProxy(name string) bool {
	name = field.Hyphenated(name)
	return AboutClient(name) || Framing(name)
}

// Framing names what is the proxy's alone to say to the origin. name is hyphenated.
func Framing(name string) bool {
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Expect", "Via", "Cdn-Loop":
		return true
	}
	return false
}

// AboutClient names the fields in which the proxy says whom a request is from, and what it was for. name is hyphenated.
func AboutClient(name string) bool {
	switch name {
	case "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto":
		return true
	}
	return false
}

// RangeOrCondition names the request fields that are evaluated on a response that may be stored or shared, so that they may not
// reach the origin then. If-Match and If-Unmodified-Since are not among them: only the origin may evaluate these. name is canonical.
func RangeOrCondition(name string) bool {
	switch name {
	case "Range", "If-Range", "If-None-Match", "If-Modified-Since":
		return true
	}
	return false
}

// AboutLifetime reports whether a field says for how long an answer may be kept. name is canonical.
func AboutLifetime(name string) bool {
	switch name {
	case "Expires", "Pragma", "Surrogate-Control":
		return true
	}
	return strings.HasSuffix(name, "Cache-Control")
}

// AboutContent reports whether a field is about one representation, or says how it is purged. name is canonical.
func AboutContent(name string) bool {
	switch name {
	case "Content-Type", "Content-Language", "Content-Location", "Content-Disposition", "Content-Digest", "Content-Md5", "Repr-Digest", "Digest",
		"Etag", "Last-Modified", "Accept-Ranges", "Surrogate-Key", "Cache-Tag", "Cache-Tags", "Purge-Cache-Tags", "Xkey", "X-Cache-Tags", "X-Magento-Tags",
		"X-Amz-Meta-Cache-Tag":
		return true
	}
	return false
}
