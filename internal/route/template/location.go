package template

import (
	"errors"
	"strings"

	"edgeproxy/internal/http/wire"
)

// Location is a URL with placeholders of the request's URL, for the field of this name (RFC 9110 section 10.2.2). The zero
// Location is none. It is immutable.
type Location struct{ url Template }

// IsZero reports whether l is no URL.
func (l Location) IsZero() bool { return l.url.parts == nil }

// Append appends what l says of u; see Template.Append.
func (l Location) Append(b []byte, u URL) []byte { return l.url.Append(b, u, nil) }

// Errors of ParseLocation.
var (
	errLocationPlace = errors.New("must have no other placeholders than {scheme}, {host}, {hostport}, {port}, {path}, {query} and {uri}")
	errLocationBytes = errors.New("must be a URL of visible ASCII characters, others percent-encoded")
	errLocation      = errors.New("must be a path that begins with /, or http://, https:// or {scheme}:// with a host or {host}, followed by nothing, /, ?, {path} or {uri}: " +
		"otherwise a client could choose the host of the redirect")
)

// ParseLocation reads a URL such as https://{host}{uri}: a path, or an absolute URL of http or https. No request can make
// it lead to a host other than the one in the text or, for {host}, the one that was asked. The error says what is wanted.
func ParseLocation(text string) (Location, error) {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`|", c) >= 0 {
			return Location{}, errLocationBytes
		}
	}
	if strings.Contains(text, "{{") || strings.Contains(text, "}}") { // no URL has a brace
		return Location{}, errLocationPlace
	}
	t, err := Parse(text, OfURL)
	if err != nil {
		return Location{}, errLocationPlace
	}
	if !leadsSomewhere(text) {
		return Location{}, errLocation
	}
	return Location{t}, nil
}

// leadsSomewhere reports whether text itself says which host it leads to.
func leadsSomewhere(text string) bool {
	if rest, ok := strings.CutPrefix(text, "/"); ok { // at the host that was asked; // would be another
		return rest == "" || rest[0] != '/' && rest[0] != '{'
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "http" && scheme != "https" && scheme != "{"+placeScheme+"}" {
		return false
	}
	authority := rest
	for _, end := range []string{"/", "?", "{" + placePath + "}", "{" + placeURI + "}"} {
		if i := strings.Index(authority, end); i >= 0 {
			authority = rest[:i]
		}
	}
	host := strings.NewReplacer("{"+placeHostPort+"}", "h", "{"+placeHost+"}", "h").Replace(authority)
	if strings.ContainsAny(host, "{}#") {
		return false
	}
	_, err := wire.AppendHost(nil, []byte(host), "http")
	return err == nil
}
