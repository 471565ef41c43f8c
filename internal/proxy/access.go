package proxy

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/route/basicauth"
	"edgeproxy/internal/route/client"
)

// Access says which clients a route is for. The zero Access is for all.
type Access struct {
	// Deny are refused, by their addresses: that of the connection, or what a trusted proxy tells. Of the others
	// Allow are served, or all where there is none.
	Allow, Deny []netip.Prefix
	// Users are those whose requests are answered; nil is everybody. Their Authorization stays here. Realm is
	// what clients are told that they are asked for: visible ASCII and spaces, without " and \.
	Users *basicauth.Users
	Realm string
}

// admits reports whether a client may use the route. One without an address, behind a socket in the
// file system, is in no network.
func (a *Access) admits(client netip.Addr) bool {
	client = client.Unmap()
	in := func(n netip.Prefix) bool { return n.Contains(client) }
	return !slices.ContainsFunc(a.Deny, in) && (len(a.Allow) == 0 || slices.ContainsFunc(a.Allow, in))
}

// guarded reports whether the route is for some addresses only.
func (a *Access) guarded() bool { return len(a.Allow)+len(a.Deny) > 0 }

// Routes match the path with dot segments resolved, and the origin gets it with them. An origin that reads it in another
// way would serve, on an open route, what a closed one is for. So a path with several readings goes to the origin only if
// the routes of all of them would let it.

// admittedHoweverRead reports whether the route of x, and those that it would have by other readings of its path, let its client in. Users are
// those of its route. A path with one reading costs next to nothing.
func (x *routed) admittedHoweverRead() bool {
	if !x.target.Ambiguous && wire.ReadAlike(x.path) || x.route.answer != nil { // then no origin reads it
		return true
	}
	method := x.routeMethod()
	readings, anywhere := wire.Readings(x.target.Path)
	if anywhere {
		return x.admittedEverywhere(method)
	}
	return !slices.ContainsFunc(readings, func(path []byte) bool { return !x.admittedAs(x.routeAt(path, method)) })
}

// admittedEverywhere reports whether the client of x is let in whatever its path.
func (x *routed) admittedEverywhere(method []byte) bool {
	for _, r := range x.settings.routes {
		if !r.takesBesidePath(&x.incoming, method) {
			continue
		}
		if !x.admittedAs(r) {
			return false
		}
		if r.TakesEveryPath() { // no route behind it matters
			return true
		}
	}
	return true
}

// admittedAs reports whether r lets x go on to an origin, as its own route does. A route that answers with an error does not; nil, no
// route, closes nothing.
func (x *routed) admittedAs(r *route) bool {
	switch {
	case r == x.route, r == nil:
		return true
	case r.answer != nil && r.answer.Status >= statusBadRequest:
		return false
	}
	return (!r.Access.guarded() || r.Access.admits(x.ClientAddress())) && (r.Access.Users == nil || r.Access.Users == x.route.Access.Users)
}

// What follows answers only users of a route that has some (RFC 7617). It comes before the cache is asked, so it holds for
// hits as for misses. Their Authorization is for us alone: newRoute has the rules for requests drop it, so that the origin does not get it
// and RFC 9111 section 3.5 has nothing to forbid. The name of the user is not in the key; only the access log gets it.
//
// A password costs tens of milliseconds. Begin has no time for that: it lets known users through, and leaves the others to Finish.

