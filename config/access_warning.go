package config

import (
	"net/netip"
	"slices"
	"strings"
)

// warnOfAccess warns of lists that let everybody in without the word for it, of passwords
// that a redirect to https asks for before TLS, and of a redirect that leads https to itself.
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

// warnOfEveryAddress warns of a list of those to let in that has all addresses of a family.
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

// onlyHTTP reports whether no request by https matches, by what is said of scheme or ports.
func (m *Match) onlyHTTP() bool {
	return m.Scheme == SchemeHTTP || !slices.ContainsFunc(m.Hosts, func(h HostPattern) bool { return h.Port != 80 })
}

// takesHTTPS reports whether requests by https to the usual port may match, whatever their host.
func (m *Match) takesHTTPS() bool {
	return m.Scheme != SchemeHTTP && slices.ContainsFunc(m.Hosts, func(h HostPattern) bool { return h.Port == 0 || h.Port == 443 })
}

// mayServeHTTPS reports whether a request of the listener may count as https: by TLS, or by what a
// trusted proxy says.
func (l Listen) mayServeHTTPS() bool { return l.TLS || len(l.TrustedProxies) > 0 }
