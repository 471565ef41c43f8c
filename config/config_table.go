package config

import (
	"log/slog"
	"slices"
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/route/setting"
)

// table is the whole format: every key is in it or in a table below it.
func (c *Config) table() table {
	return slices.Concat(table{
		section("node", c.Node.table, "The name of this process."),
		restart("listen", &items[Listen]{
			field: &c.Listen, byDefault: []Listen{{Address: "127.0.0.1:8080"}}, want: "must be a list of addresses", tableOf: (*Listen).table,
			wantElement: `must be a section, such as {address: ":8080"}`,
		}, "Where clients are served.").asBasic(),
		live(includeKey, included(), "Further files with routes and origins, or folders of which all *.yaml are read, sorted by name; relative to this file. Their routes come behind those of this file.").asOptional().withExample("sites"),
		section("admin", c.Admin.table, "The listener for operators: health, metrics, purges."),
		section("tls", c.TLS.table, "Certificates for listeners with tls: true."),
		section("metrics", c.Metrics.table, "What /metrics and /top show, and a listener for health and metrics only."),
		live("origins", &originSections{&c.Origins}, "Where responses come from, by name.").asRequired().asBasic(),
		live("routes", &routeList{items[Route]{
			field: &c.Routes, want: wantRoutes, tableOf: (*Route).table, key: func(r *Route) string { return r.Name },
		}}, "The first route that matches is used; no match is a 404. Without routes, all requests go to the only origin.").asBasic(),
	}, c.Inherited.table(), misplacedTimeouts(), table{
		section("admission", c.Admission.table, "Which storable responses are stored, by how often they are requested."),
		section("cache", c.Cache.table, "What is stored, for how long, and where."),
		section("compress", func() table { return compressTable(&c.Compress) }, "Responses that origins send without a content coding are compressed once, before they are stored. Do not use it for pages that contain both a secret and data that a client sent (BREACH)."),
		section("purge", c.Purge.table, "Purges on the listeners for clients. The admin listener has others."),
		section("fleet", c.Fleet.table, "What several edges of one site have in common."),
		section("limits", c.Limits.table, "Limits for clients."),
		section("shutdown", c.Shutdown.table, "How the process stops."),
		section("cache_status", func() table { return cacheStatusTable(&c.CacheStatus) }, "The header Cache-Status (RFC 9211)."),
		section("log", c.Log.table, "The program's own log, on standard error."),
		section("access_log", c.AccessLog.table, "The record of requests."),
		section("tracing", c.Tracing.table, "Spans of requests, for OpenTelemetry."),
	})
}

func (n *Node) table() table {
	return table{
		restart("name", textual(&n.Name, "edgeproxy").withBounds("a letter, then letters, digits and -._, at most 64"),
			"The name in Via, Cache-Status and CDN-Loop."),
	}
}

func (r *Route) table() table {
	return slices.Concat(table{
		live("name", textual(&r.Name, ""), "Unique; the label in metrics.").asRequired().asBasic(),
		section("match", func() table { return matchTable(&r.Match) }, "Which requests the route is for; a request must meet all conditions."),
		live("origin", textual(&r.Origin, ""), "The name of an origin. A route without one needs redirect or respond.").asBasic(),
		live("connect_timeout", duration(&r.ConnectTimeout, 0), "How long a connection for this route may take; 0s uses the origin's setting."),
		live("first_byte_timeout", duration(&r.FirstByteTimeout, 0), "How long the origin may take to send the head of the response; 0s uses the origin's setting."),
		live("idle_timeout", duration(&r.IdleTimeout, 0), "How long the origin may pause between two reads, or writes, of a body; 0s uses the origin's setting."),
		section("rewrite", func() table { return rewriteTable(&r.Rewrite) }, "Changes the path that is sent to the origin.").asInline(),
		live(routesKey, nestedRoutes{}, "Routes within this one, which come before it: they have its hosts, and what they do not say themselves they have from it, but not its name, rewrite, redirect and respond. Their names are its name, a dot, and their own.").asOptional().withExample("[{name: static, match: {path_prefix: /static}, cache: {default_ttl: 1h}}]"),
		section("redirect", r.Redirect.table, "Sends clients elsewhere.").asInline(),
		section("respond", r.Respond.table, "A fixed answer.").asInline(),
	}, r.ownInherited.table().asOverrides(), table{
		section("admission", r.ownAdmission, "Settings of this route; all routes share the filters.").asOverride().withExample("{policy: counting, more_than: 2}"),
		section("cache", r.ownCaching, "All of cache, key by key, but any_language_order, collapse, uncacheable_for, memory and disk.").asOverride().withExample("{default_ttl: 10s}"),
		section("compress", func() table { return compressTable(&r.ownCompress) }, "Settings of this route in place of those of compress, key by key.").asOverride().withExample("{codings: []}"),
		section("limits", func() table { return routeLimits(&r.ownRate) }, "The rate of this route, key by key; no other limit is possible.").asOverride().withExample("{rate: {requests: 5}}"),
		section("access_log", func() table { return routeLogTable(&r.ownLog) }, "Whether and how many requests of this route are logged, key by key.").asOverride().withExample("{enabled: false}"),
	})
}