// credentials returns the value of Authorization, nil where there is none or several.
func (x *incoming) credentials() []byte {
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
		if x.refresh {
			p.refreshStale(x)
		}
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
func (x *routed) describeUser(line *accesslog.Line) {
	if x.route == nil || x.route.Access.Users == nil {
		return
	}
	if lines := x.fieldLines("Authorization"); len(lines) == 1 { // asks has forgotten it: it is not in the request to the origin
		x.folded = basicauth.AppendName(x.folded[:0], lines[0])
		line.User = x.folded
	}
}

// appendAuthenticate appends what a client is asked for that has shown no credentials, or wrong ones.
func (x *routed) appendAuthenticate(b []byte) []byte {
	b = append(b, "WWW-Authenticate: Basic realm=\""...)
	b = append(b, x.route.Access.Realm...)
	return append(b, "\", charset=\"UTF-8\"\r\n"...)
}

// withinRate reports whether x comes no sooner than the rate of its route lets its client ask,
// and refuses it otherwise. A client without an address has no rate: all that come by a
// socket in the file system would be one.
func (p *Proxy) withinRate(x *exchange) bool {
	if !x.route.Rate.Bounds() {
		return true
	}
	who, known := client.Of(x.ClientAddress())
	if !known {
		return true
	}
	wait := x.settings.rates.Take(x.route.Rate, who, x.route.metrics.ordinal, x.start)
	if wait == 0 {
		return true
	}
	p.Metrics.overRate.note()
	x.retryAfter = wait
	p.refuse(x, statusTooManyRequests, reason.Rate)
	return false
}

// refundRate takes back what withinRate has counted for x.
func (p *Proxy) refundRate(x *exchange) {
	if who, known := client.Of(x.ClientAddress()); known && x.route.Rate.Bounds() {
		x.settings.rates.Return(x.route.Rate, who, x.route.metrics.ordinal)
	}
}

// seconds is d as Retry-After says it: in whole seconds, at least one (RFC 9110 section
// 10.2.3).
func seconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }

// clientSlots counts the slots that each client has of a limited number. While few are free, one client may have no more
// than its share of them (client.Part). One counts the requests that go to origins, where a stream of HTTP/2 takes a slot as
// any request does; others count tunnels, validations in the background, and encoders.
type clientSlots struct {
	part client.Part

	mu     sync.Mutex
	shares *client.Shares
}

func newClientSlots(part client.Part) *clientSlots {
	return &clientSlots{part: part, shares: client.NewShares(part)}
}

// acquire takes a slot for a client, and reports false where that is over its share. used is how many of all slots are
// taken by any client.
func (s *clientSlots) acquire(who netip.Prefix, used, all int64) bool {
	if s.part.Off() || !who.IsValid() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares.Spent(who, 0, int(used), int(all)) {
		return false
	}
	s.shares.Take(who)
	return true
}

// release gives a slot of a client back.
func (s *clientSlots) release(who netip.Prefix) {
	if s.part.Off() || !who.IsValid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.Give(who)
}

// acquireSlot takes a slot for x among the requests that go to an origin, or refuses it.
func (p *Proxy) acquireSlot(x *exchange, d disposition) disposition {
	x.who, _ = client.Of(x.ClientAddress())
	x.holds, x.counted, x.busy = true, true, true
	x.route.metrics.busy.Add(1)
	n, all := p.forwarding.Add(1), int64(x.settings.RequestsInFlight)
	switch {
	case !p.slots.acquire(x.who, n-1, all):
		p.Metrics.overShare.note()
		p.refuse(x, statusTooManyRequests, reason.ClientShare)
		return refused
	case n > all:
		p.slots.release(x.who)
		p.Metrics.overload.note()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
		return refused
	}
	x.placed = true
	x.presence = p.watch.Attend(x.req.Conn)
	return d
}

// releaseSlot gives back what acquireSlot took. It may be called again.
func (p *Proxy) releaseSlot(x *exchange) {
	if x.counted {
		p.forwarding.Add(-1)
	}
	x.presence.Release()
	if x.placed {
		p.slots.release(x.who)
	}
	x.counted, x.placed = false, false
}

// acquireTunnel takes a slot for x among the tunnels before the origin is asked for an upgrade, or refuses it. A request that has
// become a tunnel gives its slot among the requests back.
func (p *Proxy) acquireTunnel(x *exchange) bool {
	n, all := p.tunnels.open.Add(1), int64(x.settings.Tunnels)
	switch {
	case !p.tunnels.shares.acquire(x.who, n-1, all):
		p.tunnels.open.Add(-1)
		p.Metrics.overTunnelsShare.note()
		p.refuse(x, statusTooManyRequests, reason.ClientShare)
		return false
	case n > all:
		p.tunnels.shares.release(x.who)
		p.tunnels.open.Add(-1)
		p.Metrics.overTunnels.note()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
		return false
	}
	x.tunnels = true
	return true
}

// releaseTunnel gives back what acquireTunnel took. It may be called again, and for any
// exchange.
func (p *Proxy) releaseTunnel(x *exchange) {
	if x.tunnels {
		p.tunnels.open.Add(-1)
		p.tunnels.shares.release(x.who)
		x.tunnels = false
	}
}
