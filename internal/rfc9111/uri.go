package rfc9111

import (
	"net/url"
	"strings"
)

// Limits of the URI references that are looked at: their length in bytes, and how
// often they and the URI they stand on climb by "..", each of which makes net/url
// copy the path.
const (
	maxReference = 8 << 10
	maxClimbs    = 32
)

// resolve returns the URI that a reference in a response to u means (RFC 3986
// section 5), without its fragment. Ok is false unless it is one of http or
// https without user information.
func (u URI) resolve(reference string) (target URI, ok bool) {
	if len(reference) > maxReference || strings.Count(reference, "..")+strings.Count(u.Target, "..") > maxClimbs {
		return URI{}, false
	}
	ref, err := url.Parse(reference)
	if err != nil {
		return URI{}, false
	}
	abs := u.base().ResolveReference(ref)
	if abs.Scheme != "http" && abs.Scheme != "https" || abs.User != nil || abs.Host == "" || abs.Opaque != "" {
		return URI{}, false
	}
	abs.RawQuery = escapeQuery(abs.RawQuery)
	return URI{Scheme: abs.Scheme, Host: canonicalHost(abs), Target: abs.RequestURI()}, true
}

// base returns u to resolve references against. Where its target is no path, or
// one that is not written right, that is the root: what does not depend on it still
// resolves.
func (u URI) base() *url.URL {
	if strings.HasPrefix(u.Target, "/") {
		if base, err := url.Parse(u.Scheme + "://" + u.Host + u.Target); err == nil {
			return base
		}
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
}

// escapeQuery percent-encodes what a client cannot send in a query and therefore
// encodes itself; net/url does so in paths only.
func escapeQuery(query string) string {
	plain := func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' }
	for i := range len(query) {
		if plain(query[i]) {
			continue
		}
		var b strings.Builder
		for _, c := range []byte(query) {
			if plain(c) {
				b.WriteByte(c)
			} else {
				b.WriteByte('%')
				b.WriteByte(upperHex[c>>4])
				b.WriteByte(upperHex[c&15])
			}
		}
		return b.String()
	}
	return query
}

// canonicalHost returns the host in lower case, without a trailing dot, with the
// port unless it is the scheme's own (RFC 9110 section 4.2.3).
func canonicalHost(u *url.URL) string {
	host, port := strings.ToLower(u.Host), u.Port()
	host = strings.TrimSuffix(host, ":"+port)
	host = strings.TrimSuffix(host, ".")
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return host
	}
	return host + ":" + port
}
