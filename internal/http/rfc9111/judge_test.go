package rfc9111

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/reason"
)

// edge are realistic options.
var edge = Options{
	Heuristic: Heuristic{Fraction: 0.1, MaxTTL: 24 * time.Hour},
	Stale:     Stale{OriginFailure: time.Hour, Keep: 2 * time.Hour},
}

// judged judges a 200 and fails the test if it may not be stored.
func judged(t *testing.T, req RequestFacts, o Options, lines ...string) Judgement {
	t.Helper()
	j := Judge(req, response(t, 200, lines...), o)
	if j.Why != reason.None {
		t.Errorf("%+v %q: got %q, want stored", req, lines, j.Why)
	}
	return j
}

// RFC 9111 section 3, with the sections named below.
func TestJudgeWhy(t *testing.T) {
	f := func(want reason.Reason, req RequestFacts, status int, lines ...string) {
		t.Helper()
		j := Judge(req, response(t, status, lines...), edge)
		if j.Why != want {
			t.Errorf("%+v %d %q: got %q, want %q", req, status, lines, j.Why, want)
		}
		if want != reason.None && (j.Policy != Policy{} || j.Strip != nil) {
			t.Errorf("%+v %d %q: got %+v with a reason against it, want nothing", req, status, lines, j)
		}
	}
	const fresh, tag = "Cache-Control: max-age=60", `ETag: "a"`
	f(reason.None, get, 200, fresh)
	f(reason.None, get, 200, "Expires: "+at(time.Minute))
	f(reason.None, get, 200, "Cache-Control: s-maxage=60, max-age=0")
	for _, m := range []string{"", "get", "HEAD", "POST", "PUT", "QUERY", "M-SEARCH"} {
		f(reason.Method, RequestFacts{Method: m}, 200, fresh)
	}

	// no-store of either side (sections 5.2.1.5 and 5.2.2.5), and private (5.2.2.7).
	f(reason.RequestNoStore, RequestFacts{Method: "GET", NoStore: true}, 200, fresh)
	f(reason.RequestNoStore, RequestFacts{Method: "GET", NoStore: true}, 200, "Cache-Control: max-age=60, no-store, must-understand")
	f(reason.NoStore, get, 200, "Cache-Control: max-age=60, no-store")
	f(reason.NoStore, get, 200, fresh, "Cache-Control: no-store", tag)
	f(reason.Private, get, 200, "Cache-Control: max-age=60, private")
	f(reason.Private, get, 200, "Cache-Control: public, s-maxage=60, private", tag)
	f(reason.Private, get, 200, "Cache-Control: private; max-age=60", tag)

	// no-cache (section 5.2.2.4) needs something to validate with.
	f(reason.NoCache, get, 200, "Cache-Control: max-age=60, no-cache")
	f(reason.NoCache, get, 200, "Cache-Control: no-cache", "ETag: unquoted", "Last-Modified: yesterday")
	f(reason.NoCache, get, 200, "Cache-Control: no-cache, stale-while-revalidate=60")
	f(reason.None, get, 200, "Cache-Control: no-cache", tag)
	f(reason.None, get, 200, "Cache-Control: no-cache", "Last-Modified: "+at(-time.Hour))

	// So does what is stale when it arrives (section 4.2), if not the origin lets it
	// be used stale (RFC 5861).
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=0")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age='60'")
	f(reason.NoFreshness, get, 200, "Cache-Control: s-maxage=x, max-age=60")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=60", "Age: 60")
	f(reason.None, get, 200, "Cache-Control: max-age=60", "Age: 59")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=60", "Date: "+at(-time.Minute))
	f(reason.NoFreshness, get, 200, "Expires: 0")
	f(reason.NoFreshness, get, 500, "Cache-Control: max-age=0")
	f(reason.None, get, 200, "Cache-Control: max-age=0", tag)
	f(reason.None, get, 200, "Expires: 0", `ETag: W/"a"`)
	f(reason.None, get, 200, "Cache-Control: max-age=0, stale-while-revalidate=60")
	f(reason.None, get, 200, "Cache-Control: max-age=0, stale-if-error=60")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=0, stale-while-revalidate=60", "Age: 61")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=0, stale-while-revalidate=0")
	f(reason.NoFreshness, get, 200, "Cache-Control: s-maxage=0, stale-while-revalidate=60")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=1", "Age: 7202", tag)

	// Without explicit freshness the status must allow storing.
	f(reason.NoFreshness, get, 200)
	f(reason.NoFreshness, get, 200, "Cache-Control: public")
	f(reason.None, get, 200, tag)
	f(reason.Status, get, 403, tag)
	f(reason.None, get, 403, tag, "Cache-Control: public")
	f(reason.Status, get, 403, tag, "Cache-Control: no-cache")
	f(reason.NoFreshness, get, 403, "Cache-Control: public")

	// Vary (section 4.1).
	f(reason.None, get, 200, fresh, "Vary: Accept, Accept-Encoding")
	f(reason.VaryStar, get, 200, fresh, "Vary: Accept", "Vary: , *")

	// Pragma means nothing (section 5.4), nor do extensions (section 5.2.3).
	f(reason.None, get, 200, fresh, "Pragma: no-cache", "Cache-Control: x-ext, y=no-store")
}

