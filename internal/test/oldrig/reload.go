package edgetest

import (
	"cmp"
	"maps"

	"edgeproxy/config"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/setting"
)

// live is what of o a reload may change. The requests go to app.
func (o *Options) live(app *origin.Origin) (proxy.Live, error) {
	var err error
	l := proxy.Live{
		Routes: []proxy.Route{{
			Name: cmp.Or(o.Route, "default"), Match: routing.Match{Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}}, Origin: app, HostHeader: o.HostHeader,
			Rule: o.Rule, Compress: o.Compress, AllowAmbiguousPath: o.AllowAmbiguousPath, Rate: o.Rate, Log: setting.Log{Enabled: true, Sample: 1},
			AnyLanguageOrder: o.AnyLanguageOrder, UnusualNames: o.UnusualNames,
			Caching: setting.Caching{
				Options: o.Caching, Enabled: true, HonorRequest: o.HonorRequest, HonorNoStore: !o.IgnoreNoStore, Bypass: o.Bypass, Key: o.Key, SliceBytes: o.SliceBytes,
				NoVarySearch: o.NoVarySearch, StorePostAnswers: o.StorePosts, Upgrades: !o.NoUpgrades, Invalidate: o.Invalidate,
				StripCookies: o.StripCookies, KeepCookies: o.KeepCookies, SendTags: o.SendTags, TagFields: o.tagFields(),
			},
		}},
		RequestsInFlight: o.RequestsInFlight, Tunnels: o.Tunnels,
		TargetBytes: 8 << 10, HeaderCount: 100, BodyBytes: 1 << 20, Ranges: o.Ranges, RangeAmplification: max(o.RangeAmplification, 0), ReadIdleTimeout: o.ReadIdleTimeout, ReceiveRate: o.ReceiveRate, UpgradeIdleTimeout: o.UpgradeIdleTimeout,
		CollapseWait: o.CollapseWait, UncacheableFor: o.UncacheableFor, PurgeFrom: o.PurgeFrom, PurgeToken: o.PurgeToken,
		CacheStatus: true, CacheStatusBrief: o.CacheStatusTrusted != nil, CacheStatusTrusted: o.CacheStatusTrusted,
		Sampler: o.Sampler, LogFormat: o.LogFormat, LogSample: 1,
	}
	if l.Routes[0].Response, err = fieldrules.ForResponses(o.Response.Remove, o.Response.Set); err != nil {
		return l, err
	}
	if l.Routes[0].Request, err = o.requestRules("rest"); err != nil {
		return l, err
	}
	others, err := o.others(&l.Routes[0])
	l.Routes = append(others, l.Routes...)
	return l, err
}

// tagFields are the fields of responses that have tags.
func (o *Options) tagFields() []string {
	if o.TagFields == nil {
		return config.Default().Cache.TagFields
	}
	return o.TagFields
}

// others are the routes before the one for all requests.
func (o *Options) others(last *proxy.Route) (out []proxy.Route, err error) {
	for _, other := range o.Routes {
		r := *last
		r.Name = other.Name
		if r.Request, err = o.requestRules(r.Name); err != nil {
			return nil, err
		}
		for _, change := range other.Change {
			change(&r)
		}
		out = append(out, r)
	}
	return out, nil
}

// requestRules are the rules for requests of a route; where there are several, the origin is told its name.
func (o *Options) requestRules(route string) (fieldrules.Rules, error) {
	set := o.Request.Set
	if len(o.Routes) > 0 {
		if set = maps.Clone(set); set == nil {
			set = map[string]string{}
		}
		set["X-Route"] = route
	}
	return proxy.RequestRules(o.Request.Remove, o.Request.Only, set)
}

// Reload has requests that begin from now on go by what is live of o, as a reload of the
// command does. With own, they go to an origin of their own, and the one before is retired.
func (e *Edge) Reload(o *Options, own bool) error {
	app := e.origin
	if own {
		var err error
		if app, err = origin.New(o.Origin); err != nil {
			return err
		}
	}
	l, err := o.live(app)
	if err == nil {
		err = e.Proxy.Swap(l)
	}
	if err != nil {
		if own {
			app.Close()
		}
		return err
	}
	e.options = *o
	if e.Live = l; own {
		e.origin.Retire()
		e.origin, e.retired = app, append(e.retired, e.origin)
	}
	return nil
}
