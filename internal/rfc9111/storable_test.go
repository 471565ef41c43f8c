package rfc9111

import (
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/reason"
)

func response(t testing.TB, status int, lines ...string) ResponseFacts {
	t.Helper()
	return ResponseFacts{Status: status, Header: head(t, lines...), RequestTime: received, ResponseTime: received}
}

var get = RequestFacts{Method: "GET"}

// RFC 9111 section 3, with the sections named below.
func TestStorable(t *testing.T) {
	f := func(want reason.Reason, req RequestFacts, status int, lines ...string) {
		t.Helper()
		if got := Storable(req, response(t, status, lines...), Options{}); got != want {
			t.Errorf("%+v %d %q: got %q, want %q", req, status, lines, got, want)
		}
	}
	const fresh = "Cache-Control: max-age=60"
	f(reason.None, get, 200, fresh)
	f(reason.None, get, 200, "Expires: "+at(time.Minute))
	f(reason.None, get, 200, "Cache-Control: s-maxage=60, max-age=0")

	// Methods: GET only, and case counts.
	for _, m := range []string{"", "get", "HEAD", "POST", "QUERY", "M-SEARCH"} {
		f(reason.Method, RequestFacts{Method: m}, 200, fresh)
	}

	// no-store of either side (sections 5.2.1.5 and 5.2.2.5).
	f(reason.RequestNoStore, RequestFacts{Method: "GET", NoStore: true}, 200, fresh)
	f(reason.RequestNoStore, RequestFacts{Method: "GET", NoStore: true}, 200, "Cache-Control: max-age=60, no-store, must-understand")
	f(reason.NoStore, get, 200, "Cache-Control: max-age=60, no-store")
	f(reason.NoStore, get, 200, fresh, "Cache-Control: no-store")

	// private and no-cache, with and without names, win over what widens.
	f(reason.Private, get, 200, "Cache-Control: max-age=60, private")
	f(reason.Private, get, 200, `Cache-Control: public, s-maxage=60, private="x"`)
	f(reason.Private, get, 200, "Cache-Control: private; max-age=60")
	f(reason.NoCache, get, 200, "Cache-Control: max-age=60, no-cache")
	f(reason.NoCache, get, 200, `Cache-Control: public, max-age=60, no-cache="x"`)

	// Pragma means nothing in a response (section 5.4), nor do extensions (5.2.3).
	f(reason.None, get, 200, fresh, "Pragma: no-cache", "Cache-Control: x-ext, y=no-store")

	// Vary (section 4.1).
	f(reason.None, get, 200, fresh, "Vary: Accept, Accept-Encoding")
	f(reason.VaryStar, get, 200, fresh, "Vary: Accept", "Vary: , *")

	// Freshness that is there and of no use (section 4.2).
	f(reason.NoFreshness, get, 200)
	f(reason.NoFreshness, get, 200, "Cache-Control: public")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=0")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age='60'")
	f(reason.NoFreshness, get, 200, "Cache-Control: s-maxage=x, max-age=60")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=60", "Age: 60")
	f(reason.None, get, 200, "Cache-Control: max-age=60", "Age: 59")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=60", "Date: "+at(-time.Minute))
	f(reason.NoFreshness, get, 200, "Expires: 0")
	f(reason.NoFreshness, get, 500, "Cache-Control: max-age=0")
	f(reason.NoFreshness, get, 200, "Last-Modified: "+at(-1000*time.Hour))
}

func TestStorableCountsTheTimeOfTheExchange(t *testing.T) {
	resp := response(t, 200, "Cache-Control: max-age=2")
	resp.RequestTime = received.Add(-2 * time.Second)
	if got := Storable(get, resp, Options{}); got != reason.NoFreshness {
		t.Errorf("lifetime 2s, exchange 2s: got %q, want %q", got, reason.NoFreshness)
	}
}

// RFC 9111 section 3, RFC 9110 section 15, RFC 6585.
func TestStorableStatus(t *testing.T) {
	refused := map[int]reason.Reason{
		206: reason.Partial, 304: reason.NotModified, 412: reason.Status, 416: reason.Status,
		428: reason.Status, 429: reason.Status, 431: reason.Status, 511: reason.Status,
	}
	for status := range 1100 {
		want := refused[status]
		if status < 200 || status > 599 {
			want = reason.Status
		}
		got := Storable(get, response(t, status, "Cache-Control: max-age=60"), Options{})
		if got != want {
			t.Errorf("%d with max-age: got %q, want %q", status, got, want)
		}
	}
}

