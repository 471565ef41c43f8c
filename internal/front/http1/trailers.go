package http1

import (
	"bytes"
	"strings"

	"edgeproxy/internal/http/chunked"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/wire"
)

// trailersUpTo returns what the trailer section of a plain request may be, of at most so many bytes. The engine bounds the number of fields.
func trailersUpTo(most int) *chunked.Section {
	return &chunked.Section{Bytes: most, Fields: most, Parse: parseTrailer}
}

// parseTrailer parses a line of a trailer section. It takes what a line of a head may be, but no name that a trailer may not have.
func parseTrailer(line string) (name, value string, err error) {
	w := wire.Walk([]byte(line + "\r\n"))
	n, v := w.Next()
	if name = field.Canonical(string(n)); n == nil || !field.ValidValue(v) || neverTrailer(name) {
		return "", "", errTrailer
	}
	return name, string(v), nil
}

// plainTrailers reports whether a plain request may announce these trailers. fasthttp refuses the others.
func plainTrailers(names []byte) bool {
	for name := range bytes.SplitSeq(names, []byte{','}) {
		if name = bytes.Trim(name, " \t"); !field.ValidName(name) || neverTrailer(field.Canonical(string(name))) {
			return false
		}
	}
	return true
}

// neverTrailer reports whether no request may have a trailer with this canonical name: it frames, routes or authenticates, or says
// what has to be known before the content. The list is fasthttp's, so that both ways refuse the same.
func neverTrailer(name string) bool {
	switch name {
	case "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Cookie", "Expect", "Host",
		"Keep-Alive", "Location", "Max-Forwards", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Range", "Set-Cookie", "Te",
		"Trailer", "Transfer-Encoding", "Www-Authenticate":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "X-Real-Ip")
}
