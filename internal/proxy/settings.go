package proxy

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"

	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/ops/top"
	"edgeproxy/internal/route/basicauth"
	"edgeproxy/internal/route/client"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/setting"
)

// Live are the options that Swap can change while requests are served.
type Live struct {
	setting.Limits
	setting.Collapse

	// Routes in the order in which they match.
	Routes []Route
	// Generated are the rules for the fields of our own answers to requests whose route is not known. They are made by fieldrules.ForGenerated.
	Generated fieldrules.Rules
	// PurgeAllow lets these client addresses purge by PURGE, BAN and the like, and PurgeToken those who
	// have it. Where both are there, both are needed. Without either, these are methods like others and go to the origin.
	PurgeAllow []netip.Prefix
	PurgeToken string
	// CacheStatus says which clients are told by Cache-Status (RFC 9211).
	CacheStatus setting.CacheStatus
	// LogFormat is how a line of the access log is written; nil is JSON. LogSample is the share, 0 to 1, of the requests without a
	// route that have one.
	LogFormat *accesslog.Format
	LogSample float64
	// Top counts the hosts and URLs that most of the traffic goes to. CountedHosts are the hosts that have series of
	// their own, the first that a request matches; the label is the text of the host, and none is "other". None is no such series.
	Top          top.Options
	CountedHosts []routing.Host
	// Sampler says which requests are traced, into Options.Spans; nil is none.
	Sampler *spans.Sampler
}

// settings are what a request goes by from its beginning to its end, and what goes on in
// the background for it. They do not change.
type settings struct {
	Live

	routes        []*route
	generated     fieldrules.Lines // the fields of texts of ours, where no route is known
	statusTrusted *forwarded.Trusted
	purgeToken    [sha256.Size]byte // the digest of PurgeToken
	rates         *rate.Table       // nil: no route has had a rate yet
	top           *top.Table        // nil: nothing is counted by host and URL
	hosts         *countedHosts
	passwords     *basicauth.Checker // nil: no route has had users yet
	encoders      *clientSlots       // one client's slots, among compress.MostOpen
}

// newSettings checks l and makes settings of it that come after before; nil is none.
func newSettings(o *Options, l Live, before *settings) (*settings, error) {
	routes, err := compile(o, l.Routes)
	if err != nil {
		return nil, err
	}
	s := &settings{Live: l, routes: routes, generated: fieldrules.OfTexts(&l.Generated), statusTrusted: forwarded.New(l.CacheStatus.Trusted), purgeToken: sha256.Sum256([]byte(l.PurgeToken))}
	if l.Top.Entries > 0 && l.Top.Window <= 0 {
		return nil, fmt.Errorf("top: window %v: must be more than 0", l.Top.Window)
	}
	if before == nil {
		before = &settings{}
	}
	if s.encoders = before.encoders; s.encoders == nil {
		s.encoders = newClientSlots(client.Part(o.OriginShare))
	}
	for _, r := range routes {
		r.encoders = s.encoders
	}
	s.rates, s.passwords, s.top, s.hosts = before.rates, before.passwords, newTop(l.Top, before.top), newCountedHosts(l.CountedHosts, o.Metrics)
	if s.rates == nil && slices.ContainsFunc(routes, func(r *route) bool { return r.Rate.Bounds() }) {
		s.rates = rate.New(now())
	}
	if s.passwords == nil && slices.ContainsFunc(routes, func(r *route) bool { return r.Access.Users != nil }) {
		s.passwords = basicauth.NewChecker()
	}
	return s, nil
}

// compile checks the routes and gives each its counters.
func compile(o *Options, routes []Route) ([]*route, error) {
	for i := range routes {
		r := &routes[i]
		if err := o.Gate.Supports(r.Rule); err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Name, err)
		}
		if r.SliceBytes < 0 || r.SliceBytes > o.MaxObjectBytes {
			return nil, fmt.Errorf("route %s: slices of %d bytes: must be at most %d, the size of the largest stored body", r.Name, r.SliceBytes, o.MaxObjectBytes)
		}
	}
	compiled := make([]*route, len(routes))
	for i := range routes {
		var err error
		if compiled[i], err = newRoute(&routes[i], o.Metrics); err != nil {
			return nil, err
		}
	}
	names := fieldsOfRoutes(compiled)
	for _, r := range compiled {
		r.selecting, r.all = names, compiled
	}
	if slices.ContainsFunc(compiled, (*route).closed) { // a path of the one route may be read as one of the other
		for _, r := range compiled {
			r.uses |= usesGuards
		}
	}
	return compiled, nil
}

// Swap has the requests that come from now on go by l. Those under way, and what goes on
// for them in the background, keep the settings they began with. With an error nothing
// changes. A route that has the name of one before goes on with its counters, and with what
// its clients have used of their rate.
func (p *Proxy) Swap(l Live) error {
	p.swapping.Lock()
	defer p.swapping.Unlock()
	next, err := newSettings(&p.Options, l, p.settings.Load())
	if err != nil {
		return err
	}
	p.settings.Store(next)
	p.Metrics.inForce(next.routes)
	p.Metrics.hostsInForce(next.hosts)
	return nil
}
