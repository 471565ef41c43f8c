package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/setting"
)

// cachingTable is the part of the cache section that routes may have too.
func cachingTable(c *setting.Caching) table {
	return table{
		live("enabled", boolean(&c.Enabled, true), "false bypasses the cache: nothing is stored, and no fetch is shared."),
		live("default_ttl", duration(&c.DefaultTTL, 0),
			"The lifetime of a 200, 203, 301 or 308 without freshness information.").asBasic().withExample("60s"),
		section("heuristic", func() table { return heuristicTable(&c.Heuristic) }, "A lifetime from Last-Modified (RFC 9111 section 4.2.2)."),
		live("ttl_by_status", ttls(&c.TTLByStatus),
			"Lifetimes of statuses without freshness information, and the longest ones of errors with it; 0s stores no such error.").withExample("{404: 10s}"),
		live("force_ttl", duration(&c.ForcedTTL, 0),
			"A lifetime in place of the origin's, for a 200, 203, 301 or 308; 0s is off. Like all lifetimes from settings it does not apply if the request has Authorization, or a cookie that is neither stripped nor in the key."),
		live("error_max_ttl", duration(&c.ErrorMaxTTL, 10*time.Second),
			"The longest lifetime of a 4xx or 5xx other than 404, 410 and 451; 0s stores none. An error that tells of the request, such as 400 or 403, is never stored. ttl_by_status takes precedence over both."),
		live("set_cookie", enum(&c.SetCookie, rfc9111.SetCookieRefuse, rfc9111.SetCookieRefuse, rfc9111.SetCookieShared, rfc9111.SetCookieStrip, rfc9111.SetCookieStore),
			"What to do with responses that set cookies. refuse does not store them, shared stores those with public, s-maxage or CDN-Cache-Control, strip stores them without the cookies, store stores them unchanged."),
		section("bypass", func() table { return bypassTable(&c.Bypass) }, "A request with one of these bypasses the cache."),
		live("surrogate_control", boolean(&c.SurrogateControl, false),
			"true lets Surrogate-Control take precedence over Cache-Control."),
		live("tag_fields", tagFieldNames(&c.TagFields),
			"Fields of responses whose values are tags, by which edgeproxy purges. They are not forwarded.").withExample("[Surrogate-Key, X-My-Tags]"),
		live("send_tags", boolean(&c.SendTags, false),
			"true sends the tag_fields to trusted_proxies. For a shield, whose clients are edges."),
		live("no_vary_search", boolean(&c.NoVarySearch, false),
			"true applies No-Vary-Search: a response may say that other queries of its path mean the same."),
		live("honor_request_cache_control", boolean(&c.HonorRequest, false),
			"true lets clients ask for validation by Cache-Control. only-if-cached is always honoured."),
		live("honor_request_no_store", boolean(&c.HonorNoStore, true),
			"true lets a request with no-store bypass the cache; false ignores no-store."),
		live("store_post_answers", boolean(&c.StorePostAnswers, false),
			"true stores the response to a POST for later GETs, if it allows that (RFC 9110 section 9.3.3)."),
		live("upgrades", boolean(&c.Upgrades, true),
			"true forwards WebSockets and other upgrades; false treats them as ordinary requests."),
		live("invalidate", enum(&c.Invalidate, setting.InvalidateUnsafe, setting.InvalidateUnsafe, setting.InvalidateSameURL, setting.InvalidateNone),
			"What a POST, PUT or other unsafe method invalidates: unsafe follows RFC 9111 section 4.4 and RFC 9875, same_url is the URL alone."),
		section("stale", func() table { return staleTable(&c.Stale) }, "How long a stale response may be used if the origin does not say; must-revalidate takes precedence."),
		section("key", func() table { return keyTable(&c.Key) }, "What forms the cache key besides the URL."),
		live("strip_cookies", texts((*[]string)(&c.StripCookies), "cookie names", "must be a list of cookie names, such as [_ga*]"),
			"Request cookies that are removed before key, sighting and origin, but for those that bypass.cookies or key.cookies names.").withExample("[_ga*]"),
		live("keep_cookies", texts((*[]string)(&c.KeepCookies), "cookie names", "must be a list of cookie names, such as [PHPSESSID]"),
			"The only request cookies that are not removed, beside those of bypass.cookies and key.cookies; in place of strip_cookies.").withExample("[PHPSESSID, lang]"),
		live("slice", size(&c.SliceBytes, 0).withBounds("0B, or 16KiB to max_object_bytes"),
			"The size of the slices in which large objects are fetched and stored; 0B stores them whole.").withExample("1MiB"),
	}
}

// tagFieldNames is the list of fields with tags.
func tagFieldNames(field *[]string) *scalar[[]string] {
	return list(field, defaultTagFields(), "field names", "must be a list of field names, such as [Surrogate-Key, X-My-Tags]", func(s *string) *scalar[string] { return textual(s, "") })
}

func heuristicTable(h *rfc9111.Heuristic) table {
	return table{
		live("fraction", ratio(&h.Fraction, 0.1).between(0, 1), "The lifetime is this share of the time since Last-Modified; 0.0 is none."),
		live("max_ttl", duration(&h.MaxTTL, 24*time.Hour), "The longest such lifetime; 0s is none."),
	}
}

func staleTable(s *rfc9111.Stale) table {
	return table{
		live("origin_failure", duration(&s.OriginFailure, time.Hour), "How long, if the origin does not answer."),
		live("if_error", duration(&s.IfError, 0), "How long, in place of a 500, 502, 503 or 504."),
		live("while_revalidate", duration(&s.WhileRevalidate, 0), "How long, while it is validated in the background."),
		live("keep", duration(&s.Keep, time.Hour), "How long a response with a validator is kept to be validated."),
	}
}

// ttls is lifetimes by status.
func ttls(field *map[int]time.Duration) *scalar[map[int]time.Duration] {
	return &scalar[map[int]time.Duration]{
		field: field, byDefault: map[int]time.Duration{}, kindText: "section of durations by status",
		shape: func() object {
			return object{"type": []string{"object", "null"}, "propertyNames": object{"pattern": "^[2-5][0-9][0-9]$"}, "additionalProperties": ref("duration")}
		},
		decode: func(d *decoder, f *map[int]time.Duration) func(node) { return d.ttlByStatus(f) },
		yaml: func(m map[int]time.Duration) string {
			var parts []string
			for _, status := range slices.Sorted(maps.Keys(m)) {
				parts = append(parts, strconv.Itoa(status)+": "+formatDuration(m[status]))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		},
	}
}
