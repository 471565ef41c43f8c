package compress

import (
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

const acceptEncoding = "Accept-Encoding"

// Encoded returns the header of a response as it is with the coding. A strong entity tag becomes weak: the bytes are not
// those that the origin has given it to, though they mean the same (RFC 9110 section 8.8.3). One that is not valid goes, as
// does what describes the bytes.
func Encoded(h field.List, c Coding) field.List {
	tag, tagged := rfc9111.Weakened(h)
	out := make(field.List, 0, len(h)+2)
	for _, f := range Varying(h) {
		switch {
		case f.Name == "Content-Length" || f.Name == "Accept-Ranges" || Describes(f.Name):
			continue
		case f.Name == "Etag" && !tagged:
			continue
		case f.Name == "Etag":
			f.Value = tag
		case f.Name == "Trailer":
			f.Value = withoutDescribing(f.Value)
		}
		out = append(out, f)
	}
	out.Add("Content-Encoding", c.String())
	return out
}

// Describes reports whether a field of this canonical name, in the header or behind the body, is about the bytes of the
// content as it was sent (RFC 9530, RFC 3230).
func Describes(name string) bool {
	switch name {
	case "Content-Digest", "Repr-Digest", "Digest", "Content-Md5":
		return true
	}
	return false
}

// withoutDescribing returns a value of Trailer without the names of what is not sent.
func withoutDescribing(names string) string {
	var kept []string
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.Trim(name, " \t"); name != "" && !Describes(field.Canonical(name)) {
			kept = append(kept, name)
		}
	}
	return strings.Join(kept, ", ")
}

// Varying returns the header of a response that is selected by Accept-Encoding: h itself where it says so.
func Varying(h field.List) field.List {
	for _, line := range h.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.Trim(name, " \t"); name == "*" || strings.EqualFold(name, acceptEncoding) {
				return h
			}
		}
	}
	out := make(field.List, len(h), len(h)+1)
	copy(out, h)
	out.Add("Vary", acceptEncoding)
	return out
}

// Confirmed returns the header of a 304 that an origin has sent to a request. Where that has named the tag in the weak form
// that Encoded gave it, the origin confirms what was compressed: the tag is weak as well, or a cache would take it for that of
// another response (RFC 9111 section 4.3.4), Vary says what it said there, and digests of other bytes go.
func Confirmed(request, h field.List) field.List {
	tag, _ := h.Get("Etag")
	weak, ok := rfc9111.Weakened(h)
	if !ok || weak == tag || !rfc9111.ListsWeaklyAlone(request.Values("If-None-Match"), tag) {
		return h
	}
	return SameVary(OfEncoded(h))
}

// OfEncoded returns the header of a 304 about the response that Encoded has changed as it is about the changed one: a strong tag is
// weak, and digests of other bytes go.
func OfEncoded(h field.List) field.List {
	weak, tagged := rfc9111.Weakened(h)
	out := make(field.List, 0, len(h)+1)
	for _, f := range h {
		if Describes(f.Name) {
			continue
		}
		if f.Name == "Etag" && tagged {
			f.Value = weak
		}
		out = append(out, f)
	}
	return out
}

// Weakens reports whether Encoded makes the tag of a response with the header h weak.
func Weakens(h field.List) bool {
	tag, _ := h.Get("Etag")
	weak, ok := rfc9111.Weakened(h)
	return ok && weak != tag
}

// SameVary returns the header of a 304 that confirms a response which is selected by Accept-Encoding. Without Vary it leaves
// that of the response as it is.
func SameVary(h field.List) field.List {
	if !h.Has("Vary") {
		return h
	}
	return Varying(h)
}
