package compress

import (
	"bytes"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/setting"
)

// Coding is a content coding.
type Coding = setting.Coding

// The codings, and their number. None is the content as it is.
const (
	None   = setting.Identity
	Gzip   = setting.Gzip
	Brotli = setting.Brotli
	Zstd   = setting.Zstd
	Count  = setting.Codings
)

// Level says how much work is done for fewer bytes.
type Level = setting.Level

// Rules say which responses are compressed, and how. They do not change.
type Rules setting.Compress

// On reports whether anything is compressed.
func (r *Rules) On() bool { return len(r.Codings) > 0 }

// Choose returns the coding for a response to a request by this method, as the origin had it; None leaves it as it is. varies
// reports whether it would be compressed for another client. length is that of the content, -1 if unknown: of a HEAD, what a GET would get.
//
// Events of a stream (text/event-stream) are never compressed.
func (r *Rules) Choose(request field.List, status int, header field.List, length int64) (c Coding, varies bool) {
	if !r.On() || !r.compressible(status, header, length) || rfc9111.NoTransform(header) {
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
