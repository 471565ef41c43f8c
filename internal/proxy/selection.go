package proxy

import (
	"strconv"
	"strings"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/byteranges"
)

// selection is what is sent of a response after the request's conditions and Range were evaluated.
type selection struct {
	status        int   // 304, 206 or 416; 0: that of the response
	first, length int64 // bytes of the body; length -1: to its end, which is not known

	// ranges are two or more ranges that do not overlap; parts is the multipart answer made of them. Without parts the whole is
	// sent.
	ranges []rfc9111.Range
	parts  *byteranges.Parts

	assembled bool   // the head is that of one stored part, and the answer is made of several
	tagless   *route // whose tags the client does not get; nil: it gets all fields
}

func (c selection) statusOr(own int) int {
	if c.status != 0 {
		return c.status
	}
	return own
}

// leavesAll reports whether the answer has all fields of the response.
func (c selection) leavesAll() bool { return c.status == 0 && !c.assembled && c.tagless == nil }

// sent is the length of what is sent, -1 if unknown.
func (c selection) sent() int64 {
	if c.status == statusRequestedRangeNotSatisfiable {
		return 0
	}
	return c.length
}

// headOnly reports whether the answer has no body because of its status.
func (c selection) headOnly() bool {
	return c.status == statusNotModified || c.status == statusRequestedRangeNotSatisfiable
}

// selective reports whether the request asks for less than the whole, on a condition or by Range.
func (x *incoming) selective() bool { return x.asks.conditional || x.asks.ranged }

// evaluate applies the request's conditions and then its Range to a response of size bytes, -1
// if unknown (RFC 9110 sections 13.2.2 and 14.2). A Range of more than most ranges is not
// applied.
func (x *exchange) evaluate(rep rfc9111.Representation, size int64, most int) selection {
	whole := selection{length: size}
	if rep.Status != statusOK {
		return whole
	}
	if x.asks.conditional && x.notModified(rep) {
		return selection{status: statusNotModified}
	}
	if !x.asks.ranged || !x.asks.get || size < 0 {
		return whole
	}
	if !rfc9111.IfRangeHolds(x.clientLines("If-Range"), rep, x.start) {
		return whole
	}
	lines := x.clientLines("Range")
	if len(lines) != 1 {
		return whole
	}
	switch first, last, kind := rfc9111.ParseRange(lines[0], size); kind {
	case rfc9111.RangeSatisfiable:
		return oneRange(first, last)
	case rfc9111.RangeUnsatisfiable:
		return selection{status: statusRequestedRangeNotSatisfiable}
	default:
		return severalRanges(lines[0], size, most)
	}
}

func oneRange(first, last int64) selection {
	return selection{status: statusPartialContent, first: first, length: last - first + 1}
}

// severalRanges is evaluate for a Range with several ranges.
func severalRanges(line []byte, size int64, most int) selection {
	switch ranges, kind := byteranges.Several(line, size, most); {
	case kind == rfc9111.RangeUnsatisfiable:
		return selection{status: statusRequestedRangeNotSatisfiable}
	case len(ranges) == 1: // merged into one, it is sent as if it had been asked for
		return oneRange(ranges[0].First, ranges[0].Last)
	default:
		return selection{length: size, ranges: ranges}
	}
}

// asByteRanges makes c an answer in parts of e, if it asks for that and they are not
// more than the whole.
func (c selection) asByteRanges(e *cache.Object) selection {
	if len(c.ranges) == 0 {
		return c
	}
	if c.parts = byteranges.New(e, c.ranges); c.parts != nil {
		c.status, c.length = statusPartialContent, c.parts.Length
	}
	return c
}

// notModified copies the lines of one field before it asks for the other: both come in
// the same place.
func (x *incoming) notModified(rep rfc9111.Representation) bool {
	var room [4][]byte
	none := append(room[:0], x.clientLines("If-None-Match")...)
	return rfc9111.NotModified(rfc9111.Conditions{
		Method: x.method, IfNoneMatch: none, IfModifiedSince: x.clientLines("If-Modified-Since"),
	}, rep, x.start)
}

// omits reports whether the answer leaves out the response's field called name. A 304 leaves out
// what describes content (RFC 9110 section 15.4.5); a part leaves out digests of the whole;
// several parts leave out the type, which each part has; a 416 leaves out whatever describes the
// content, or would let another cache keep the answer under the URL of the whole.
func (c selection) omits(name string) bool {
	if c.assembled && (name == "Content-Range" || describesMessage(name)) {
		return true
	}
	if c.tagless.isTagField(name) {
		return true
	}
	switch c.status {
	case statusNotModified:
		return describesContent(name)
	case statusPartialContent:
		return describesMessage(name) || c.parts != nil && name == "Content-Type"
	case statusRequestedRangeNotSatisfiable:
		switch name {
		case "Cache-Control", "Cdn-Cache-Control", "Surrogate-Control", "Expires":
			return true
		}
		return describesContent(name)
	}
	return false
}

// describesMessage names digests of the content of one message (RFC 9530 section 2).
func describesMessage(name string) bool { return name == "Content-Digest" || name == "Content-Md5" }

func describesContent(name string) bool {
	return strings.HasPrefix(name, "Content-") && name != "Content-Location"
}

// appendTo appends the fields that say which part it is, of a whole of size bytes.
func (c selection) appendTo(b []byte, size int64) []byte {
	switch {
	case c.status == statusRequestedRangeNotSatisfiable:
		b = append(b, "Content-Range: bytes */"...)
		return append(strconv.AppendInt(b, size, 10), '\r', '\n')
	case c.parts != nil:
		b = append(b, "Content-Type: multipart/byteranges; boundary="...)
		b = append(b, c.parts.Boundary...)
		return append(b, '\r', '\n')
	case c.status == statusPartialContent:
		return byteranges.AppendContentRange(b, c.first, c.first+c.length-1, size)
	}
	return b
}
