package config

import "log/slog"

// config is the whole format: every key is listed here or below, those that are
// not supported yet behind their section's table.
func (d *decoder) config(c *Config) func(node) {
	return d.section(keys{
		"node":      d.section(keys{"name": d.text(&c.Node.Name)}),
		"listen":    elements(d, "want a list of addresses", &c.Listen, d.listen),
		"admin":     d.admin(&c.Admin),
		"tls":       d.tls(&c.TLS),
		"metrics":   d.section(keys{"address": d.text(&c.Metrics.Address)}),
		"origins":   d.origins(c),
		"routes":    elements(d, "want a list of routes", &c.Routes, d.route),
		"admission": d.admission(&c.Admission),
		"cache":     d.cache(&c.Cache),
		"purge":     d.purge(&c.Purge),
		"limits":    d.limits(&c.Limits),
		"shutdown": d.section(keys{
			"drain_delay":   d.duration(&c.Shutdown.DrainDelay),
			"drain_timeout": d.duration(&c.Shutdown.DrainTimeout),
		}),
		"cache_status": d.section(keys{
			"send":    word(d, &c.CacheStatus.Send, []Send{SendAll, SendTrusted, SendNone}),
			"trusted": elements(d, "want a list, such as [10.0.0.0/8]", &c.CacheStatus.Trusted, d.network),
		}),
		"log": d.section(keys{
			"level":  d.level(&c.Log.Level),
			"format": word(d, &c.Log.Format, []Format{FormatJSON, FormatText}),
		}),
		"access_log": d.accessLog(&c.AccessLog),
	})
}

func (d *decoder) route(r *Route) func(node) {
	r.Match, r.ownRate = defaultMatch(), defaultLimits().Rate
	return d.section(keys{
		"name": d.text(&r.Name),
		"match": d.section(keys{
			"hosts":       elements(d, `want a list, such as ["*.example.com"]`, &r.Match.Hosts, d.host),
			"path_prefix": d.text(&r.Match.PathPrefix),
		}),
		"origin": d.text(&r.Origin),
		"admission": d.section(keys{
			"policy":     d.policy(&r.own.Policy),
			"more_than":  d.integer(&r.own.MoreThan),
			"second_hit": d.processWide(),
			"counting":   d.processWide(),
		}),
		"cache":                d.routeCache(&r.ownCache),
		"allow_ambiguous_path": d.boolean(&r.AllowAmbiguousPath),
		"unusual_field_names":  d.unusualNames(&r.UnusualNames),
		"headers":              d.section(keys{"request": d.fieldRules(&r.Headers.Request), "response": d.fieldRules(&r.Headers.Response)}),
		"limits":               d.routeLimits(&r.ownRate),
	}, "access_log")
}

// routeCache is the cache section of a route.
func (d *decoder) routeCache(c *Caching) func(node) {
	known := d.cachingKeys(c)
	known["any_language_order"] = func(n node) {
		d.failAs(n.path, "", "want it in the cache section for all routes")
	}
	return d.section(known, "collapse", "uncacheable_for", "memory", "disk")
}

func (d *decoder) host(p *HostPattern) func(node) {
	return converted(d, p, wantPattern, parsePattern)
}

// processWide refuses what a route cannot have of its own.
func (d *decoder) processWide() func(node) {
	return func(n node) {
		d.failAs(n.path, "", "want it in the admission section: a route has only policy and more_than of its own, the filters are process-wide")
	}
}

func (d *decoder) policy(dst *Policy) func(node) {
	return word(d, dst, policies())
}

// policies returns every policy.
func policies() []Policy {
	return []Policy{PolicyAlways, PolicySecondHit, PolicyCounting, PolicyNever}
}

func (d *decoder) admission(a *Admission) func(node) {
	counting := d.window(&a.Counting.Window)
	counting["more_than"] = d.integer(&a.Counting.MoreThan)
	return d.section(keys{
		"policy":     d.policy(&a.Policy),
		"second_hit": d.section(d.window(&a.SecondHit)),
		"counting":   d.section(counting),
		"open_below": d.ratio(&a.OpenBelow),
		"state":      d.text(&a.State),
		"shadow":     elements(d, "want a list, such as [{policy: always}]", &a.Shadow, d.shadow),
	})
}