// ownAdmission is the admission section of a route.
func (r *Route) ownAdmission() table {
	out := ruleTable(&r.ownRule)
	for _, p := range policy.All() {
		if name := p.Section(); name != "" {
			out = append(out, misplaced(name, "belongs in the admission section: a route may have only policy and more_than, all routes share the filters"))
		}
	}
	return out
}

// ownCaching is the cache section of a route.
func (r *Route) ownCaching() table {
	out := append(cachingTable(&r.ownCache), misplaced("any_language_order", "belongs in the cache section: it is the same for all routes"))
	for _, name := range []string{"collapse", "uncacheable_for", "memory"} {
		out = append(out, notSupported(name))
	}
	return append(out, misplaced("disk", "belongs in the cache section: all routes share the disk"))
}

func (c *Cache) table() table {
	return append(cachingTable(&c.Caching),
		live("any_language_order", boolean(&c.AnyLanguageOrder, false), "true ignores the order of languages: Accept-Language: en, de selects the variant of de, en."),
		section("collapse", func() table {
			return table{
				live("wait", duration(&c.CollapseWait, 5*time.Second).moreThan(0), "If no response head has come by then, one waiting request starts another fetch; the others still wait."),
			}
		}, "Requests for one key share a fetch."),
		live("uncacheable_for", duration(&c.UncacheableFor, 10*time.Second), "How long requests for a key do not wait for each other after a response that was not storable. An error does not count."),
		section("memory", c.Memory.table, "What is kept in memory."),
		section("disk", c.Disk.table, "What is kept on a disk, behind the memory. It outlives a restart."),
	)
}

func (m *Memory) table() table {
	return table{
		restart("max_bytes", size(&m.MaxBytes, 256*MiB).atLeast(MiB), "The size of the whole tier. The default is at most 40 % of the memory that the cgroup allows.").asBasic(),
		restart("max_object_bytes", size(&m.MaxObjectBytes, 8*MiB).atLeast(1), "The largest body; at most a quarter of max_bytes without stage_bytes.").asDependent(),
		restart("stage_bytes", stage(&m.StageBytes).atLeast(minStageBytes).zero().withError("must be auto, 0B for none, or at least "+minStageBytes.String()).withBounds("at most half of max_bytes"),
			"The part of max_bytes for responses requested once: the second request is then a hit. auto is a tenth of it, less if four times max_object_bytes need the room.").asDependent(),
		restart("eviction", enum(&m.Eviction, cache.SizeAware, cache.SizeAware, cache.Recency, cache.Ristretto),
			"How memory makes room. size-aware goes by uses, recency and size, and does not store what is worth less than what would have to go for it. recency gives up what was not used for the longest time, ristretto what is asked for least. From and to ristretto takes a restart, other changes do not.").
			liveWhere(func(from, to string) bool {
				return from != cache.Ristretto.String() && to != cache.Ristretto.String()
			}),
		live("optimise", enum(&m.Optimise, cache.Balanced, cache.ForHits, cache.Balanced, cache.ForByteHits),
			"What size-aware is for: many hits, many bytes of hits, or both."),
	}
}

func (s *Shutdown) table() table {
	return table{
		live("drain_delay", duration(&s.DrainDelay, 0), "How long /readyz answers 503 while the process still serves."),
		live("drain_timeout", duration(&s.DrainTimeout, 30*time.Second), "How long it then waits for requests under way."),
	}
}

func cacheStatusTable(s *setting.CacheStatus) table {
	return table{
		live("send", enum(&s.Send, setting.StatusToAll, setting.StatusToAll, setting.StatusToTrusted, setting.StatusToNone), "Which clients get it. With trusted, other clients are told only hit or fwd."),
		live("trusted", networks(&s.Trusted, "must be a list, such as [10.0.0.0/8]"), "Clients that get all of it, with send: trusted.").withExample("[10.0.0.0/8]"),
	}
}

func (l *Log) table() table {
	return table{
		live("level", enum(&l.Level, slog.LevelInfo, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError), "The lowest level that is written."),
		restart("format", enum(&l.Format, FormatJSON, FormatJSON, FormatText), "The form of a line."),
	}
}
