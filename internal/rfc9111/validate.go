package rfc9111

import (
	"time"

	"edgeproxy/internal/field"
)

// imfFixdate is the form in which dates are sent (RFC 9110 section 5.6.7).
const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// ValidationFields returns the fields that make a GET ask the origin whether the
// stored response with this header, received at responseTime, is still the one to
// send (RFC 9111 section 4.3.1): If-None-Match and If-Modified-Since with its
// validators. It returns nil if there are none, so that a validation is not
// possible. They replace those of the client.
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
	// As it came if the form allows: some origins compare the text (RFC 9110
	// section 13.1.3).
	if len(v) != len(imfFixdate) {
		v = t.Format(imfFixdate)
	}
	out.Add("If-Modified-Since", v)
	return out
}

// hasValidator reports whether ValidationFields returns any.
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

// Update returns the header of a stored response that a 304 has confirmed (RFC
// 9111 sections 3.2 and 4.3.4): each field of the 304 replaces the stored ones of
// its name, others stay. Ok is false if a validator of the 304 differs from the
// stored one: it speaks of another response, the stored one is not confirmed, and
// has to be fetched anew.
//
// From304 is the header as the origin sent it. Neither is changed, and the result
// shares their strings. Never replaced are Content-Length and what else describes
// the stored bytes, nor Via; fields that end at this hop are left out. Age and Date
// are those of the 304 alone: without its Date the time of receipt counts. An
// entity tag that is the stored one but for its weakness, as origins send that
// compress on the fly, leaves the stored one in place.
func Update(stored, from304 field.List) (updated field.List, ok bool) {
	if !confirms(stored, from304) {
		return nil, false
	}
	return merge(stored, from304), true
}

// confirms reports whether no validator of from differs from the stored one.
func confirms(stored, from field.List) bool {
	if !from.Has("Etag") {
		return sameOrAbsent(stored, from, "Last-Modified")
	}
	tag, ok := validTag(from)
	have, known := validTag(stored)
	opaque, weak, _ := parseTag(tag)
	switch {
	case !ok: // no validator: it decides nothing
		return sameOrAbsent(stored, from, "Last-Modified")
	case !known: // a strong tag names a response that is not stored here
		return weak && from.Has("Last-Modified") && sameOrAbsent(stored, from, "Last-Modified")
	}
	want, _, _ := parseTag(have)
	return opaque == want
}

// sameOrAbsent reports whether from lacks the field, or has the stored value.
func sameOrAbsent(stored, from field.List, name string) bool {
	if !from.Has(name) {
		return true
	}
	v, ok := single(from, name)
	want, known := single(stored, name)
	return ok && known && v == want
}

// merge lets the fields of from replace the stored ones.
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

// describesStored reports whether the field tells what the stored bytes are or how
// they came here. Those of a 304, or of the answer to a HEAD, are another message's
// (RFC 9111 section 3.2; for digests RFC 9530 section 2). Repr-Digest and Digest are of a representation, of which a weak tag
// names several; where it is the stored one, the digest that is stored is right already.
func describesStored(name string) bool {
	switch name {
	case "Content-Length", "Content-Encoding", "Content-Range", "Content-Digest", "Content-Md5", "Repr-Digest", "Digest", "Via":
		return true
	}
	return false
}
