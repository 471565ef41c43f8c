package config

import (
	"net/netip"
	"slices"
	"strings"
)

// warnOfAccess warns of lists that let every client in without the word all, of routes that ask
// for a password over http before they redirect to https, and of redirects from a scheme to itself.
func (c *Config) warnOfAccess(warn func(path, text string)) {
	warnOfEveryAddress("access.allow", c.Access.Allow, warn)
	for i := range c.Routes {
		r, allow := &c.Routes[i], descendant(item("routes", i), "access.allow")
		if r.ownInherited.Access.Allow == nil && c.src.given(allow) {
			warn(allow, "an empty list lets every client in: want addresses, or all to say so")
		}
		warnOfEveryAddress(allow, r.ownInherited.Access.Allow, warn)
		if r.Access.BasicAuth.UsersFile != "" && strings.HasPrefix(r.Redirect.To, "https://") && r.Match.onlyHTTP() {
			warn(descendant(item("routes", i), "redirect.to"), "asks for a password before it redirects to https, so clients send it unencrypted: want access: {basic_auth: {enabled: false}} on this route")
		}
		c.warnOfEndlessRedirect(r, descendant(item("routes", i), "redirect.to"), warn)
	}
}

// warnOfEndlessRedirect warns of a redirect, at path, from a scheme to itself.
func (c *Config) warnOfEndlessRedirect(r *Route, path string, warn func(path, text string)) {
	switch {
	case r.Redirect.To == "https://{host}{uri}" && r.Match.takesHTTPS() && slices.ContainsFunc(c.Listen, Listen.mayServeHTTPS):
		warn(path, "redirects https to itself, without end: want match: {scheme: http} on this route")
	case r.Redirect.To == "http://{host}{uri}" && r.Match.takesHTTP() && slices.ContainsFunc(c.Listen, Listen.mayServeHTTP):
		warn(path, "redirects http to itself, without end: want match: {scheme: https} on this route")
	}
}

// warnOfEveryAddress warns of an allow list that has all addresses of IPv4 or of IPv6.
func warnOfEveryAddress(path string, allow []netip.Prefix, warn func(path, text string)) {
	for i, n := range allow {
		if family := "IPv6"; n.Bits() == 0 {
			if n.Addr().Is4() {
				family = "IPv4"
			}
			warn(item(path, i), "lets every "+family+" client in: want addresses, or allow: all to say so")
		}
	}
}

// onlyHTTP reports whether the scheme or the ports of m exclude requests by https.
func (m *Match) onlyHTTP() bool {
	return m.Scheme == SchemeHTTP || !slices.ContainsFunc(m.Hosts, func(h HostPattern) bool { return h.Port != 80 })
}

// takesHTTPS reports whether requests by https to port 443 may match.
func (m *Match) takesHTTPS() bool {
	return m.Scheme != SchemeHTTP && slices.ContainsFunc(m.Hosts, func(h HostPattern) bool { return h.Port == 0 || h.Port == 443 })
}

// takesHTTP reports whether requests by http to port 80 may match.
func (m *Match) takesHTTP() bool {
	return m.Scheme != SchemeHTTPS && slices.ContainsFunc(m.Hosts, func(h HostPattern) bool { return h.Port == 0 || h.Port == 80 })
}

// mayServeHTTPS reports whether requests to the listener may count as https: they come by TLS, or a
// trusted proxy says so.
func (l Listen) mayServeHTTPS() bool { return l.TLS || len(l.TrustedProxies) > 0 }

// mayServeHTTP reports whether requests to the listener may count as http.
func (l Listen) mayServeHTTP() bool { return !l.TLS || len(l.TrustedProxies) > 0 }
