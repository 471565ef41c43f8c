package proxy

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/proxy/internal/purgedialect"
	"edgeproxy/internal/route/routing"
)

// This file answers purges that come among the requests of clients, as content management systems send them. They reach what is stored
// for their Host, by http and https, and nothing else. What they say is read by internal/proxy/internal/purgedialect.

// purges reports whether x is a purge for us, and not for the origin.
func (x *incoming) purges() bool {
	if len(x.settings.PurgeAllow) == 0 && x.settings.PurgeToken == "" || x.asks.get || x.asks.head {
		return false
	}
	return purgedialect.IsPurge(string(x.method))
}

// purgedTarget is what a purge asks for whose target is none, as err says: a pattern, or a URL of the other scheme. Its
// route is that of the path /.
func purgedTarget(raw []byte, err error) (wire.Target, error) {
	if len(raw) == 0 || slices.ContainsFunc(raw, func(c byte) bool { return c <= ' ' || c == 0x7f || c == '#' }) {
		return wire.Target{}, err
	}
	root := []byte{'/'}
	return wire.Target{Raw: raw, Normal: root, Path: root}, nil
}

// purgeRequested answers a purge.
func (p *Proxy) purgeRequested(x *exchange) disposition {
	if status, why := x.mayPurge(); status != 0 {
		p.refuse(x, status, why)
		return refused
	}
	if x.route == nil && !x.findSite() {
		p.refuse(x, statusNotFound, reason.NoRoute)
		return refused
	}
	steps, err := p.requestedSteps(x)
	if err != nil {
		p.refuse(x, statusBadRequest, reason.BadRequest)
		x.explained = "Bad Request: nothing is purged: " + err.Error()
		return refused
	}
	for _, step := range steps {
		step()
		p.purgeCount.Add(1)
	}
	x.route.metrics.invalidations[causePurgeMethod].Add(int64(len(steps)))
	x.answerText(statusOK, resultPass)
	if p.Purges.Keep() != nil { // it is done, and may come back; the table has told the log
		x.status = statusInternalServerError
	}
	return refused
}

// mayPurge returns the status to refuse a purge with, 0 if the client may do that: from its address and with the token, where each is
// set. The address is that of the connection (peerAddress), for a field would let everybody.
func (x *incoming) mayPurge() (status int, why reason.Reason) {
	from := x.peerAddress()
	switch s := x.settings; {
	case len(s.PurgeAllow) > 0 && !slices.ContainsFunc(s.PurgeAllow, func(n netip.Prefix) bool { return n.Contains(from) }):
		return statusForbidden, reason.Method
	case s.PurgeToken != "" && !x.hasBearer(s.purgeToken):
		return statusUnauthorized, reason.Unauthenticated
	}
	return 0, reason.None
}

// hasBearer reports whether x has the token with this digest in its only Authorization (RFC 6750 section 2.1). The time of the comparison
// reveals neither the token nor its length.
func (x *incoming) hasBearer(digest [sha256.Size]byte) bool {
	scheme, token, ok := bytes.Cut(x.credentials(), []byte{' '})
	if !ok || !strings.EqualFold(string(scheme), "Bearer") {
		return false
	}
	given := sha256.Sum256(bytes.TrimLeft(token, " "))
	return subtle.ConstantTimeCompare(given[:], digest[:]) == 1
}

// findSite finds a route for the host of x by either scheme, as its path may have none, and reports whether there is one. Without, nothing
// can be stored for the host.
func (x *routed) findSite() bool {
	for _, r := range x.settings.routes {
		if r.TakesSite(schemePlain, x.host) || r.TakesSite(schemeSecure, x.host) {
			x.route = r
			return true
		}
	}
	return false
}

