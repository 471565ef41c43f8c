package config

import (
	"net/netip"
	"slices"
	"strings"

	"edgeproxy/internal/route/routing"
)

// warnOfAccess warns of lists that let every client in without the word all, of routes that ask
// for a password over http before they redirect to https, of redirects from a scheme to itself, and
// of paths that are closed without a slash at their end and open with it.
func (c *Config) warnOfAccess(index *routeIndex, warn func(path, text string)) {
	warnOfEveryAddress("access.allow", c.Access.Allow, warn)
	for i := range c.Routes {
		r, allow := &c.Routes[i], descendant(c.Routes[i].path, "access.allow")
		if r.ownInherited.Access.Allow == nil && c.src.given(allow) {
			warn(allow, "an empty list lets every client in: must be addresses, or all to say so")
		}
		warnOfEveryAddress(allow, r.ownInherited.Access.Allow, warn)
		if r.Access.BasicAuth.UsersFile != "" && strings.HasPrefix(r.Redirect.To, "https://") && onlyHTTP(&r.Match) {
			warn(descendant(c.Routes[i].path, "redirect.to"), "asks for a password before it redirects to https, so clients send it unencrypted: needs access: {basic_auth: {enabled: false}} on this route")
		}
		c.warnOfEndlessRedirect(r, descendant(c.Routes[i].path, "redirect.to"), warn)
		if r.refuses() {
			c.warnOfOpenSlashes(r, index, descendant(c.Routes[i].path, "match.path"), warn)
		}
	}
}

// warnOfOpenSlashes warns of the whole paths, at path, that r closes to some clients, while another route passes the same path with a slash
// at its end to an origin, or without it. Many origins serve one page under both. An encoded slash counts as a slash.
func (c *Config) warnOfOpenSlashes(r *Route, index *routeIndex, path string, warn func(path, text string)) {
	for i, p := range r.Match.Paths {
		other, slashed := strings.CutSuffix(p, "/")
		if !slashed {
			other += "/"
		}
		if open := c.moreOpen(r, index, other); p != "/" && open != nil {
			warn(c.src.elementPath(path, i), "closes "+p+", but route "+open.Name+" passes "+other+" on to clients that this route refuses, and many origins serve the same there: needs path_prefix, or both paths")
		}
	}
}

// moreOpen returns the first route that passes this path to an origin for a client that r refuses; nil if there is none.
func (c *Config) moreOpen(r *Route, index *routeIndex, path string) *Route {
	for _, i := range index.meeting(&r.Match, path) {
		other := &c.Routes[i]
		switch {
		case !other.Match.TakesPath([]byte(path)) || !other.Match.Meets(&r.Match):
		case !other.asClosedAs(r):
			return other
		case other.Match.CoversBesidePath(&r.Match):
			return nil
		}
	}
	return nil
}

// refuses reports whether r may refuse a client.
func (r *Route) refuses() bool {
	return r.Respond.Status == 401 || r.Respond.Status == 403 || r.Access.BasicAuth.UsersFile != "" || len(r.Access.Deny)+len(r.Access.Allow) > 0
}

// asClosedAs reports whether r passes to an origin nothing of a client that o refuses. It says no where it is not sure.
func (r *Route) asClosedAs(o *Route) bool {
	within := func(all []netip.Prefix, n netip.Prefix) bool {
		return slices.ContainsFunc(all, func(a netip.Prefix) bool { return a.Bits() <= n.Bits() && a.Contains(n.Addr()) })
	}
	a, b := &r.Access, &o.Access
	switch {
	case r.AnswersItself():
		return true
	case o.Respond.Status == 401 || o.Respond.Status == 403: // 404 and 410 are rather that nothing is there
		return false
	case b.BasicAuth.UsersFile != "" && a.BasicAuth.UsersFile != b.BasicAuth.UsersFile:
		return false
	case slices.ContainsFunc(b.Deny, func(n netip.Prefix) bool { return !within(a.Deny, n) }):
		return false
	}
	allowed := a.Allow
	if len(allowed) == 0 {
		allowed = everyAddress()
	}
	return len(b.Allow) == 0 || !slices.ContainsFunc(allowed, func(n netip.Prefix) bool { return !within(b.Allow, n) })
}

func everyAddress() []netip.Prefix {
	return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
}

// warnOfEndlessRedirect warns of a redirect, at path, from a scheme to itself.
func (c *Config) warnOfEndlessRedirect(r *Route, path string, warn func(path, text string)) {
	switch {
	case r.Redirect.To == "https://{host}{uri}" && takesHTTPS(&r.Match) && slices.ContainsFunc(c.Listen, Listen.mayServeHTTPS):
		warn(path, "redirects https to itself, without end: needs match: {scheme: http} on this route")
	case r.Redirect.To == "http://{host}{uri}" && takesHTTP(&r.Match) && slices.ContainsFunc(c.Listen, Listen.mayServeHTTP):
		warn(path, "redirects http to itself, without end: needs match: {scheme: https} on this route")
	}
}

// warnOfEveryAddress warns of an allow list that has all addresses of IPv4 or of IPv6.
func warnOfEveryAddress(path string, allow []netip.Prefix, warn func(path, text string)) {
	for i, n := range allow {
		if family := "IPv6"; n.Bits() == 0 {
			if n.Addr().Is4() {
				family = "IPv4"
			}
			warn(item(path, i), "lets every "+family+" client in: must be addresses, or allow: all to say so")
		}
	}
}

// onlyHTTP reports whether the scheme or the ports of m exclude requests by https.
func onlyHTTP(m *routing.Match) bool {
	return m.Scheme == routing.SchemeHTTP || !slices.ContainsFunc(m.Hosts, func(h routing.Host) bool { return h.Port != 80 })
}

// takesHTTPS reports whether requests by https to port 443 may match.
func takesHTTPS(m *routing.Match) bool {
	return m.Scheme != routing.SchemeHTTP && slices.ContainsFunc(m.Hosts, func(h routing.Host) bool { return h.Port == 0 || h.Port == 443 })
}

// takesHTTP reports whether requests by http to port 80 may match.
func takesHTTP(m *routing.Match) bool {
	return m.Scheme != routing.SchemeHTTPS && slices.ContainsFunc(m.Hosts, func(h routing.Host) bool { return h.Port == 0 || h.Port == 80 })
}

// mayServeHTTPS reports whether requests to the listener may count as https: they come by TLS, or a
// trusted proxy says so.
func (l Listen) mayServeHTTPS() bool { return l.TLS || len(l.TrustedProxies) > 0 }

// mayServeHTTP reports whether requests to the listener may count as http.
func (l Listen) mayServeHTTP() bool { return !l.TLS || len(l.TrustedProxies) > 0 }
