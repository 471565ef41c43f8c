package rfc9111

import (
	"time"

	"edgeproxy/internal/http/field"
)

// Representation has the validators of one stored response, with which conditions
// are compared. It is made once, when the response is stored.
type Representation struct {
	Status int
	// ETag is the entity tag as sent, "" if there is no valid one.
	ETag string
	// LastModified is zero if the origin sent no valid one.
	LastModified time.Time
	// StrongDate says that LastModified is a strong validator: Date lies at least
	// one second later (RFC 9110 section 8.8.2.2), and the content has no coding.
	// The same content with another coding, or compressed again, has the same date
	// and other bytes (section 8.8.1).
	StrongDate bool
	// UnchangedSince is compared with If-Modified-Since. It is LastModified;
	// without that field it is Date, or else the time of receipt (RFC 9111 section
	// 4.3.2). It is zero if Last-Modified is malformed.
	UnchangedSince time.Time
}

// RepresentationOf returns the Representation of a response with this status and
// header, received at responseTime.
func RepresentationOf(status int, h field.List, responseTime time.Time) Representation {
	r := Representation{Status: status}
	if tag, ok := single(h, "Etag"); ok {
		if _, _, valid := parseTag(tag); valid {
			r.ETag = tag
		}
	}
	modified, ok := dateField(h, "Last-Modified", responseTime)
	switch {
	case ok:
		date, dated := dateField(h, "Date", responseTime)
		r.LastModified, r.UnchangedSince = modified, modified
		r.StrongDate = dated && date.Sub(modified) >= time.Second && !h.Has("Content-Encoding")
	case !h.Has("Last-Modified"):
		r.UnchangedSince = originDate(h, responseTime)
	}
	return r
}

// Conditions are the preconditions of a request that a cache evaluates, as raw
// field lines. A field without lines is absent. The caller owns the bytes.
//
// If-Match and If-Unmodified-Since are not among them: only the origin may evaluate
// those (RFC 9110 section 13.2.1). A request with one of them must be forwarded to
// the origin.
type Conditions struct {
	Method                       []byte
	IfNoneMatch, IfModifiedSince [][]byte
}

// NotModified reports whether the answer to the request is a 304 instead of the
// stored response (RFC 9111 section 4.3.2, RFC 9110 section 13). If it is false,
// the stored response is sent, or a range of it.
//
// Conditions apply only to GET and HEAD, and to a stored 200 or 206. If-None-Match,
// a list or "*", uses weak comparison; if it is present, If-Modified-Since is
// ignored. If-Modified-Since is also ignored unless it is one valid date; now
// determines its century. NotModified does not allocate.
func NotModified(c Conditions, r Representation, now time.Time) bool {
	if len(c.IfNoneMatch) == 0 && len(c.IfModifiedSince) == 0 {
		return false
	}
	if !equal(c.Method, "GET") && !equal(c.Method, "HEAD") {
		return false
	}
	if r.Status != 200 && r.Status != 206 {
		return false
	}
	if len(c.IfNoneMatch) > 0 {
		return noneMatchFails(c.IfNoneMatch, r.ETag)
	}
	if len(c.IfModifiedSince) != 1 || r.UnchangedSince.IsZero() {
		return false
	}
	since, ok := ParseDate(trim(c.IfModifiedSince[0]), now)
	return ok && !r.UnchangedSince.After(since)
}

// noneMatchFails reports whether the condition "none of these" is false (RFC
// 9110 section 13.1.2).
func noneMatchFails(lines [][]byte, etag string) bool {
	if isStar(lines) {
		return true
	}
	for _, line := range lines {
		if listsTag(line, etag) {
			return true
		}
	}
	return false
}

// IfRangeHolds reports whether the Range of a request may be used, given its
// If-Range lines (RFC 9110 section 13.1.5). If not, the whole response is sent.
// Without a line the Range may be used. An entity tag holds if it equals the tag of
// r and both are strong. A date holds if it is exactly the Last-Modified of r and
// that is a strong validator. Anything else, also several lines, does not hold. Now
// determines the century of a date. IfRangeHolds neither keeps the lines nor
// allocates.
func IfRangeHolds(lines [][]byte, r Representation, now time.Time) bool {
	if len(lines) != 1 {
		return len(lines) == 0
	}
	value := trim(lines[0])
	if tag, weak, ok := parseTag(value); ok {
		want, wantWeak, known := parseTag(r.ETag)
		return known && !weak && !wantWeak && equal(tag, want)
	}
	date, ok := ParseDate(value, now)
	return ok && r.StrongDate && date.Equal(r.LastModified)
}
