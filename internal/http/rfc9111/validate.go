package rfc9111

import (
	"time"

	"edgeproxy/internal/http/field"
)

// imfFixdate is the time layout of dates that are sent (RFC 9110 section 5.6.7).
const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// ValidationFields returns the fields that turn a GET into a validation of the
// stored response with this header, received at responseTime (RFC 9111 section
// 4.3.1): If-None-Match and If-Modified-Since with its validators. It returns nil
// if the response has no validator and cannot be validated. The fields replace
// those of the client.
func ValidationFields(stored field.List, responseTime time.Time) field.List {
	var out field.List
	if tag, ok := validTag(stored); ok {
		out.Add("If-None-Match", tag)
	}
	v, ok := single(stored, "Last-Modified")
	if !ok {
		return out
	}
	t, ok := ParseDate(v, responseTime)
	if !ok {
		return out
	}
	// An IMF-fixdate is sent as it came: some origins compare the text (RFC 9110
	// section 13.1.3).
	if len(v) != len(imfFixdate) {
		v = t.Format(imfFixdate)
	}
	out.Add("If-Modified-Since", v)
	return out
}

// hasValidator reports whether ValidationFields returns any field.
func hasValidator(h field.List, responseTime time.Time) bool {
	if _, ok := validTag(h); ok {
		return true
	}
	_, ok := dateField(h, "Last-Modified", responseTime)
	return ok
}

// validTag returns the entity tag, if there is exactly one and it is valid.
func validTag(h field.List) (tag string, ok bool) {
	if tag, ok = single(h, "Etag"); !ok {
		return "", false
	}
	_, _, ok = parseTag(tag)
	return tag, ok
}

// Update returns the header of a stored response after a 304 (RFC 9111 sections 3.2
// and 4.3.4). Each field of the 304 replaces the stored ones of its name; the other
// stored fields stay. Ok is false if a validator of the 304 differs from the stored
// one: the 304 then is about another response, and the stored one must be fetched
// anew.
//
// From304 is the header as the origin sent it. Neither argument is changed, and the
// result shares their strings. Via, Content-Length and other fields that describe
// the stored bytes are never replaced; hop-by-hop fields are left out. The stored
// Age and Date are always dropped: if the 304 has no Date, the time of receipt
// counts. If the entity tags differ only in weakness, as from origins that compress
// on the fly, the stored one stays.
func Update(stored, from304 field.List) (updated field.List, ok bool) {
	if !confirms(stored, from304) {
		return nil, false
	}
	return merge(stored, from304), true
}

// ForOneClient reports whether the field of this canonical name in a 304 is for the client alone whose request was
// validated, and so never replaces or joins what is stored: a cookie, and what follows from that client's
// credentials or is an order to it (RFC 6265 section 3, RFC 9110 sections 11.6.1 and 11.6.3). The stored response was
// confirmed as it is, and a 304 that adds such a field says nothing of what others may have. With SetCookieStore no
// response is for one client.
func ForOneClient(name string, rule SetCookie) bool {
	if rule == SetCookieStore {
		return false
	}
	switch name {
	case "Set-Cookie", "Set-Cookie2", "Authentication-Info", "Www-Authenticate", "Clear-Site-Data":
		return true
	}
	return false
}

// confirms reports whether a 304 with the header from validates the stored response: no
// validator of it differs.
func confirms(stored, from field.List) bool {
	if !from.Has("Etag") {
		return sameOrAbsent(stored, from, "Last-Modified")
	}
	tag, ok := validTag(from)
	have, known := validTag(stored)
	opaque, weak, _ := parseTag(tag)
	switch {
	case !ok: // an invalid tag is no validator
		return sameOrAbsent(stored, from, "Last-Modified")
	case !known: // a strong tag identifies a response that is not the stored one
		return weak && from.Has("Last-Modified") && sameOrAbsent(stored, from, "Last-Modified")
	}
	want, _, _ := parseTag(have)
	return opaque == want
}

// sameOrAbsent reports whether from does not have the field, or has it with the stored
// value.
func sameOrAbsent(stored, from field.List, name string) bool {
	if !from.Has(name) {
		return true
	}
	v, ok := single(from, name)
	want, known := single(stored, name)
	return ok && known && v == want
}

// merge replaces stored fields by those of from, as Update says.
func merge(stored, from field.List) field.List {
	from = EndToEnd(from)
	tag, _ := validTag(stored)
	keepTag := tag != ""
	replaced := make(map[string]struct{}, len(from))
	for i := range from {
		replaced[from[i].Name] = struct{}{}
	}
	stays := func(name string) bool { return describesStored(name) || keepTag && name == "Etag" }
	out := make(field.List, 0, len(stored)+len(from))
	for i := range stored {
		_, gone := replaced[stored[i].Name]
		if name := stored[i].Name; stays(name) || !gone && name != "Age" && name != "Date" {
			out = append(out, stored[i])
		}
	}
	for i := range from {
		if !stays(from[i].Name) {
			out = append(out, from[i])
		}
	}
	return out
}

// describesStored reports whether the field describes the stored bytes or the path by which they came. In a 304, or in the
// answer to a HEAD, it describes another message (RFC 9111 section 3.2; for digests RFC 9530 section 2). Repr-Digest and
// Digest belong to one representation, and a weak tag can identify several. If the 304 is about the stored one, the stored
// digest is already right.
func describesStored(name string) bool {
	switch name {
	case "Content-Length", "Content-Encoding", "Content-Range", "Content-Digest", "Content-Md5", "Repr-Digest", "Digest", "Via":
		return true
	}
	return false
}