// RFC 9111 section 5.2.2.3.
func TestStorableMustUnderstand(t *testing.T) {
	f := func(want reason.Reason, status int, cacheControl string) {
		t.Helper()
		got := Storable(get, response(t, status, "Cache-Control: max-age=60, "+cacheControl), Options{})
		if got != want {
			t.Errorf("%d %q: got %q, want %q", status, cacheControl, got, want)
		}
	}
	for _, known := range []int{200, 204, 301, 308, 404, 410, 451, 503} {
		f(reason.None, known, "no-store, must-understand")
		f(reason.None, known, "must-understand")
		f(reason.NoStore, known, "no-store, must-understand=1")
		f(reason.Private, known, "no-store, must-understand, private")
	}
	for _, unknown := range []int{226, 299, 306, 399, 418, 425, 499, 506, 599} {
		f(reason.NoStore, unknown, "no-store, must-understand")
		f(reason.Status, unknown, "must-understand")
		f(reason.None, unknown, "public")
	}
	f(reason.Partial, 206, "no-store, must-understand")
}

// RFC 9111 section 3.5.
func TestStorableAuthorization(t *testing.T) {
	f := func(want reason.Reason, cacheControl string) {
		t.Helper()
		req := RequestFacts{Method: "GET", Authorization: true}
		if got := Storable(req, response(t, 200, "Cache-Control: "+cacheControl), Options{}); got != want {
			t.Errorf("%q: got %q, want %q", cacheControl, got, want)
		}
	}
	f(reason.Authorization, "max-age=60")
	f(reason.Authorization, "max-age=60, proxy-revalidate")
	f(reason.Authorization, "max-age=60, s-maxage=x")
	f(reason.Authorization, "max-age=60, public=1")
	f(reason.Authorization, "max-age=60, must-revalidate=1")
	f(reason.Authorization, `max-age=60, x="y, public`)
	f(reason.None, "max-age=60, public")
	f(reason.None, "max-age=60, must-revalidate")
	f(reason.None, "s-maxage=60")
	f(reason.Private, "s-maxage=60, private")
}

// RFC 9111 section 7.3.
func TestStorableSetCookie(t *testing.T) {
	f := func(want reason.Reason, lines ...string) {
		t.Helper()
		got := Storable(get, response(t, 200, append(lines, "Set-Cookie: a=b")...), Options{DefaultTTL: time.Minute})
		if got != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
	f(reason.SetCookie)
	f(reason.SetCookie, "Cache-Control: max-age=60")
	f(reason.SetCookie, "Cache-Control: max-age=60, must-revalidate")
	f(reason.SetCookie, "Expires: "+at(time.Minute))
	f(reason.None, "Cache-Control: max-age=60, public")
	f(reason.None, "Cache-Control: s-maxage=60")
	// Public does not stand in for freshness.
	f(reason.NoFreshness, "Cache-Control: public")
}

func TestStorableByDefaultTTL(t *testing.T) {
	f := func(want reason.Reason, req RequestFacts, status int, lines ...string) {
		t.Helper()
		got := Storable(req, response(t, status, lines...), Options{DefaultTTL: time.Minute})
		if got != want {
			t.Errorf("%+v %d %q: got %q, want %q", req, status, lines, got, want)
		}
	}
	for status := 200; status < 600; status++ {
		want := reason.Status
		if slices.Contains([]int{200, 203, 301, 308}, status) {
			want = reason.None
		} else if status == 206 {
			want = reason.Partial
		} else if status == 304 {
			want = reason.NotModified
		}
		f(want, get, status)
	}
	f(reason.NoFreshness, RequestFacts{Method: "GET", Cookie: true}, 200)
	f(reason.Authorization, RequestFacts{Method: "GET", Authorization: true}, 200)
	f(reason.NoFreshness, RequestFacts{Method: "GET", Authorization: true}, 200, "Cache-Control: public")
	f(reason.NoFreshness, get, 200, "Cache-Control: max-age=0")
	f(reason.NoFreshness, get, 200, "Expires: 0")
	f(reason.NoFreshness, get, 200, "Age: 60")
	f(reason.None, get, 200, "Cache-Control: public")
	// Cookie does not matter where the origin gave a lifetime.
	f(reason.None, RequestFacts{Method: "GET", Cookie: true}, 200, "Cache-Control: max-age=60")
}

// A default lifetime must not turn a misspelt refusal into a stored response.
func TestMisspeltRefusalIsNotStoredByDefaultTTL(t *testing.T) {
	f := func(cacheControl string) {
		t.Helper()
		got := Storable(get, response(t, 200, "Cache-Control: "+cacheControl), Options{DefaultTTL: time.Minute})
		if got == reason.None {
			t.Errorf("%q: got stored, want a reason against it", cacheControl)
		}
	}
	f("private; max-age=0")
	f("no-cache no-store")
	f(`"no-store"`)
	f("no-store;")
	f("foo=bar; private")
	f("max-age:60, max-age")
	f("private=" + strings.Repeat("x", 1000) + ";")
}
