package config

import (
	"log/slog"
	"slices"
	"time"
)

// table is the whole format: every key is in it or in a table that it names.
func (c *Config) table() table {
	return slices.Concat(table{
		section("node", c.Node.table(), "How this process names itself."),
		restart("listen", &items[Listen]{
			field: &c.Listen, usual: []Listen{{Address: "127.0.0.1:8080"}}, want: "want a list of addresses", of: (*Listen).table,
			hint: `want a section, such as {address: ":8080"}`,
		}, "Where clients are served.").asBasic(),
		section("admin", c.Admin.table(), "The listener for operators: health, metrics, purges."),
		section("tls", c.TLS.table(), "Certificates for listeners with tls: true."),
		section("metrics", c.Metrics.table(), "What /metrics and /top show, and a listener for health and metrics only."),
		live("origins", &originSections{&c.Origins}, "Where responses come from, by name.").asRequired().asBasic(),
		live("routes", &items[Route]{
			field: &c.Routes, want: "want a list of routes", of: (*Route).table, key: func(r *Route) string { return r.Name },
		}, "The first match wins, none is a 404. Without routes, one sends all requests to the only origin.").asBasic(),
	}, c.Inherited.table(), ofOrigins(), table{
		section("admission", c.Admission.table(), "What has to be asked for again before it is stored."),
		section("cache", c.Cache.table(), "What is stored, for how long, and where."),
		section("compress", c.Compress.table(), "Responses that origins send without a content coding are compressed, once, before they are stored. Not for pages that have a secret beside what a client sent (BREACH)."),
		section("purge", c.Purge.table(), "Purges on the listeners for clients. The admin listener has others."),
		section("limits", c.Limits.table(), "What clients may ask of the process."),
		section("shutdown", c.Shutdown.table(), "How the process leaves."),
		section("cache_status", c.CacheStatus.table(), "The header Cache-Status (RFC 9211)."),
		section("log", c.Log.table(), "The program's own log, on standard error."),
		section("access_log", c.AccessLog.table(), "The record of requests."),
		section("tracing", c.Tracing.table(), "Spans of requests, for OpenTelemetry."),
	})
}

func (n *Node) table() table {
	return table{
		restart("name", textual(&n.Name, "edgeproxy").noting("a letter, then letters, digits and -._, at most 64"),
			"The name in Via, Cache-Status and CDN-Loop."),
	}
}

func (r *Route) table() table {
	return slices.Concat(table{
		live("name", textual(&r.Name, ""), "Unique; the label in metrics.").asRequired().asBasic(),
		section("match", r.Match.table(), "Which requests the route is for; all of it has to hold."),
		live("origin", textual(&r.Origin, ""), "The name of an origin. A route without has redirect or respond.").asBasic(),
		live("connect_timeout", duration(&r.ConnectTimeout, 0), "How long a connection may take that a request of this route needs; 0s is what the origin says."),
		live("first_byte_timeout", duration(&r.FirstByteTimeout, 0), "How long the origin may take to answer this route; 0s is what the origin says."),
		live("idle_timeout", duration(&r.IdleTimeout, 0), "How long the origin may pause between two reads of a body, or two writes; 0s is what the origin says."),
		section("rewrite", r.Rewrite.table(), "What the origin is asked for in place of the path that clients ask for.").asInline(),
		section("redirect", r.Redirect.table(), "Sends clients elsewhere.").asInline(),
		section("respond", r.Respond.table(), "A fixed answer.").asInline(),
	}, r.ownInherited.table().asOverrides(), table{
		section("admission", r.ownAdmission(), "What this route does otherwise; the filters are those of all.").asOverride().such("{policy: counting, more_than: 2}"),
		section("cache", r.ownCaching(), "All of cache, key by key, but any_language_order, collapse, uncacheable_for, memory and disk.").asOverride().such("{default_ttl: 10s}"),
		section("compress", r.ownCompress.table(), "What this route does otherwise than compress says for all, key by key.").asOverride().such("{codings: []}"),
		section("limits", r.ownRate.routeLimits(), "A rate of its own, key by key; no other limit.").asOverride().such("{rate: {requests: 5}}"),
		section("access_log", r.ownLog.table(), "Whether and how many requests of this route are logged, key by key.").asOverride().such("{enabled: false}"),
	})
}

// ownAdmission is the admission section of a route.
func (r *Route) ownAdmission() table {
	out := r.own.table()
	for _, p := range policies() {
		if p.section() != "" {
			out = append(out, refused(p.section(), "want it in the admission section: a route has only policy and more_than of its own, the filters are process-wide"))
		}
	}
	return out
}

// ownCaching is the cache section of a route.
func (r *Route) ownCaching() table {
	out := append(r.ownCache.table(), refused("any_language_order", "want it in the cache section for all routes"))
	for _, name := range []string{"collapse", "uncacheable_for", "memory"} {
		out = append(out, later(name))
	}
	return append(out, refused("disk", "want it in the cache section: the disk is that of all routes"))
}

func (c *Cache) table() table {
	return append(c.Caching.table(),
		live("any_language_order", boolean(&c.AnyLanguageOrder, false), "Accept-Language: en, de selects the variant of de, en."),
		section("collapse", table{
			live("wait", duration(&c.CollapseWait, 5*time.Second).moreThan(0), "When no header has come by then, one follower leads anew and the others go on waiting."),
		}, "Requests for one key share a fetch."),
		live("uncacheable_for", duration(&c.UncacheableFor, 10*time.Second), "For so long nobody queues for a key that was not storable."),
		section("memory", c.Memory.table(), "What is kept in memory."),
		section("disk", c.Disk.table(), "What is kept on a disk, behind the memory, and outlives a restart."),
	)
}

func (m *Memory) table() table {
	return table{
		restart("max_bytes", size(&m.MaxBytes, 256*MiB).atLeast(MiB), "The size of the whole tier. Unless said, at most 40 % of the memory that the cgroup allows.").asBasic(),
		restart("max_object_bytes", size(&m.MaxObjectBytes, 8*MiB).atLeast(1), "The largest body; at most a quarter of max_bytes without stage_bytes.").asImplied(),
		restart("stage_bytes", size(&m.StageBytes, 0).atLeast(minStageBytes).zero().saying("want 0B for none, or at least "+minStageBytes.String()).noting("at most half of max_bytes"),
			"Of max_bytes, for what was sighted once: its second request is a hit.").asImplied(),
	}
}

func (s *Shutdown) table() table {
	return table{
		live("drain_delay", duration(&s.DrainDelay, 0), "For so long the process is not ready, but still serves."),
		live("drain_timeout", duration(&s.DrainTimeout, 30*time.Second), "Then it waits so long for what is under way."),
	}
}

func (s *CacheStatus) table() table {
	return table{
		live("send", words(&s.Send, SendAll, SendAll, SendTrusted, SendNone), "Which clients get it. With trusted, the others are told hit or miss only."),
		live("trusted", networks(&s.Trusted, "want a list, such as [10.0.0.0/8]"), "Clients that are told all, with send: trusted.").such("[10.0.0.0/8]"),
	}
}

func (l *Log) table() table {
	return table{
		live("level", level(&l.Level, slog.LevelInfo), "The least that is written."),
		restart("format", words(&l.Format, FormatJSON, FormatJSON, FormatText), "The form of a line."),
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
