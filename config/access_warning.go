package config

import (
	"net/netip"
	"slices"
	"strings"
)

// warnOfAccess warns of lists that let every client in without the word all, of routes that ask
// for a password over http before they redirect to https, and of redirects from https to itself.
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
		if r.Redirect.To == "https://{host}{uri}" && r.Match.takesHTTPS() && slices.ContainsFunc(c.Listen, Listen.mayServeHTTPS) {
			warn(descendant(item("routes", i), "redirect.to"), "redirects https to itself, without end: want match: {scheme: http} on this route")
		}
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

// mayServeHTTPS reports whether requests to the listener may count as https: they come by TLS, or a
// trusted proxy says so.
func (l Listen) mayServeHTTPS() bool { return l.TLS || len(l.TrustedProxies) > 0 }
