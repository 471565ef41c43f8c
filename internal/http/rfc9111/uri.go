package rfc9111

import (
	"net/url"
	"strings"

	"edgeproxy/internal/http/wire"
)

// Limits of a URI reference: its length in bytes, and the number of ".." in it and
// its base URI, each of which makes net/url copy the path.
const (
	maxReference = 8 << 10
	maxClimbs    = 32
)

// resolve resolves a URI reference in a response to u (RFC 3986 section 5) and
// drops the fragment. Ok is false unless the result is an http or https URI without
// user information.
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

// base returns u as the base URI for references. If the target of u is no path or a
// malformed one, the base has the path "/": references that do not depend on the
// path still resolve.
func (u URI) base() *url.URL {
	if strings.HasPrefix(u.Target, "/") {
		if base, err := url.Parse(u.Scheme + "://" + u.Host + u.Target); err == nil {
			return base
		}
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
}

// escapeQuery percent-encodes the bytes that clients percent-encode in a query;
// net/url does so in paths only.
func escapeQuery(query string) string {
	plain := func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' }
	for i := range len(query) {
		if plain(query[i]) {
			continue
		}
		var b []byte
		for _, c := range []byte(query) {
			if plain(c) {
				b = append(b, c)
			} else {
				b = wire.AppendEscape(b, c)
			}
		}
		return string(b)
	}
	return query
}

// canonicalHost returns the host in lower case, without a trailing dot, with the
// port unless it is the scheme's default port (RFC 9110 section 4.2.3).
func canonicalHost(u *url.URL) string {
	host, port := strings.ToLower(u.Host), u.Port()
	host = strings.TrimSuffix(host, ":"+port)
	host = strings.TrimSuffix(host, ".")
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return host
	}
	return host + ":" + port
}
