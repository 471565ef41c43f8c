package edgetest

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/proxy/compress"
	"edgeproxy/internal/route/rate"
)

// apply sets one option of the edge:
//
//	policy NAME [PARAMETER]   one of package policy, such as counting 4; second-hit if not set
//	window GENERATIONS PERIOD
//	SIZE-OR-COUNT N           max-object, inflight, response-buffer, max-bytes, stage, slice, variants, ranges, range-amplification, requests-in-flight, max-connections, queue, purge-prefixes
//	open-below SHARE
//	TIME D                    default-ttl, collapse-wait, uncacheable-for, first-byte, between-reads, queue-wait, write-idle
//	host-header TEXT
//	allow-ambiguous-path, honor-request, no-vary-search, store-post-answers, ignore-no-store, no-upgrades
//	any-language-order, unusual-names, send-tags, livez
//	invalidate MODE           unsafe, same_url, none
//	error-max-ttl D           10s if not set
//	ttl-by-status STATUS D    may be set several times
//	bypass-header NAME..., bypass-cookie NAME..., strip-cookie NAME..., keep-cookie NAME...
//	request-remove NAME..., request-only NAME..., request-set NAME VALUE, response-remove NAME..., response-set NAME VALUE
//	heuristic FRACTION
//	set-cookie MODE           shared, refuse, strip, store
//	trusted-proxies PREFIX    of those that are believed; may be set several times
//	cache-status-trusted PREFIX   of those that are told all; the others only hit or why not
//	purge-from PREFIX         of the addresses that may purge by PURGE and the like; clients have 198.51.100.7
//	purge-token TEXT          which such purges need
//	tag-fields NAME...        of responses
//	client-share SHARE        of connections and requests in flight
//	rate REQUESTS PER BURST   of one client
//	compress CODING...        text of 10 bytes or more, by the first that the client accepts; off is nothing
//	key RULE [NAME...]        ignore-query, only-query, sort-query, headers, cookies
//	route NAME KEY VALUE...   of a route before the one for all requests; see routes_test.go
func (o *Options) apply(s *step) error {
	w, err := s.words(1)
	if err != nil {
		return err
	}
	flags := map[string]*bool{
		"honor-request": &o.HonorRequest, "allow-ambiguous-path": &o.AllowAmbiguousPath, "no-vary-search": &o.NoVarySearch,
		"store-post-answers": &o.StorePosts, "ignore-no-store": &o.IgnoreNoStore, "no-upgrades": &o.NoUpgrades,
		"any-language-order": &o.AnyLanguageOrder, "unusual-names": &o.UnusualNames, "send-tags": &o.SendTags, "livez": &o.Livez,
	}
	switch key := w[0]; {
	case flags[key] != nil:
		*flags[key] = true
		return nil
	case len(w) < 2:
		return fmt.Errorf("set %s: want a value", key)
	case key == "bypass-header":
		o.Bypass.Headers = w[1:]
		return nil
	case key == "bypass-cookie":
		o.Bypass.Cookies = w[1:]
		return nil
	case key == "request-remove":
		o.Request.Remove = w[1:]
		return nil
	case key == "request-only":
		o.Request.Only = w[1:]
		return nil
	case key == "response-remove":
		o.Response.Remove = w[1:]
		return nil
	case key == "request-set":
		o.Request.Set = alsoSet(o.Request.Set, w)
		return nil
	case key == "response-set":
		o.Response.Set = alsoSet(o.Response.Set, w)
		return nil
	case key == "purge-token":
		o.PurgeToken = w[1]
		return nil
	case key == "tag-fields":
		o.TagFields = w[1:]
		return nil
	case key == "strip-cookie":
		o.StripCookies = w[1:]
		return nil
	case key == "keep-cookie":
		o.KeepCookies = w[1:]
		return nil
	case key == "compress":
		o.Compress, err = compressBy(w[1:])
		return err
	case key == "policy":
		return o.applyPolicy(w[1:])
	case key == "host-header":
		o.HostHeader = w[1]
		return nil
	case key == "heuristic":
		o.Caching.Heuristic.Fraction, err = strconv.ParseFloat(w[1], 64)
		return err
	case key == "set-cookie":
		modes := map[string]rfc9111.SetCookie{
			"shared": rfc9111.SetCookieShared, "refuse": rfc9111.SetCookieRefuse, "strip": rfc9111.SetCookieStrip, "store": rfc9111.SetCookieStore,
		}
		mode, ok := modes[w[1]]
		if !ok {
			return fmt.Errorf("set set-cookie: unknown %q", w[1])
		}
		o.Caching.SetCookie = mode
		return nil
	case key == "invalidate":
		modes := map[string]proxy.Invalidation{"unsafe": proxy.InvalidateUnsafe, "same_url": proxy.InvalidateSameURL, "none": proxy.InvalidateNone}
		mode, ok := modes[w[1]]
		if !ok {
			return fmt.Errorf("set invalidate: unknown %q", w[1])
		}
		o.Invalidate = mode
		return nil
	case key == "error-max-ttl":
		o.Caching.BoundErrors = true
		o.Caching.ErrorMaxTTL, err = time.ParseDuration(w[1])
		return err
	case key == "ttl-by-status":
		return o.applyTTLByStatus(w[1:])
	case key == "open-below":
		o.WarmUpBelow, err = strconv.ParseFloat(w[1], 64)
		return err
	case key == "purge-from":
		p, err := netip.ParsePrefix(w[1])
		o.PurgeFrom = append(o.PurgeFrom, p)
		return err
	case key == "trusted-proxies":
		p, err := netip.ParsePrefix(w[1])
		o.TrustedProxies = append(o.TrustedProxies, p)
		return err
	case key == "cache-status-trusted":
		p, err := netip.ParsePrefix(w[1])
		o.CacheStatusTrusted = append(o.CacheStatusTrusted, p)
		return err
	case key == "key":
		return o.applyKey(w[1], w[2:])
	case key == "client-share":
		o.ClientShare, err = strconv.ParseFloat(w[1], 64)
		return err
	case key == "rate":
		return o.applyRate(w[1:])
	case key == "route":
		return o.applyRoute(w[1:])
	case key == "window":
		return o.applyWindow(w[1:])
	default:
		return o.applyNumber(key, w[1])
	}
}