// The zero options keep nothing to be validated, and guess no lifetime.
func TestJudgeWithoutOptions(t *testing.T) {
	f := func(want reason.Reason, lines ...string) {
		t.Helper()
		if got := Judge(get, response(t, 200, lines...), Options{}).Why; got != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
	f(reason.None, "Cache-Control: max-age=60")
	f(reason.NoFreshness, "Last-Modified: "+at(-1000*time.Hour))
	f(reason.NoFreshness, "Cache-Control: max-age=0", `ETag: "a"`)
	f(reason.NoFreshness, "Cache-Control: max-age=60", "Age: 60", `ETag: "a"`)
	f(reason.None, "Cache-Control: max-age=60, no-cache", `ETag: "a"`)
	f(reason.NoCache, "Cache-Control: no-cache", `ETag: "a"`)
}

// RFC 9111 section 4.2.3.
func TestJudgeCountsTheTimeOfTheExchange(t *testing.T) {
	resp := response(t, 200, "Cache-Control: max-age=2")
	resp.RequestTime = received.Add(-2 * time.Second)
	if got := Judge(get, resp, Options{}).Why; got != reason.NoFreshness {
		t.Errorf("lifetime 2s, exchange 2s: got %q, want %q", got, reason.NoFreshness)
	}
}

func TestJudgePolicy(t *testing.T) {
	f := func(want Policy, o Options, lines ...string) {
		t.Helper()
		if d := cmp.Diff(want, judged(t, get, o, lines...).Policy); d != "" {
			t.Errorf("%q (-want +got):\n%s", lines, d)
		}
	}
	const tag = `ETag: "a"`
	f(Policy{Lifetime: minute, Explicit: true}, Options{}, "Cache-Control: max-age=60", tag)
	f(Policy{Lifetime: minute, Explicit: true, Immutable: true}, Options{}, "Cache-Control: max-age=60, immutable")
	f(Policy{Lifetime: minute, Explicit: true, MustRevalidate: true}, Options{}, "Cache-Control: s-maxage=60")
	f(Policy{Lifetime: 24 * time.Hour, Heuristic: true}, Options{Heuristic: edge.Heuristic}, "Last-Modified: "+at(-1000*time.Hour))

	// The operator's spans count where the origin says nothing.
	o := Options{Stale: Stale{OriginFailure: 1 * minute, IfError: 2 * minute, WhileRevalidate: 3 * minute, Keep: 4 * minute}}
	all := Policy{Lifetime: minute, Explicit: true, OriginFailure: 1 * minute, IfError: 2 * minute, WhileRevalidate: 3 * minute}
	all.Keep = 3 * minute
	f(all, o, "Cache-Control: max-age=60")
	all.Keep = 4 * minute
	f(all, o, "Cache-Control: max-age=60", tag)
	f(all, o, "Cache-Control: max-age=60", "Last-Modified: "+at(0))
	f(Policy{
		Lifetime: minute, Explicit: true,
		WhileRevalidate: 5 * time.Second, IfError: time.Hour, OriginFailure: time.Hour, Keep: time.Hour,
	}, o, "Cache-Control: max-age=60, stale-while-revalidate=5, stale-if-error=3600")
	f(Policy{Lifetime: minute, Explicit: true}, o, "Cache-Control: max-age=60, stale-while-revalidate=x, stale-if-error=0")

	// What forbids stale responses goes before both; they are kept to be validated.
	never := Policy{Lifetime: minute, Explicit: true, MustRevalidate: true}
	for _, cc := range []string{"max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60"} {
		never.Keep = 0
		f(never, o, "Cache-Control: stale-if-error=9, stale-while-revalidate=9, "+cc)
		never.Keep = 4 * minute
		f(never, o, "Cache-Control: "+cc, tag)
	}
	f(Policy{Lifetime: minute, Explicit: true, Validate: true, Keep: 4 * minute}, o, "Cache-Control: max-age=60, no-cache", tag)

	// Nonsense from the operator is nothing, and no overflow.
	f(Policy{Lifetime: minute, Explicit: true}, Options{Stale: Stale{-1, -1, -1, -1}}, "Cache-Control: max-age=60", tag)
	f(Policy{Lifetime: minute, Explicit: true, WhileRevalidate: maxSpan, Keep: maxSpan},
		Options{Stale: Stale{WhileRevalidate: 1 << 62}}, "Cache-Control: max-age=60")
}

// RFC 9111 sections 5.2.2.4 and 5.2.2.7.
func TestQualifiedDirectivesStripFields(t *testing.T) {
	o := edge
	o.SetCookie = SetCookieShared
	f := func(want []string, lines ...string) {
		t.Helper()
		j := judged(t, get, o, lines...)
		if !slices.Equal(j.Strip, want) || j.Policy.Validate {
			t.Errorf("%q: got %q, validate %v, want %q and no validation", lines, j.Strip, j.Policy.Validate, want)
		}
	}
	f(nil, "Cache-Control: max-age=60")
	f([]string{"A"}, `Cache-Control: max-age=60, no-cache="a"`)
	f([]string{"X"}, `Cache-Control: public, max-age=60, no-cache="x"`)
	f([]string{"X"}, `Cache-Control: public, s-maxage=60, private="x"`)
	f([]string{"B", "A"}, `Cache-Control: max-age=60, no-cache=a`, `Cache-Control: private="b"`)
	// A cookie that is stripped does not forbid storing the rest.
	f([]string{"Set-Cookie"}, `Cache-Control: max-age=60, private="set-cookie"`, "Set-Cookie: a=b")

	// What the response cannot do without makes the whole of it unfit.
	if got := Judge(get, response(t, 200, `Cache-Control: max-age=60, private="content-encoding"`), edge).Why; got != reason.Private {
		t.Errorf("private Content-Encoding: got %q, want %q", got, reason.Private)
	}
	j := judged(t, get, edge, `Cache-Control: max-age=60, no-cache="vary"`, `ETag: "a"`)
	if !j.Policy.Validate || j.Strip != nil {
		t.Errorf("no-cache Vary: got %+v, want validation and nothing left out", j)
	}
}

// The operator's lifetimes.
func TestJudgeByRule(t *testing.T) {
	f := func(want time.Duration, why reason.Reason, o Options, status int, lines ...string) {
		t.Helper()
		j := Judge(get, response(t, status, lines...), o)
		if j.Why != why || j.Policy.Lifetime != want {
			t.Errorf("%d %q: got %v %q, want %v %q", status, lines, j.Policy.Lifetime, j.Why, want, why)
		}
	}
	lm := "Last-Modified: " + at(-100*time.Minute)
	rules := Options{
		DefaultTTL: 1 * minute, Heuristic: edge.Heuristic,
		TTLByStatus: map[int]time.Duration{200: 2 * minute, 404: 3 * minute, 503: 4 * minute, 301: 0, 504: 0, 429: minute},
		Stale:       Stale{WhileRevalidate: time.Hour, IfError: time.Hour, Keep: time.Hour},
	}
	// The first of these counts: origin, status, heuristic, default.
	f(5*minute, reason.None, rules, 200, "Cache-Control: max-age=300", lm)
	f(2*minute, reason.None, rules, 200, lm)
	f(3*minute, reason.None, rules, 404)
	f(4*minute, reason.None, rules, 503)
	f(10*minute, reason.None, rules, 203, lm)
	f(1*minute, reason.None, rules, 203)
	f(1*minute, reason.None, rules, 308)
	f(0, reason.NoFreshness, rules, 410)
	f(0, reason.Status, rules, 502)
	// A rule of zero is a rule, and none lifts what a definition forbids.
	f(0, reason.NoFreshness, rules, 301)
	f(0, reason.Status, rules, 504, `ETag: "a"`)
	f(0, reason.Status, rules, 429)
	// The operator's permission to serve stale is no reason to store a stale response.
	f(0, reason.NoFreshness, rules, 200, "Cache-Control: max-age=0")
	f(0, reason.NoStore, rules, 404, "Cache-Control: no-store")

	// A forced lifetime replaces the origin's, and no other word of it.
	forced := Options{ForcedTTL: 7 * minute, Stale: edge.Stale, TTLByStatus: rules.TTLByStatus}
	f(7*minute, reason.None, forced, 200)
	f(7*minute, reason.None, forced, 200, "Cache-Control: max-age=0")
	f(7*minute, reason.None, forced, 301, "Expires: 0")
	f(3*minute, reason.None, forced, 404)
	f(5*minute, reason.None, forced, 500, "Cache-Control: max-age=300")
	f(0, reason.NoStore, forced, 200, "Cache-Control: no-store")
	f(0, reason.Private, forced, 200, "Cache-Control: private")
	f(0, reason.NoCache, forced, 200, "Cache-Control: no-cache")
	if p := judged(t, get, forced, "Cache-Control: max-age=1, must-revalidate").Policy; !p.MustRevalidate || p.Explicit {
		t.Errorf("forced over must-revalidate: got %+v, want it to stand, and no explicit lifetime", p)
	}
}

// RFC 9110 section 9.3.3.
func TestJudgePost(t *testing.T) {
	uri := URI{Scheme: "http", Host: "a.example:8080", Target: "/x/y?q=%61"}
	f := func(want reason.Reason, status int, lines ...string) {
		t.Helper()
		if got := Judge(RequestFacts{Method: "POST", URI: uri}, response(t, status, lines...), edge).Why; got != want {
			t.Errorf("%d %q: got %q, want %q", status, lines, got, want)
		}
	}
	const fresh = "Cache-Control: max-age=60"
	f(reason.None, 200, fresh, "Content-Location: /x/y?q=%61")
	f(reason.None, 200, fresh, "Content-Location: y?q=%61")
	f(reason.None, 200, fresh, "Content-Location: http://A.Example:8080/x/y?q=%61#part")
	f(reason.None, 200, "Expires: "+at(minute), "Content-Location: ?q=%61")
	f(reason.None, 200, "CDN-Cache-Control: max-age=60", "Content-Location:")
	f(reason.Method, 200, fresh)
	f(reason.Method, 200, fresh, "Content-Location: /x/y?q=a")
	f(reason.Method, 200, fresh, "Content-Location: /x/y?q=%61", "Content-Location: /z")
	f(reason.Method, 200, fresh, "Content-Location: https://a.example:8080/x/y?q=%61")
	f(reason.Method, 200, fresh, "Content-Location: http://a.example/x/y?q=%61")
	f(reason.Method, 200, "Last-Modified: "+at(-time.Hour), "Content-Location: /x/y?q=%61")
	f(reason.Method, 201, fresh, "Content-Location: /x/y?q=%61")
	f(reason.NoStore, 200, fresh+", no-store", "Content-Location: /x/y?q=%61")
	put := RequestFacts{Method: "PUT", URI: uri}
	if got := Judge(put, response(t, 200, fresh, "Content-Location: /x/y?q=%61"), edge).Why; got != reason.Method {
		t.Errorf("the same for a PUT: got %q, want %q", got, reason.Method)
	}
	if got := Judge(RequestFacts{Method: "POST"}, response(t, 200, fresh, "Content-Location: /"), edge).Why; got != reason.Method {
		t.Errorf("without a URI: got %q, want %q", got, reason.Method)
	}
}

// RFC 9111 section 3.3.
func TestJudgePartial(t *testing.T) {
	f := func(want reason.Reason, partial, asked bool, lines ...string) {
		t.Helper()
		o := edge
		o.Partial = partial
		got := Judge(RequestFacts{Method: "GET", Range: asked}, response(t, 206, append(lines, "Cache-Control: max-age=60")...), o).Why
		if got != want {
			t.Errorf("parts kept %v, Range %v, %q: got %q, want %q", partial, asked, lines, got, want)
		}
	}
	f(reason.None, true, true, "Content-Range: bytes 0-4/10")
	f(reason.Partial, false, true, "Content-Range: bytes 0-4/10")
	f(reason.Partial, true, false, "Content-Range: bytes 0-4/10")
	f(reason.Partial, true, true)
	f(reason.Partial, true, true, "Content-Range: bytes 0-4/*")
	f(reason.Partial, true, true, "Content-Type: multipart/byteranges; boundary=x")
	f(reason.NoStore, true, true, "Content-Range: bytes 0-4/10", "Cache-Control: no-store")
}

// A lifetime that the operator gives must not turn a misspelt refusal into a
// stored response.
func TestMisspeltRefusalIsNotStoredByRule(t *testing.T) {
	o := Options{DefaultTTL: minute, ForcedTTL: minute, TTLByStatus: map[int]time.Duration{200: minute}, Stale: edge.Stale}
	f := func(cacheControl string) {
		t.Helper()
		if got := Judge(get, response(t, 200, "Cache-Control: "+cacheControl), o).Why; got == reason.None {
			t.Errorf("%q: got stored, want a reason against it", cacheControl)
		}
	}
	f("private; max-age=0")
	f("no-cache no-store")
	f(`"no-store"`)
	f("no-store;")
	f("foo=bar; private")
	f("private=" + strings.Repeat("x", 1000) + ";")
	f(`no-cache="`)
}
