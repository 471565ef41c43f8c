package proxy

import (
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/route/basicauth"
	"edgeproxy/internal/route/client"
)

// This file answers only users of a route that has some (RFC 7617). It comes before the cache is asked, so it holds for
// hits as for misses. Their Authorization is for us alone: newRoute has the rules for requests drop it, so that the origin does not get it
// and RFC 9111 section 3.5 has nothing to forbid. Who the user is is not in the key, and nobody behind here hears of it but the access log.
//
// A password costs tens of milliseconds. Begin has no time for that: it lets through who is known, and leaves the rest to Finish.

// credentials returns the value of Authorization, nil where there is none or several.
func (x *exchange) credentials() []byte {
	if !x.asks.authorization {
		return nil
	}
	if lines := x.fieldLines("Authorization"); len(lines) == 1 {
		return lines[0]
	}
	return nil
}

// authenticatedBefore reports whether x has credentials that were right before.
func (p *Proxy) authenticatedBefore(x *exchange) bool {
	return x.settings.passwords.Known(x.route.Access.Users, x.credentials())
}

// refuseOrAuthenticate refuses x, or leaves it to be proven.
func (p *Proxy) refuseOrAuthenticate(x *exchange) disposition {
	if x.credentials() != nil {
		return needsPassword
	}
	p.refuse(x, statusUnauthorized, reason.Unauthenticated)
	return refused
}

// authenticate checks the credentials of x, and goes on with decide where they are right.
func (p *Proxy) authenticate(x *exchange) disposition {
	if !p.authenticated(x) {
		return refused
	}
	d := p.admitted(x)
	if d == hit {
		x.waited = now().Sub(x.start)
		p.refreshStale(x)
	}
	return d
}

// authenticated reports whether the credentials of x are right, and refuses it otherwise.
func (p *Proxy) authenticated(x *exchange) bool {
	who, _ := client.Of(x.ClientAddress())
	switch x.settings.passwords.Check(x.route.Access.Users, x.credentials(), who) {
	case basicauth.Right:
		return true
	case basicauth.Busy:
		p.Metrics.overChecks.note()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
	case basicauth.Enough:
		p.Metrics.overChecksShare.note()
		p.refuse(x, statusTooManyRequests, reason.ClientShare)
	case basicauth.Wrong:
		p.refuse(x, statusUnauthorized, reason.Unauthenticated)
	}
	return false
}

// describeUser says which user asks, or would be one.
func (x *exchange) describeUser(line *accesslog.Line) {
	if x.route == nil || x.route.Access.Users == nil {
		return
	}
	if lines := x.fieldLines("Authorization"); len(lines) == 1 { // asks has forgotten it: it is not in the request to the origin
		x.folded = basicauth.AppendName(x.folded[:0], lines[0])
		line.User = x.folded
	}
}

// appendAuthenticate appends what a client is asked for that has shown no credentials, or wrong ones.
func (x *exchange) appendAuthenticate(b []byte) []byte {
	b = append(b, "WWW-Authenticate: Basic realm=\""...)
	b = append(b, x.route.Access.Realm...)
	return append(b, "\", charset=\"UTF-8\"\r\n"...)
}