// compressBy compresses text by these codings, nothing where they are off.
func compressBy(names []string) (*compress.Rules, error) {
	if names[0] == "off" {
		return nil, nil
	}
	r := &compress.Rules{Types: []string{"text/*"}, MinBytes: 10}
	for _, name := range names {
		c, ok := compress.CodingOf(name)
		if !ok {
			return nil, fmt.Errorf("set compress: unknown %q", name)
		}
		r.Codings = append(r.Codings, c)
	}
	return r, nil
}

// alsoSet returns the fields of old, and the one that w names.
func alsoSet(old map[string]string, w []string) map[string]string {
	out := map[string]string{w[1]: strings.Join(w[2:], " ")}
	for name, value := range old {
		if name != w[1] {
			out[name] = value
		}
	}
	return out
}

func (o *Options) applyPolicy(w []string) error {
	value := 0.0
	if len(w) > 1 {
		var err error
		if value, err = strconv.ParseFloat(w[1], 64); err != nil {
			return err
		}
	}
	var err error
	o.Rule, err = policy.RuleOf(w[0], value)
	return err
}

func (o *Options) applyTTLByStatus(w []string) error {
	if len(w) != 2 {
		return fmt.Errorf("set ttl-by-status: want a status and a duration, got %q", w)
	}
	status, err := strconv.Atoi(w[0])
	if err != nil {
		return err
	}
	if o.Caching.TTLByStatus == nil {
		o.Caching.TTLByStatus = map[int]time.Duration{}
	}
	o.Caching.TTLByStatus[status], err = time.ParseDuration(w[1])
	return err
}

func (o *Options) applyKey(rule string, names []string) error {
	lists := map[string]*[]string{
		"ignore-query": &o.Key.IgnoreQuery, "only-query": &o.Key.OnlyQuery, "headers": &o.Key.Headers, "cookies": &o.Key.Cookies,
	}
	switch list := lists[rule]; {
	case rule == "sort-query":
		o.Key.SortQuery = true
	case list != nil && len(names) > 0:
		*list = names
	default:
		return fmt.Errorf("set key: want a rule and names, got %q %q", rule, names)
	}
	return nil
}

func (o *Options) applyRate(w []string) (err error) {
	if len(w) != 3 {
		return fmt.Errorf("set rate: want requests, period and burst, got %q", w)
	}
	requests, err1 := strconv.Atoi(w[0])
	per, err2 := time.ParseDuration(w[1])
	burst, err3 := strconv.Atoi(w[2])
	o.Rate = rate.Per(requests, per, burst)
	return errors.Join(err1, err2, err3)
}

func (o *Options) applyWindow(w []string) (err error) {
	if len(w) != 2 {
		return fmt.Errorf("set window: want generations and period, got %q", w)
	}
	if o.Window.Generations, err = strconv.Atoi(w[0]); err != nil {
		return err
	}
	o.Window.RotateEvery, err = time.ParseDuration(w[1])
	return err
}

func (o *Options) applyNumber(key, value string) (err error) {
	times := map[string]*time.Duration{
		"default-ttl": &o.Caching.DefaultTTL, "stale-origin-failure": &o.Caching.Stale.OriginFailure,
		"stale-server-error": &o.Caching.Stale.IfError, "stale-while-revalidate": &o.Caching.Stale.WhileRevalidate, "stale-keep": &o.Caching.Stale.Keep,
		"heuristic-max-ttl": &o.Caching.Heuristic.MaxTTL, "collapse-wait": &o.CollapseWait, "uncacheable-for": &o.UncacheableFor,
		"first-byte": &o.Origin.FirstByteTimeout, "between-reads": &o.Origin.IdleTimeout, "queue-wait": &o.Origin.QueueWait,
		"write-idle": &o.WriteIdleTimeout,
	}
	if d := times[key]; d != nil {
		*d, err = time.ParseDuration(value)
		return err
	}
	counts := map[string]*int{
		"variants": &o.Variants, "ranges": &o.Ranges, "requests-in-flight": &o.RequestsInFlight, "tunnels": &o.Tunnels,
		"max-connections": &o.Origin.MaxConnections, "queue": &o.Origin.QueueRequests, "purge-prefixes": &o.PurgeMarks.Prefixes,
	}
	if n := counts[key]; n != nil {
		*n, err = strconv.Atoi(value)
		return err
	}
	sizes := map[string]*int64{"max-object": &o.MaxObjectBytes, "inflight": &o.InflightBytes, "max-bytes": &o.MaxBytes, "stage": &o.StageBytes, "slice": &o.SliceBytes, "response-buffer": &o.ResponseBuffer, "range-amplification": &o.RangeAmplification}
	if n := sizes[key]; n != nil {
		*n, err = strconv.ParseInt(value, 10, 64)
		return err
	}
	return fmt.Errorf("set %s: unknown", key)
}
