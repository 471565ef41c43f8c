package edge

import (
	"crypto/rand"
	"fmt"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/proxy/compress"
	"edgeproxy/internal/route/basicauth"
	"edgeproxy/internal/route/rewrite"
)

// This file translates the configuration into each room's own options. No room
// knows the file's format.

func (e *Edge) cacheOptions() cache.Options {
	c := e.config
	o := cache.Options{
		MaxBytes: int64(c.Cache.Memory.MaxBytes), MaxObjectBytes: int64(c.Cache.Memory.MaxObjectBytes),
		StageBytes: int64(c.Stage()), Eviction: c.Cache.Memory.Eviction, Optimise: c.Cache.Memory.Optimise,
		MaxVariants: c.Limits.MaxVariants, Pinned: e.pinned, Metrics: cache.NewMetrics(e.registry), Now: time.Now,
	}
	if e.disk != nil {
		o.Disk, o.MaxDiskObjectBytes = e.disk, int64(c.Cache.Disk.MaxObjectBytes)
	}
	return o
}

// admissionOptions asks for the filters that routes use, and for no others.
func (e *Edge) admissionOptions(seed uint64, restore *admission.State) admission.Options {
	o := admission.Options{
		TierBytes: e.config.GatedTierBytes(), Held: e.gatedTierHeld, Guard: e.panics.Quietly, MoreThan: e.config.LargestMoreThan(),
		OnEarlyRotation: func(filter string, age time.Duration) {
			e.log.Warn("filter is full early: the window is shorter than configured; raise capacity or lower rotate_every",
				"filter", filter, "age", age.Round(time.Millisecond).String())
		},
		OnFit: func(filter string, objects, sightings int64) {
			e.log.Info("the window of the filter is fitted to the objects that the cache holds when it is full",
				"filter", filter, "objects", objects, "sightings", sightings)
		},
	}
	o.WarmingUp = func() bool {
		below := e.now.Load().config.Admission.WarmUpBelow
		return below > 0 && e.gatedTierFill() < below
	}
	if path := e.config.Admission.State; path != "" {
		o.Restore = restore
		o.State = &admission.StateOptions{Path: path, Seed: seed, OnError: func(err error) {
			e.log.Error("sightings were not saved", "file", path, "error", err)
		}}
	}
	for _, r := range e.config.Routes {
		switch r.Admission.Policy.Memory() {
		case policy.Seen:
			o.SecondHit = new(e.config.Admission.SecondHit)
		case policy.Counted:
			o.Counting = new(e.config.Admission.Counting.Window)
		case policy.NoMemory:
		}
	}
	if o.SecondHit == nil && o.Counting == nil {
		restore.Close() // nothing is to be saved: the sightings of before stay in the file as they are
		o.State, o.Restore = nil, nil
	}
	return o
}

// routes builds the routes of c to these origins.
func routes(c *config.Config, origins []liveOrigin) ([]proxy.Route, error) {
	byName := make(map[string]liveOrigin, len(origins))
	for _, o := range origins {
		byName[o.config.Name] = o
	}
	routes := make([]proxy.Route, 0, len(c.Routes))
	users, read := map[string]*basicauth.Users{}, map[string]*proxy.ErrorPage{}
	for i := range c.Routes {
		r := &c.Routes[i]
		access, err := accessOf(&r.Access, users)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Name, err)
		}
		pages, err := errorPages(r, read)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Name, err)
		}
		fields := r.HeaderRules()
		to := byName[r.Origin] // the zero value for a route that answers itself
		routes = append(routes, proxy.Route{
			ErrorPages: pages,
			Connect:    r.ConnectTimeout, FirstByte: r.FirstByteTimeout, Idle: r.IdleTimeout, Total: r.TotalTimeout, Rewrite: rewriteRule(r, &to.config), Answer: ownAnswer(r), Access: access,
			Name: r.Name, Match: r.Match,
			Origin: to.origin, HostHeader: fixedHost(&to.config), Rule: r.Admission,
			Request: fields.Request, Response: fields.Response, Generated: fields.Generated, UnusualNames: r.UnusualNames,
			AnyLanguageOrder: c.Cache.AnyLanguageOrder, Caching: r.Cache, AllowAmbiguousPath: r.AllowAmbiguousPath,
			Compress: compress.Rules(r.Compress), Log: r.AccessLog, Rate: r.Rate,
		})
	}
	return routes, nil
}

// ownAnswer returns the response that a route generates itself (redirect or respond), nil if it has an origin.
func ownAnswer(r *config.Route) *proxy.OwnAnswer {
	switch {
	case r.Redirect.To != "":
		return &proxy.OwnAnswer{Status: r.Redirect.Status, Location: r.Location()}
	case r.Respond.Status != 0:
		return &proxy.OwnAnswer{Status: r.Respond.Status, Fields: r.AnswerFields(), Body: []byte(r.Respond.Body)}
	}
	return nil
}

// fixedHost returns the Host that o gets instead of the client's or its server's, "" if it gets one of these.
func fixedHost(o *config.Origin) string {
	if o.HostHeader == config.HostClient || o.HostHeader == config.HostServer {
		return ""
	}
	return o.HostHeader
}

// rewriteRule returns how a route changes the target and host that it sends to its origin; nil: it changes nothing.
func rewriteRule(r *config.Route, to *config.Origin) *rewrite.Rule {
	if !r.Rewrite.Changes() {
		return nil
	}
	var hosts []string
	for _, s := range to.Servers {
		hosts = append(hosts, s.Host)
	}
	return rewrite.New(r.Rewrite, hosts)
}

func (e *Edge) proxyOptions(hasher cache.Hasher, first *live) proxy.Options {
	c := e.config
	o := proxy.Options{
		Node: c.Node.Name, Instance: rand.Text(), Live: liveOptions(first), Store: e.store, Hasher: hasher, Purges: e.purges, Gate: e.gate, Shadow: e.shadow,
		FixedLimits: c.Limits.FixedLimits, MaxObjectBytes: int64(c.Cache.Memory.MaxObjectBytes), WriteIdleTimeout: writeIdleTimeout(c),
		Sends: e.sends, Copies: e.copies, Spool: e.spool,
		Challenge: e.challenge(), NothingStored: e.disk != nil && e.disk.Complete() && e.disk.Stats().Segments == 0,
		AccessLog: e.access, Spans: e.spans, Panics: e.panics, Log: e.log, Metrics: proxy.NewMetrics(e.registry, proxy.MetricsOptions{RouteLabel: e.config.Metrics.RouteLabel}),
	}
	if e.peers != nil {
		o.PeerOf = e.peers.Of
	}
	return o
}

// liveOptions are what a reload changes in a running proxy.
func liveOptions(from *live) proxy.Live {
	c := from.config
	return proxy.Live{
		Limits: c.Limits.Limits, Collapse: c.Cache.Collapse, Routes: from.routes, Generated: c.HeaderRules().Generated,
		PurgeAllow: c.Purge.Allow, PurgeToken: from.purges, CacheStatus: c.CacheStatus,
		LogFormat: c.AccessLog.Format.Format(c.AccessLog.Template), LogSample: c.AccessLog.Sample, Sampler: sampler(&c.Tracing),
		Top: c.Metrics.Top, CountedHosts: c.Metrics.Hosts,
	}
}