func (d *decoder) shadow(r *Rule) func(node) {
	return d.section(keys{
		"policy":    d.policy(&r.Policy),
		"more_than": d.integer(&r.MoreThan),
	})
}

func (d *decoder) window(w *Window) keys {
	return keys{
		"window":              word(d, &w.Mode, []WindowMode{WindowAuto, WindowFixed}),
		"generations":         d.integer(&w.Generations),
		"rotate_every":        d.duration(&w.RotateEvery),
		"capacity":            d.integer(&w.Capacity),
		"false_positive_rate": d.ratio(&w.FalsePositiveRate),
	}
}

func (d *decoder) cache(c *Cache) func(node) { return d.section(d.cacheKeys(c), "disk") }

func (d *decoder) cacheKeys(c *Cache) keys {
	known := d.cachingKeys(&c.Caching)
	known["collapse"] = d.section(keys{"wait": d.duration(&c.CollapseWait)})
	known["any_language_order"] = d.boolean(&c.AnyLanguageOrder)
	known["uncacheable_for"] = d.duration(&c.UncacheableFor)
	known["memory"] = d.section(keys{
		"max_bytes":        d.size(&c.Memory.MaxBytes),
		"max_object_bytes": d.size(&c.Memory.MaxObjectBytes),
		"stage_bytes":      d.size(&c.Memory.StageBytes),
	})
	return known
}

func (d *decoder) limits(l *Limits) func(node) { return d.section(d.limitKeys(l)) }

func (d *decoder) limitKeys(l *Limits) keys {
	return keys{
		"connections_per_address": d.integer(&l.PerAddress),
		"header_bytes":            d.size(&l.HeaderBytes),
		"header_count":            d.integer(&l.HeaderCount),
		"target_bytes":            d.size(&l.TargetBytes),
		"body_bytes":              d.size(&l.BodyBytes),
		"header_timeout":          d.duration(&l.HeaderTimeout),
		"read_idle":               d.duration(&l.ReadIdle),
		"write_idle":              d.duration(&l.WriteIdle),
		"send_rate":               d.pace(&l.SendRate),
		"receive_rate":            d.pace(&l.ReceiveRate),
		"request_buffer":          d.size(&l.RequestBuffer),
		"response_buffer":         d.size(&l.ResponseBuffer),
		"spool":                   d.text(&l.Spool),
		"spool_bytes":             d.size(&l.SpoolBytes),
		"pinned_bytes":            d.size(&l.PinnedBytes),
		"upgrade_idle":            d.duration(&l.UpgradeIdle),
		"keepalive":               d.duration(&l.Keepalive),
		"connections":             d.integer(&l.Connections),
		"requests_in_flight":      d.integer(&l.RequestsInFlight),
		"tunnels":                 d.integer(&l.Tunnels),
		"inflight_bytes":          d.size(&l.InflightBytes),
		"variants":                d.integer(&l.Variants),
		"ranges":                  d.integer(&l.Ranges),
		"inflight_share":          d.ratio(&l.InflightShare),
		"origin_share":            d.ratio(&l.OriginShare),
		"rate":                    d.rate(&l.Rate),
	}
}

// level takes the names of slog's levels, in lower case.
func (d *decoder) level(dst *slog.Level) func(node) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	return func(n node) {
		var name string
		word(d, &name, []string{"debug", "info", "warn", "error"})(n)
		if level, ok := levels[name]; ok {
			*dst = level
		}
	}
}

// accessLog takes one format and one share only, so neither is kept.
func (d *decoder) accessLog(a *AccessLog) func(node) {
	return d.section(keys{
		"path":   d.text(&a.Path),
		"format": d.only("json"),
		"sample": func(n node) {
			share := 1.0
			if d.ratio(&share)(n); share != 1 {
				d.fail(n.path, notYet+", want 1.0")
			}
		},
	})
}

// only takes one word, for the others are not supported yet.
func (d *decoder) only(single string) func(node) {
	return func(n node) {
		if s, _, ok := d.scalar(n, "want "+single); ok && s != single {
			d.fail(n.path, notYet+", want "+single)
		}
	}
}
