package rfc9111

import (
	"slices"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

var surrogates = Options{SurrogateControl: true}

// W3C note "Edge Architecture Specification", sections 2.2 and 4.2.
func TestSurrogateControlStandsInForCacheControl(t *testing.T) {
	f := func(want time.Duration, why reason.Reason, lines ...string) {
		t.Helper()
		j := Judge(get, response(t, 200, lines...), surrogates)
		if j.Why != why || j.Policy.Lifetime != want {
			t.Errorf("%q: got %v %q, want %v %q", lines, j.Policy.Lifetime, j.Why, want, why)
		}
	}
	f(minute, reason.None, "Surrogate-Control: max-age=60")
	f(minute, reason.None, "Surrogate-Control: max-age=60", "Cache-Control: no-store, private", "Expires: 0")
	f(minute, reason.None, "Surrogate-Control: , ,max-age=60,")
	f(minute, reason.None, "Surrogate-Control: foo", "Surrogate-Control: Max-Age=0060")
	f(maxSpan, reason.None, "Surrogate-Control: max-age=99999999999999999999")
	f(0, reason.NoFreshness, "Surrogate-Control: max-age=0", "Cache-Control: max-age=60", "Expires: "+at(minute))

	// Of several the smallest, whomever they are meant for.
	f(minute, reason.None, "Surrogate-Control: max-age=90;a, max-age=60;b", "Surrogate-Control: max-age=70")
	f(minute, reason.None, "Surrogate-Control: max-age=60 ; a ;b")
	f(0, reason.NoStore, "Surrogate-Control: max-age=60, no-store;not-us")

	// What is to be done with the body says nothing of caching, nor does its value.
	f(minute, reason.None, `Surrogate-Control: content="ESI/1.0;x, no-store", max-age=60`)
	f(minute, reason.None, `Surrogate-Control: content="a;b";c, max-age=60`)

	// No-store, also where only remote surrogates are meant.
	f(0, reason.NoStore, "Surrogate-Control: no-store", "Cache-Control: max-age=60")
	f(0, reason.NoStore, "Surrogate-Control: No-Store, max-age=60")
	f(0, reason.NoStore, "Surrogate-Control: no-store-remote, max-age=60")

	// Directives of Cache-Control count beside those of the note.
	f(0, reason.Private, "Surrogate-Control: max-age=60, private")
	f(0, reason.NoCache, "Surrogate-Control: max-age=60, no-cache")
	f(minute, reason.None, "Surrogate-Control: s-maxage=60", "Cache-Control: no-store")
}

// Off, the field means nothing at all.
func TestSurrogateControlCountsByChoiceOnly(t *testing.T) {
	f := func(want reason.Reason, lines ...string) {
		t.Helper()
		if got := Judge(get, response(t, 200, lines...), Options{}).Why; got != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
	f(reason.NoFreshness, "Surrogate-Control: max-age=60")
	f(reason.None, "Surrogate-Control: no-store", "Cache-Control: max-age=60")
}

// A field that cannot be read, or gives no lifetime, hides neither Cache-Control
// nor Expires, and what it forbids is forbidden still.
func TestSurrogateControlThatDoesNotStandIn(t *testing.T) {
	f := func(surrogate string) {
		t.Helper()
		h := head(t, "Surrogate-Control: "+surrogate, "Cache-Control: max-age=9")
		if d := directivesOf(h, true); d.targeted || d.MaxAge != valid(9) || d.NoStore || d.Private || d.NoCache {
			t.Errorf("%q: got %+v, want Cache-Control alone", surrogate, d)
		}
	}
	f("")
	f(",")
	f("foo")
	f(`content="ESI/1.0"`)
	f("public")
	f("max-age")
	f("max-age=")
	f("max-age =60")
	f("max-age= 60")
	f("max-age=-1")
	f("max-age=60.0")
	f("max-age=x")
	f(`max-age="60"`)
	f("max-age=+60")
	f("max-age=60+")
	f("max-age=60+x")
	f("max-age=60+1+1")
	f("max-age=60, max-age=x")
	f("max-age=0, max-age=x")
	f("max-age=60, s-maxage=x")
	f("max-age=60, ()")
	f("max-age=60, ;a")
	f(`max-age=60, content="ESI/1.0`)
	f(`max-age=60;a="b"`)
	f(`max-age=60, foo;a="b"`)
	f(`max-age=60, x=y"z"`)

	g := func(why reason.Reason, surrogate, cacheControl string) {
		t.Helper()
		resp := response(t, 200, "Surrogate-Control: "+surrogate, "Cache-Control: "+cacheControl)
		if got := Judge(get, resp, surrogates).Why; got != why {
			t.Errorf("%q beside %q: got %q, want %q", surrogate, cacheControl, got, why)
		}
	}
	g(reason.NoStore, "no-store, max-age=x", "max-age=60")
	g(reason.NoStore, "no-store max-age=60", "max-age=60")
	g(reason.NoStore, `content="a, no-store`, "max-age=60")
	g(reason.NoStore, "foo; no-store", "max-age=60")
	g(reason.NoStore, "no-store", "max-age=60, must-understand")
	g(reason.NoStore, "max-age=60; no-store", "max-age=60")
	g(reason.Private, "max-age=60; private", "max-age=60")
	g(reason.Private, "private", "max-age=60, public")
	g(reason.NoCache, "no-cache", "max-age=60")
	g(reason.NoFreshness, "max-age=60; max-age=5", "max-age=60")
	g(reason.None, "max-age=x, public", "max-age=60")
}

func TestSurrogateControlThatDoesNotStandInRestrictsUse(t *testing.T) {
	resp := response(t, 200, `Surrogate-Control: private="a", no-cache="b", must-revalidate`, `Cache-Control: max-age=60, private="c", stale-if-error=5`)
	j := Judge(get, resp, surrogates)
	want := Policy{Lifetime: minute, Explicit: true, MustRevalidate: true}
	if j.Policy != want || !slices.Equal(j.Strip, []string{"C", "A", "B"}) {
		t.Errorf("got %+v without %q, want %+v without C, A and B", j.Policy, j.Strip, want)
	}
	resp.Header = head(t, "Surrogate-Control: proxy-revalidate", "Cache-Control: max-age=60")
	if p := Judge(get, resp, surrogates).Policy; !p.MustRevalidate {
		t.Errorf("proxy-revalidate: got %+v, want no stale use", p)
	}
}

// Section 4.2.3: what follows the plus is how long the stale response may be used.
func TestSurrogateControlFreshnessExtension(t *testing.T) {
	const operator = 9 * time.Second
	o := Options{SurrogateControl: true, Stale: Stale{OriginFailure: operator, IfError: operator, WhileRevalidate: operator}}
	f := func(lifetime, stale time.Duration, surrogate string) {
		t.Helper()
		p := judged(t, get, o, "Surrogate-Control: "+surrogate).Policy
		want := Policy{Lifetime: lifetime, Explicit: true, WhileRevalidate: stale, IfError: stale, OriginFailure: stale, Keep: stale}
		if p != want {
			t.Errorf("%q: got %+v, want %+v", surrogate, p, want)
		}
	}
	f(minute, operator, "max-age=60")
	f(minute, 30*time.Second, "max-age=60+30")
	f(minute, 30*time.Second, "max-age=60+30;a")
	f(minute, 0, "max-age=60+0")
	f(0, 30*time.Second, "max-age=0+30")
	f(minute, maxSpan, "max-age=60+99999999999")
	f(minute, 30*time.Second, "max-age=90+30, max-age=60+40")
	f(minute, 30*time.Second, "max-age=60+40, stale-while-revalidate=30, stale-if-error=30")

	p := judged(t, get, o, "Surrogate-Control: max-age=60+30, must-revalidate").Policy
	if p != (Policy{Lifetime: minute, Explicit: true, MustRevalidate: true}) {
		t.Errorf("with must-revalidate: got %+v, want no stale use", p)
	}
}

// RFC 9213 names its field for caches like this one.
func TestCDNCacheControlGoesBeforeSurrogateControl(t *testing.T) {
	f := func(want time.Duration, lines ...string) {
		t.Helper()
		if got := judged(t, get, surrogates, lines...).Policy.Lifetime; got != want {
			t.Errorf("%q: got %v, want %v", lines, got, want)
		}
	}
	f(minute, "CDN-Cache-Control: max-age=60", "Surrogate-Control: max-age=5")
	f(minute, "CDN-Cache-Control: max-age=60", "Surrogate-Control: no-store")
	f(5*time.Second, "CDN-Cache-Control: max-age=x", "Surrogate-Control: max-age=5", "Cache-Control: no-store")
}

// A response for surrogates may be kept for everybody, but not if its request had credentials.
func TestSurrogateControlAndPersonalResponses(t *testing.T) {
	o := surrogates
	o.SetCookie = SetCookieShared
	f := func(want reason.Reason, req RequestFacts, lines ...string) {
		t.Helper()
		if got := Judge(req, response(t, 200, lines...), o).Why; got != want {
			t.Errorf("%+v %q: got %q, want %q", req, lines, got, want)
		}
	}
	authorized := RequestFacts{Method: "GET", Authorization: true}
	f(reason.None, get, "Surrogate-Control: max-age=60", "Set-Cookie: a=b")
	f(reason.SetCookie, get, `Surrogate-Control: content="ESI/1.0"`, "Cache-Control: max-age=60", "Set-Cookie: a=b")
	f(reason.Authorization, authorized, "Surrogate-Control: max-age=60", "Cache-Control: public")
	f(reason.None, authorized, "Surrogate-Control: max-age=60, public")
}

// After a 304, which need not repeat the field, the same policy has to be found.
func TestSurrogateControlOutlivesValidation(t *testing.T) {
	stored := head(t, `ETag: "a"`, "Surrogate-Control: max-age=60", "Cache-Control: max-age=9")
	updated, ok := Update(stored, head(t, `ETag: "a"`, "Cache-Control: max-age=9", "Connection: Surrogate-Control"))
	resp := ResponseFacts{Status: 200, Header: updated, RequestTime: received, ResponseTime: received}
	if j := Judge(get, resp, surrogates); !ok || j.Policy.Lifetime != minute {
		t.Errorf("got %+v %v, want a lifetime of 1m", j, ok)
	}
}

// Whatever stands beside a directive that restricts, it counts, and what cannot be
// read gives no lifetime.
func FuzzSurrogateControl(f *testing.F) {
	for _, seed := range []string{
		"", "max-age=60", "max-age=60+30;a;b", `content="ESI/1.0, x;y";z`, "no-store-remote", "max-age =5", `x="unclosed`, `a;"`, "public, must-understand",
		`max-age="6"`, "max-age=1+", "private; no-store", `content="\";`, "=;=", ";", "s-maxage=1", "é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, junk string) {
		of := func(values ...string) (ResponseDirectives, bool) {
			h := field.List{{Name: "Cache-Control", Value: "max-age=100"}}
			for _, v := range values {
				h.Add("Surrogate-Control", v)
			}
			d := directivesOf(h, true)
			return d, d.targeted
		}
		for _, values := range [][]string{{junk + ",no-store"}, {"no-store," + junk}, {junk, "no-store"}, {"no-store;" + junk}} {
			if d, _ := of(values...); !d.NoStore {
				t.Errorf("%q: got %+v, want no-store", values, d)
			}
		}
		for _, values := range [][]string{{"max-age=5+7," + junk}, {junk, "max-age=5+7"}} {
			d, standsIn := of(values...)
			if standsIn && (d.MaxAge.Duration() > 5*time.Second || d.StaleWhileRevalidate.Duration() > 7*time.Second || d.StaleIfError.Duration() > 7*time.Second) {
				t.Errorf("%q: got %+v, want at most 5 seconds, and 7 more", values, d)
			}
			if !standsIn && d.MaxAge != valid(100) {
				t.Errorf("%q: got %+v, want the max-age of Cache-Control", values, d)
			}
		}
		if d, standsIn := of(junk); standsIn && !d.MaxAge.Present() && !d.SMaxAge.Valid() {
			t.Errorf("%q: got %+v for Cache-Control, want a lifetime", junk, d)
		} else if !standsIn && (d.Public || d.Immutable || d.StaleIfError.Present()) {
			t.Errorf("%q: got %+v, want nothing that widens", junk, d)
		}
	})
}
