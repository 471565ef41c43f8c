package rfc9111

import (
	"strconv"
	"testing"
	"time"

	"edgeproxy/internal/http/reason"
)

// outcome is how a second request for the response is answered.
type outcome uint8

const (
	fetched   outcome = iota // nothing stored answers it, nor can be validated
	validated                // the origin is asked with the stored validator
	reused
)

func (o outcome) String() string { return [...]string{"fetched", "validated", "reused"}[o] }

// What the public suite http-cache-tests expects of a shared cache, as far as these
// rules decide it alone: the first argument of each line is the suite's name of the
// test. Times are from receipt; the second request comes after the pause that the
// suite makes.
func TestConformance(t *testing.T) {
	o := edge
	o.SetCookie = SetCookieStore
	f := func(id string, want outcome, status int, lines ...string) {
		t.Helper()
		if got := second(t, get, RequestDirectives{}, o, status, lines...); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	date := "Date: " + at(0)
	cc := func(s string) string { return "Cache-Control: " + s }
	expires := func(d time.Duration) string { return "Expires: " + at(d) }

	// cc-freshness
	f("freshness-none", fetched, 200)
	f("freshness-max-age", reused, 200, cc("max-age=3600"))
	f("freshness-max-age-0", fetched, 200, cc("max-age=0"))
	f("freshness-max-age-max-minus-1", reused, 200, cc("max-age=2147483647"))
	f("freshness-max-age-max", reused, 200, cc("max-age=2147483648"))
	f("freshness-max-age-max-plus-1", reused, 200, cc("max-age=2147483649"))
	f("freshness-max-age-max-plus", reused, 200, cc("max-age=99999999999"))
	f("freshness-max-age-age", fetched, 200, date, cc("max-age=3600"), "Age: 7200")
	f("freshness-max-age-date", fetched, 200, "Date: "+at(-2*time.Hour), cc("max-age=3600"))
	f("freshness-max-age-expires", reused, 200, cc("max-age=3600"), expires(-2*time.Hour), date)
	f("freshness-max-age-expires-invalid", reused, 200, cc("max-age=3600"), "Expires: 0", date)
	f("freshness-max-age-0-expires", fetched, 200, cc("max-age=0"), expires(time.Hour), date)
	f("freshness-max-age-extension", reused, 200, cc("foobar, max-age=3600"))
	f("freshness-max-age-case-insenstive", reused, 200, cc("MaX-aGe=3600"))
	f("freshness-max-age-negative", fetched, 200, cc("max-age=-3600"))
	f("freshness-s-maxage-shared", reused, 200, cc("s-maxage=3600"))
	f("freshness-max-age-s-maxage-shared-longer", fetched, 200, cc("max-age=3600, s-maxage=1"))
	f("freshness-max-age-s-maxage-shared-longer-reversed", fetched, 200, cc("s-maxage=1, max-age=3600"))
	f("freshness-max-age-s-maxage-shared-longer-multiple", fetched, 200, cc("max-age=3600"), cc("s-maxage=1"))
	f("freshness-max-age-s-maxage-shared-shorter", reused, 200, cc("max-age=1, s-maxage=3600"))
	f("freshness-max-age-s-maxage-shared-shorter-expires", reused, 200, expires(-10*time.Second), cc("max-age=0, s-maxage=3600"))

	// cc-parse
	f("freshness-max-age-two-fresh-stale-sameline", fetched, 200, cc("max-age=1800, max-age=1"))
	f("freshness-max-age-two-fresh-stale-sepline", fetched, 200, cc("max-age=1800"), cc("max-age=1"))
	f("freshness-max-age-two-stale-fresh-sameline", fetched, 200, cc("max-age=1, max-age=1800"))
	f("freshness-max-age-two-stale-fresh-sepline", fetched, 200, cc("max-age=1"), cc("max-age=1800"))
	f("freshness-max-age-quoted", reused, 200, cc(`max-age="3600"`))
	f("freshness-max-age-ignore-quoted", fetched, 200, cc(`extension="max-age=3600", max-age=1`))
	f("freshness-max-age-ignore-quoted-rev", fetched, 200, cc(`max-age=1, extension="max-age=3600"`))
	f("freshness-max-age-space-before-equals", fetched, 200, cc("max-age =3600"))
	f("freshness-max-age-space-after-equals", fetched, 200, cc("max-age= 3600"))
	f("freshness-max-age-leading-zero", reused, 200, cc("max-age=003600"))
	f("freshness-max-age-single-quoted", fetched, 200, cc("max-age='3600'"))
	f("freshness-max-age-decimal-zero", fetched, 200, cc("max-age=3600.0"))
	f("freshness-max-age-decimal-five", fetched, 200, cc("max-age=3600.5"))
	f("freshness-max-age-a100", fetched, 200, cc("max-age=a3600"))
	f("freshness-max-age-100a", fetched, 200, cc("max-age=3600a"))

	// age-parse
	age := func(id string, want outcome, values ...string) {
		t.Helper()
		lines := []string{date, cc("max-age=3600")}
		for _, v := range values {
			lines = append(lines, "Age: "+v)
		}
		f(id, want, 200, lines...)
	}
	age("age-parse-nonnumeric", reused, "abc")
	age("age-parse-negative", reused, "-7200")
	age("age-parse-float", reused, "7200.0")
	age("age-parse-large-minus-one", fetched, "2147483647")
	age("age-parse-large", fetched, "2147483648")
	age("age-parse-larger", fetched, "2147483649")
	age("age-parse-suffix", fetched, "7200, 0")
	age("age-parse-prefix", reused, "0, 7200")
	age("age-parse-suffix-twoline", fetched, "7200", "0")
	age("age-parse-prefix-twoline", reused, "0", "7200")
	age("age-parse-dup-0", reused, "0, 0")
	age("age-parse-dup-0-twoline", reused, "0", "0")
	f("age-parse-dup-old", reused, 200, date, cc("max-age=10000"), "Age: 3600", "Age: 3600")
	age("age-parse-parameter", fetched, "7200;foo=bar")
	age("age-parse-numeric-parameter", fetched, "7200;foo=111")

	// expires
	f("freshness-expires-future", reused, 200, expires(720*time.Hour), date)
	f("freshness-expires-past", fetched, 200, expires(-720*time.Hour), date)
	f("freshness-expires-present", fetched, 200, expires(0), date)
	f("freshness-expires-old-date", fetched, 200, expires(300*time.Second), "Date: "+at(400*time.Second))
	f("freshness-expires-invalid", fetched, 200, "Expires: 0", date)
	f("freshness-expires-invalid-date", reused, 200, "Date: foo", expires(10*time.Second))
	f("freshness-expires-age-slow-date", fetched, 200, "Date: "+at(-10*time.Second), expires(10*time.Second), "Age: 25")
	f("freshness-expires-age-fast-date", fetched, 200, "Date: "+at(10*time.Second), expires(20*time.Second), "Age: 15")

	// expires-parse
	f("freshness-expires-32bit", reused, 200, "Expires: Tue, 19 Jan 2038 14:14:08 GMT", date)
	f("freshness-expires-far-future", reused, 200, "Expires: Sun, 21 Nov 2286 04:46:39 GMT", date)
	f("freshness-expires-rfc850", reused, 200, "Expires: Thursday, 18-Aug-50 02:01:18 GMT", date)
	f("freshness-expires-ansi-c", reused, 200, "Expires: Thu Aug  8 02:01:18 2050", date)
	f("freshness-expires-wrong-case-weekday", reused, 200, "Expires: THU, 18 Aug 2050 02:01:18 GMT", date)
	f("freshness-expires-wrong-case-month", reused, 200, "Expires: Thu, 18 AUG 2050 02:01:18 GMT", date)
	f("freshness-expires-wrong-case-tz", reused, 200, "Expires: Thu, 18 Aug 2050 02:01:18 gMT", date)
	f("freshness-expires-invalid-utc", fetched, 200, "Expires: Thu, 18 Aug 2050 02:01:18 UTC", date)
	f("freshness-expires-invalid-aest", fetched, 200, "Expires: Thu, 18 Aug 2050 02:01:18 AEST", date)
	f("freshness-expires-invalid-2-digit-year", fetched, 200, "Expires: Thu, 18 Aug 50 02:01:18 GMT", date)
	f("freshness-expires-invalid-no-comma", fetched, 200, "Expires: Thu 18 Aug 2050 02:01:18 GMT", date)
	f("freshness-expires-invalid-multiple-spaces", fetched, 200, "Expires: Thu, 18  Aug  2050 02:01:18 GMT", date)
	f("freshness-expires-invalid-date-dashes", fetched, 200, "Expires: Thu, 18-Aug-2050 02:01:18 GMT", date)
	f("freshness-expires-invalid-time-periods", fetched, 200, "Expires: Thu, 18 Aug 2050 02.01.18 GMT", date)
	f("freshness-expires-invalid-1-digit-hour", fetched, 200, "Expires: Thu, 18 Aug 2050 2:01:18 GMT", date)
	f("freshness-expires-invalid-multiple-lines", fetched, 200, "Expires: Thu, 18 Aug 2050 2:01:18 GMT", "Expires: Thu, 18 Aug 2050 2:01:19 GMT", date)

	// cc-response
	f("cc-resp-private-shared", fetched, 200, cc("private, max-age=3600"))
	f("cc-resp-no-store", fetched, 200, cc("no-store"))
	f("cc-resp-no-store-case-insensitive", fetched, 200, cc("No-StOrE"))
	f("cc-resp-no-store-fresh", fetched, 200, cc("max-age=10000, no-store"), expires(10000*time.Second), date)
	f("cc-resp-no-cache", fetched, 200, cc("max-age=10000, no-cache"), expires(10000*time.Second), date)
	f("cc-resp-no-cache-case-insensitive", fetched, 200, cc("max-age=10000, No-CaChE"), expires(10000*time.Second), date)
	f("cc-resp-no-cache-revalidate", validated, 200, cc("no-cache"), `ETag: "abcd"`)
	f("cc-resp-no-cache-revalidate-fresh", validated, 200, cc("max-age=10000, no-cache"), expires(10000*time.Second), date, `ETag: "abcd"`)
	f("headers-omit-headers-listed-in-Cache-Control-no-cache-single", reused, 200, cc(`no-cache="a"`), "a: 1", cc("max-age=3600"))
	f("cc-resp-must-revalidate-fresh", reused, 200, cc("max-age=10000, must-revalidate"), `ETag: "abcd"`)
	f("cc-resp-must-revalidate-stale", validated, 200, cc("max-age=2, must-revalidate"), `ETag: "abcd"`)

	// stale
	f("stale-while-revalidate", reused, 200, cc("max-age=1, stale-while-revalidate=3600"), `ETag: "abc"`)
	f("stale-while-revalidate-window", validated, 200, cc("max-age=1, stale-while-revalidate=1"), `ETag: "abc"`)

	// status
	for _, status := range []int{200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599} {
		id := "status-" + strconv.Itoa(status)
		f(id+"-fresh", reused, status, expires(100000*time.Second), "Last-Modified: "+at(0), date)
		f(id+"-stale", validated, status, expires(-5000*time.Second), "Last-Modified: "+at(-100000*time.Second), date)
	}
	f("status-599-must-understand", fetched, 599, cc("max-age=3600, must-understand"))

	// pragma
	f("pragma-response-no-cache", reused, 200, cc("max-age=3600"), "Pragma: no-cache")
	f("pragma-response-no-cache-heuristic", reused, 200, "Last-Modified: "+at(-10000*time.Second), "Pragma: no-cache")
	f("pragma-response-extension", reused, 200, cc("max-age=3600"), "Pragma: unrecognised-extension")

	// vary-parse; in the suite all of these have a lifetime
	vary := func(id string, lines ...string) {
		t.Helper()
		f(id, fetched, 200, append(lines, cc("max-age=5000"), "Last-Modified: "+at(-3000*time.Second))...)
	}
	vary("vary-syntax-star", "Vary: *")
	vary("vary-syntax-star-star", "Vary: *, *")
	vary("vary-syntax-star-star-lines", "Vary: *", "Vary: *")
	vary("vary-syntax-empty-star", "Vary: , *")
	vary("vary-syntax-empty-star-lines", "Vary:", "Vary: *")
	vary("vary-syntax-star-foo", "Vary: *, Foo")
	vary("vary-syntax-foo-star", "Vary: Foo, *")

	// other
	f("other-heuristic-content-disposition-attachment", reused, 200, "Last-Modified: "+at(-100000*time.Second), date, "Content-Disposition: attachment")
	f("other-set-cookie", reused, 200, cc("max-age=3600"), "Set-Cookie: a=b")
}

func TestConformanceOfTargetedFields(t *testing.T) {
	f := func(id string, want outcome, targeted string, lines ...string) {
		t.Helper()
		if got := second(t, get, RequestDirectives{}, edge, 200, append(lines, "CDN-Cache-Control: "+targeted)...); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	cc, date, later := "Cache-Control: max-age=10000", "Date: "+at(0), "Expires: "+at(10000*time.Second)
	f("cdn-max-age", reused, "max-age=3600")
	f("cdn-max-age-max", reused, "max-age=2147483648")
	f("cdn-max-age-max-plus", reused, "max-age=99999999999")
	f("cdn-max-age-age", fetched, "max-age=3600", date, "Age: 7200")
	f("cdn-max-age-space-before-equals", fetched, "max-age =100", "Cache-Control: max-age=1")
	f("cdn-max-age-space-after-equals", fetched, "max-age= 100", "Cache-Control: max-age=1")
	f("cdn-max-age-0", fetched, "max-age=0")
	f("cdn-max-age-extension", reused, "foobar, max-age=3600")
	f("cdn-max-age-case-insensitive", fetched, "MaX-aGe=3600")
	f("cdn-max-age-expires", reused, "max-age=3600", "Expires: "+at(-10000*time.Second), date)
	f("cdn-max-age-cc-max-age-invalid-expires", reused, "max-age=3600", "Expires: 0", date)
	f("cdn-max-age-0-expires", fetched, "max-age=0", later, date)
	f("cdn-max-age-short-cc-max-age", reused, "max-age=3600", "Cache-Control: max-age=1")
	f("cdn-max-age-long-cc-max-age", fetched, "max-age=1", "Cache-Control: max-age=3600")
	f("cdn-private", fetched, "private", cc, later, date)
	f("cdn-no-cache", fetched, "no-cache", cc, later, date)
	f("cdn-no-store-cc-fresh", fetched, "no-store", cc, later, date)
	f("cdn-fresh-cc-nostore", reused, "max-age=10000", "Cache-Control: no-store")
	f("cdn-cc-invalid-sh-type-unknown", fetched, "max-age=10000, &&&&&", "Cache-Control: no-store")
	f("cdn-cc-invalid-sh-type-wrong", fetched, `max-age="10000"`, "Cache-Control: no-store")
}

func TestConformanceOfSurrogateControl(t *testing.T) {
	o := edge
	o.SurrogateControl = true
	f := func(id string, want outcome, surrogate string, lines ...string) {
		t.Helper()
		if got := second(t, get, RequestDirectives{}, o, 200, append(lines, "Surrogate-Control: "+surrogate)...); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	date, later := "Date: "+at(0), "Expires: "+at(10000*time.Second)
	f("surrogate-max-age", reused, "max-age=3600")
	f("surrogate-max-age-max", reused, "max-age=2147483648")
	f("surrogate-max-age-max-plus", reused, "max-age=99999999999")
	f("surrogate-max-age-me-target", reused, "max-age=3600;CAPABILITY_TARGET")
	f("surrogate-max-age-other-target", fetched, "max-age=3600;not-for-you", date, "Age: 7200")
	f("surrogate-max-age-age", fetched, "max-age=3600", date, "Age: 7200")
	f("surrogate-max-age-space-before-equals", fetched, "max-age =100", "Cache-Control: max-age=1")
	f("surrogate-max-age-space-after-equals", fetched, "max-age= 100", "Cache-Control: max-age=1")
	f("surrogate-max-age-0", fetched, "max-age=0")
	f("surrogate-max-age-extension", reused, "foobar, max-age=3600")
	f("surrogate-max-age-case-insensitive", reused, "MaX-aGe=3600")
	f("surrogate-max-age-expires", reused, "max-age=3600", "Expires: "+at(-10000*time.Second), date)
	f("surrogate-max-age-cc-max-age-invalid-expires", reused, "max-age=3600", "Expires: 0", date)
	f("surrogate-max-age-0-expires", fetched, "max-age=0", later, date)
	f("surrogate-max-age-short-cc-max-age", reused, "max-age=3600", "Cache-Control: max-age=1")
	f("surrogate-max-age-long-cc-max-age", fetched, "max-age=1", "Cache-Control: max-age=3600")
	f("surrogate-no-store", fetched, "no-store")
	f("surrogate-no-store-cc-fresh", fetched, "no-store", "Cache-Control: max-age=10000", later, date)
	f("surrogate-fresh-cc-nostore", reused, "max-age=10000;CAPABILITY_TARGET", "Cache-Control: no-store")
}

func TestConformanceOfHeuristics(t *testing.T) {
	f := func(id string, want outcome, status int, lines ...string) {
		t.Helper()
		lines = append(lines, "Date: "+at(0), "Last-Modified: "+at(-24*time.Hour))
		if got := second(t, get, RequestDirectives{}, edge, status, lines...); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	for _, status := range []int{200, 203, 204, 404, 405, 410, 414, 501} {
		f("heuristic-"+strconv.Itoa(status)+"-cached", reused, status)
	}
	for _, status := range []int{201, 202, 403, 502, 503, 504, 599} {
		f("heuristic-"+strconv.Itoa(status)+"-not_cached", fetched, status)
	}
	f("heuristic-599-cached", reused, 599, "Cache-Control: public")
}

func TestConformanceOfRequests(t *testing.T) {
	f := func(id string, want outcome, request string, lines ...string) {
		t.Helper()
		if got := second(t, get, asks(request), edge, 200, lines...); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	const long, tag = "Cache-Control: max-age=100000", `ETag: "a"`
	f("ccreq-ma0", validated, "max-age=0", long, tag)
	f("ccreq-ma1", validated, "max-age=1", long, tag)
	f("ccreq-magreaterage", validated, "max-age=600", long, tag, "Age: 1800")
	f("ccreq-max-stale", reused, "max-stale=1000", "Cache-Control: max-age=2", tag)
	f("ccreq-max-stale-age", reused, "max-stale=1000", "Cache-Control: max-age=1500", tag, "Age: 2000")
	f("ccreq-min-fresh", validated, "min-fresh=2000", "Cache-Control: max-age=1500", tag)
	f("ccreq-min-fresh-age", validated, "min-fresh=1000", "Cache-Control: max-age=1500", tag, "Age: 1000")
	f("ccreq-no-cache-etag", validated, "no-cache", "Cache-Control: max-age=3600", tag)
	f("ccreq-no-cache-lm", validated, "no-cache", "Cache-Control: max-age=3600", "Last-Modified: "+at(-10000*time.Second))

	g := func(id string, want outcome, cacheControl string) {
		t.Helper()
		req := RequestFacts{Method: "GET", Authorization: true}
		if got := second(t, req, RequestDirectives{}, edge, 200, "Cache-Control: "+cacheControl, "Date: "+at(0)); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	g("other-authorization", fetched, "max-age=100000")
	g("other-authorization-public", reused, "max-age=3600, public")
	g("other-authorization-must-revalidate", reused, "max-age=3600, must-revalidate")
	g("other-authorization-smaxage", reused, "s-maxage=3600")
}

// After which failures a stale response may be served.
func TestConformanceOfStaleResponses(t *testing.T) {
	f := func(id string, want bool, kind Failure, cacheControl string) {
		t.Helper()
		j := judged(t, get, edge, "Cache-Control: "+cacheControl, "Date: "+at(0), `ETag: "a"`)
		if got := j.Policy.MayServeStale(3*time.Second, kind, RequestDirectives{}, false); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	f("stale-close", true, OriginFailure, "max-age=2")
	f("stale-503", false, ServerError, "max-age=2")
	f("stale-sie-close", true, OriginFailure, "max-age=2, stale-if-error=60")
	f("stale-sie-503", true, ServerError, "max-age=2, stale-if-error=60")
	f("stale-close-must-revalidate", false, OriginFailure, "max-age=2, must-revalidate")
	f("stale-close-proxy-revalidate", false, OriginFailure, "max-age=2, proxy-revalidate")
	f("stale-close-no-cache", false, OriginFailure, "max-age=2, no-cache")
	f("stale-close-s-maxage=2", false, OriginFailure, "max-age=2, s-maxage=2")
}

// second judges a response and returns the outcome of the next request, three
// seconds later, with the directives of the client honoured.
func second(t *testing.T, req RequestFacts, next RequestDirectives, o Options, status int, lines ...string) outcome {
	t.Helper()
	resp := response(t, status, lines...)
	j := Judge(req, resp, o)
	if j.Why != reason.None {
		return fetched
	}
	initial := InitialAge(resp.Header, resp.RequestTime, resp.ResponseTime)
	age := CurrentAge(initial, resp.ResponseTime, resp.ResponseTime.Add(3*time.Second))
	switch {
	case j.Policy.Use(age, next, true) != UseAfterValidation:
		return reused
	case j.Policy.Useful(age) && ValidationFields(resp.Header, received) != nil:
		return validated
	}
	return fetched
}
