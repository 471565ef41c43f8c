package compress

import (
	"bytes"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// Coding is a content coding (RFC 9110 section 8.4.1).
type Coding uint8

// The codings. None is the content as it is.
const (
	None   Coding = iota
	Gzip          // RFC 1952
	Brotli        // RFC 7932
	Zstd          // RFC 8878

	Count // the number of codings, None among them
)

var codingWords = [Count]string{None: "identity", Gzip: "gzip", Brotli: "br", Zstd: "zstd"}

// String is the coding as Content-Encoding has it.
func (c Coding) String() string { return codingWords[c] }

// CodingOf returns the coding of a name, false where there is none.
func CodingOf(name string) (Coding, bool) {
	i := slices.Index(codingWords[:], name)
	return Coding(max(i, 0)), i > 0 //nolint:gosec // below Count
}

// Level says how much work is done for fewer bytes.
type Level uint8

// The levels.
const (
	Fastest Level = iota
	Default
	Better

	levels
)

var levelWords = [levels]string{"fastest", "default", "better"}

// String is the level as settings have it.
func (l Level) String() string { return levelWords[l] }

// LevelOf returns the level of a name, false where there is none.
func LevelOf(name string) (Level, bool) {
	i := slices.Index(levelWords[:], name)
	return Level(max(i, 0)), i >= 0 //nolint:gosec // below levels
}

// Rules say which responses are compressed, and how. They are immutable; nil compresses nothing.
type Rules struct {
	Codings  []Coding // in the order of preference
	Types    []string // in lower case: text/html, or text/* for all of text
	MinBytes int64    // a body that is known to be shorter stays as it is
	Level    Level
}

// Choose returns the coding for a response to a request by this method, as the origin had it; None leaves it as it is. varies
// reports whether it would be compressed for another client. length is that of the content, -1 if unknown: of a HEAD, what a GET would get.
//
// Events of a stream (text/event-stream) are never compressed.
func (r *Rules) Choose(request field.List, status int, header field.List, length int64) (c Coding, varies bool) {
	if r == nil || !r.compressible(status, header, length) || rfc9111.NoTransform(header) {
		return None, false
	}
	if rfc9111.NoTransform(request) {
		return None, true
	}
	return r.accepted(request), true
}

// compressible reports whether a client that accepts it would get the response compressed.
func (r *Rules) compressible(status int, header field.List, length int64) bool {
	switch {
	case !hasContent(status), length >= 0 && (length == 0 || length < r.MinBytes):
		return false
	case header.Has("Content-Encoding"), header.Has("Content-Range"):
		return false
	}
	types := header.Values("Content-Type")
	return len(types) == 1 && r.takes(types[0])
}

// hasContent reports whether a final response of this status has content that is the whole of a representation.
func hasContent(status int) bool {
	switch status {
	case 204, 205, 206, 304:
		return false
	}
	return status >= 200
}

// takes reports whether content of this type is compressed.
func (r *Rules) takes(contentType string) bool {
	name, _, _ := strings.Cut(contentType, ";")
	name = strings.Trim(name, " \t")
	if strings.EqualFold(name, "text/event-stream") {
		return false
	}
	return slices.ContainsFunc(r.Types, func(t string) bool {
		if family, ok := strings.CutSuffix(t, "*"); ok {
			return len(name) > len(family) && strings.EqualFold(name[:len(family)], family)
		}
		return strings.EqualFold(name, t)
	})
}

// accepted returns the first of the codings that the request accepts.
func (r *Rules) accepted(request field.List) Coding {
	var lines [][]byte
	for i := range request {
		if request[i].Name == "Accept-Encoding" {
			lines = append(lines, []byte(request[i].Value))
		}
	}
	folded := rfc9111.Codings(lines)
	for _, c := range r.Codings {
		if bytes.Contains(folded, []byte(c.String())) { // no name is a part of another
			return c
		}
	}
	return None
}