// requestedSteps returns what x purges. An error says what of it is not understood.
func (p *Proxy) requestedSteps(x *exchange) (steps []purgeStep, err error) {
	sites, err := sitesOf(x.host, x.scheme, []string{schemePlain, schemeSecure})
	if err != nil {
		return nil, err
	}
	o, err := purgedialect.Parse(&purgedialect.Request{
		Method: string(x.method), Target: string(x.target.Raw), Fields: x.copiedFields(),
		HasContent: x.asks.body && x.req.Body.Length() != 0,
		SameHost:   func(host string) bool { return isSiteOf(sites, host) },
	})
	if err != nil {
		return nil, err
	}
	if (o.All || len(o.Tags)+len(o.SoftTags)+len(o.Prefixes) > 0) && !p.knowsSite(x) {
		return nil, fmt.Errorf("host: %q: must be the host that browsers ask for, as a purge reaches no other: nothing was stored for this one since the start", x.host)
	}
	for _, raw := range o.URLs {
		target, err := wire.ParseTarget([]byte(raw), x.scheme, false, new([]byte))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", raw, err)
		}
		steps = append(steps, p.urlStep(sites, target, o.Soft))
	}
	for _, raw := range o.Prefixes {
		target, err := wire.ParseTarget([]byte(raw), x.scheme, false, new([]byte))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", raw, err)
		}
		steps = append(steps, p.prefixStep(sites, target, o.Soft))
	}
	return append(steps, p.hostSteps(sites, &o)...), nil
}

// hostSteps returns the steps of o that go by host alone: a host has its marks under any scheme.
func (p *Proxy) hostSteps(sites []site, o *purgedialect.Order) (steps []purgeStep) {
	var hosts [][]byte
	for _, s := range sites {
		if !slices.ContainsFunc(hosts, func(h []byte) bool { return bytes.Equal(h, s.host) }) {
			hosts = append(hosts, s.host)
		}
	}
	onAll := func(mark func(host []byte)) {
		steps = append(steps, uncounted(func() {
			for _, h := range hosts {
				mark(h)
			}
		}))
	}
	if o.All {
		onAll(func(host []byte) { p.Purges.Host(host, o.Soft) })
	}
	for _, tag := range o.Tags {
		onAll(func(host []byte) { p.Purges.HostTags(host, o.Soft, p.Purges.HashTag(tag)) })
	}
	for _, tag := range o.SoftTags {
		onAll(func(host []byte) { p.Purges.HostTags(host, true, p.Purges.HashTag(tag)) })
	}
	return steps
}

// isSiteOf reports whether a host is that of one of sites.
func isSiteOf(sites []site, host string) bool {
	return slices.ContainsFunc(sites, func(s site) bool {
		canonical, err := wire.AppendHost(nil, []byte(host), s.scheme)
		return err == nil && bytes.Equal(canonical, s.host)
	})
}

// knowsSite reports whether the Host of x may be that of a site. A program that is told the address of a cache often sends that as Host,
// and its purges would reach nothing.
func (p *Proxy) knowsSite(x *exchange) bool {
	name, _ := routing.SplitPort(x.scheme, x.host)
	return !namesNoSite(name) || p.unnamedSites.has(x.host) || slices.ContainsFunc(x.settings.routes, func(r *route) bool {
		return slices.ContainsFunc(r.Hosts, func(h routing.Host) bool { return !h.Subdomains && h.Name == string(name) })
	})
}

// namesNoSite reports whether a host without its port is an address, or a name without a dot.
func namesNoSite(name []byte) bool {
	_, err := netip.ParseAddr(strings.Trim(string(name), "[]"))
	return err == nil || bytes.IndexByte(name, '.') < 0
}

// unnamedSites are hosts without a name of their own, an address or a name without a dot, of which something was stored since the start.
// Those of sites are never here: their names say that they are sites. See knowsSite.
type unnamedSites struct {
	mu    sync.RWMutex
	hosts map[string]struct{}
}

// mostUnnamedSites bounds them, as a client may ask for any number of hosts. Beyond it none is added.
const mostUnnamedSites = 1 << 12

// note notes a host of which something is about to be stored.
func (s *unnamedSites) note(host []byte) {
	if !mayNameNoSite(host) || s.has(host) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = map[string]struct{}{}
	}
	if len(s.hosts) < mostUnnamedSites {
		s.hosts[string(host)] = struct{}{}
	}
}

// has reports whether something was stored of a host.
func (s *unnamedSites) has(host []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, known := s.hosts[string(host)]
	return known
}

// mayNameNoSite reports whether a host may be an address or a name without a dot: also of some others it says so.
func mayNameNoSite(host []byte) bool {
	if len(host) == 0 {
		return false
	}
	last := host[len(host)-1]
	return last == ']' || '0' <= last && last <= '9' || bytes.IndexByte(host, '.') < 0
}
