package rfc9111

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
)

func cacheControl(values ...string) field.List {
	var h field.List
	for _, v := range values {
		h.Add("Cache-Control", v)
	}
	return h
}

func valid(seconds int64) Delta { return Delta{seconds: seconds, present: true, valid: true} }

var invalid = Delta{present: true}

func diff(got, want any) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(Delta{}, ResponseDirectives{}, RequestDirectives{}))
}

// RFC 9111 section 5.2.2.
func TestParseResponse(t *testing.T) {
	f := func(want ResponseDirectives, values ...string) {
		t.Helper()
		if d := diff(ParseResponse(cacheControl(values...)), want); d != "" {
			t.Errorf("%q (-want +got):\n%s", values, d)
		}
	}
	none := ResponseDirectives{}
	// No directive, and unknown ones.
	f(none)
	f(none, "", " ", ",", " ,\t,, ")
	f(none, `foo, foo=bar, foo="bar"`)
	f(none, "no-storeX", "xno-store", "no_store", "max-ag=1")

	// Each directive, in any case, over lines.
	f(ResponseDirectives{NoStore: true}, "nO-StOrE")
	f(ResponseDirectives{NoCache: true, Private: true}, "No-CaChE", "PRIVATE")
	f(ResponseDirectives{Public: true, ProxyRevalidate: true, MustUnderstand: true}, "public,proxy-revalidate , must-understand")
	f(ResponseDirectives{MustRevalidate: true, sureRevalidate: true}, "must-revalidate")
	f(ResponseDirectives{MaxAge: valid(1), SMaxAge: valid(2)}, "MaX-aGe=1", "\ts-MAXAGE=2 ")

	// Extensions (RFC 5861, RFC 8246).
	f(ResponseDirectives{Immutable: true}, "Immutable")
	f(ResponseDirectives{StaleWhileRevalidate: valid(3), StaleIfError: valid(4)}, "stale-while-revalidate=3, STALE-IF-ERROR=4")
	f(ResponseDirectives{StaleWhileRevalidate: valid(3), StaleIfError: invalid}, "stale-while-revalidate=5, stale-if-error=9", "stale-while-revalidate=3, stale-if-error")

	// The qualified forms (sections 5.2.2.4 and 5.2.2.7).
	f(ResponseDirectives{NoCacheFields: []string{"A", "Set-Cookie"}}, `no-cache="a, , set-cookie"`)
	f(ResponseDirectives{PrivateFields: []string{"A"}}, `private=a`)
	f(ResponseDirectives{PrivateFields: []string{"A", "B"}}, `private="a"`, `private="b"`)
	f(ResponseDirectives{Private: true}, `private=""`)
	f(ResponseDirectives{Private: true}, `private="a b"`)
	f(ResponseDirectives{Private: true}, `private='X-User'`) // it was a field called 'X-User', and X-User was shared
	f(ResponseDirectives{Private: true, PrivateFields: []string{"A"}}, `private="a", private`)
	f(ResponseDirectives{Private: true}, `private, private="a"`)
	f(ResponseDirectives{Private: true}, `x"y, private="a"`)
	f(ResponseDirectives{NoCache: true}, `no-cache="`+strings.Repeat("a,", maxFieldNames+1)+`"`)
	// Without these fields the response would be another one.
	f(ResponseDirectives{NoCache: true}, `no-cache="content-encoding"`)
	f(ResponseDirectives{Private: true}, `private="a, Vary"`)
}

// A directive that widens the use of a response must be well-formed.
func TestWideningDirectivesNeedTheGrammar(t *testing.T) {
	f := func(value string) {
		t.Helper()
		d := ParseResponse(cacheControl(value))
		if d.Public || d.MustUnderstand || d.sureRevalidate || d.Immutable || d.StaleWhileRevalidate.Valid() || d.StaleIfError.Valid() {
			t.Errorf("%q: got %+v, want nothing that widens", value, d)
		}
	}
	f("public=1, must-understand=1, must-revalidate=1, immutable=1, stale-if-error=x")
	f(`public="", must-understand="", must-revalidate=""`)
	f("public; must-understand; must-revalidate; immutable; stale-while-revalidate=5; stale-if-error=5")
	f(`"public", "must-understand", "must-revalidate"`)
	f(`x="y, public, must-understand, must-revalidate, immutable, stale-while-revalidate=5, stale-if-error=5`)
	f(`x="y"", public, must-understand, must-revalidate`)
	f(`x="public, must-understand, must-revalidate"`)
	f(`x= "y", public, must-understand, must-revalidate`)
	f(`x=="y", public, must-understand, must-revalidate`)
}

// A malformed directive never hides another.
func TestBadDirectiveHidesNoOther(t *testing.T) {
	f := func(value string) {
		t.Helper()
		d := ParseResponse(cacheControl(value))
		if !d.NoStore {
			t.Errorf("response %q: got no no-store, want it", value)
		}
		var r RequestDirectives
		r.Add([]byte(value))
		if !r.NoStore {
			t.Errorf("request %q: got no no-store, want it", value)
		}
	}
	f("no-store")
	f("max-age=x, no-store")
	f("=, no-store")
	f("==5,no-store")
	f(`x="unclosed, no-store`)
	f(`x="unclosed\", no-store`)
	f(`x="unclosed\` + `, no-store`)
	f(`x"y, no-store, z"`)
	f(`x= "y, no-store, z"`)
	f(`x=="y, no-store, z"`)
	f(`x="a"b"c, no-store, "`)
	f(`", no-store, "`)
	f(`"no-store"`)
	f("private; no-store")
	f("max-age=60; no-store")
	f("max-age=60 no-store")
	f("x\x00y no-store")
	f("no-store=1")
	f("no-store=")
	f("no-store = x")
	f(`no-store="`)
	f("é, no-store")
}

func TestQuotedCommaDoesNotSplit(t *testing.T) {
	f := func(value string, want ResponseDirectives) {
		t.Helper()
		if d := diff(ParseResponse(cacheControl(value)), want); d != "" {
			t.Errorf("%q (-want +got):\n%s", value, d)
		}
	}
	f(`ext="max-age=3600, no-store", max-age=1`, ResponseDirectives{MaxAge: valid(1)})
	f(`max-age=1, ext="max-age=3600"`, ResponseDirectives{MaxAge: valid(1)})
	f(`ext="a\", no-store, \\", max-age=1`, ResponseDirectives{MaxAge: valid(1)})
	f(`ext="", public`, ResponseDirectives{Public: true})
}

// RFC 9111 sections 1.2.2 and 4.2.1.
func TestDeltaSeconds(t *testing.T) {
	f := func(value string, want Delta) {
		t.Helper()
		d := ParseResponse(cacheControl(value))
		if d.MaxAge != want {
			t.Errorf("%q: got %+v, want %+v", value, d.MaxAge, want)
		}
	}
	f("", Delta{})
	f("max-age=0", valid(0))
	f("max-age=3600", valid(3600))
	f("max-age=003600", valid(3600))
	f(`max-age="3600"`, valid(3600))
	f(`max-age="36\00"`, valid(3600))
	f(`max-age="`+strings.Repeat("0", 30)+`7"`, valid(7))
	f("max-age=2147483647", valid(2147483647))
	f("max-age=2147483648", valid(2147483648))
	f("max-age=2147483649", valid(2147483648))
	f("max-age=99999999999", valid(2147483648))
	f("max-age="+strings.Repeat("9", 100), valid(2147483648))

	f("max-age", invalid)
	f("max-age=", invalid)
	f(`max-age=""`, invalid)
	f("max-age=-3600", invalid)
	f("max-age=+3600", invalid)
	f("max-age='3600'", invalid)
	f("max-age=a3600", invalid)
	f("max-age=3600a", invalid)
	f("max-age=3600.0", invalid)
	f("max-age=36 00", invalid)
	f("max-age =3600", invalid)
	f("max-age= 3600", invalid)
	f(`max-age="3600`, invalid)
	f(`max-age="3600"x`, invalid)
	f(`max-age=" 3600"`, invalid)
	f(`max-age="3600\`, invalid)
	f("max-age=60; public", invalid)
	f("public; max-age=60", invalid)
	f(`x"y, max-age=60`, invalid)
	f(strings.Repeat("9", 100)+"a", Delta{})

	// Of several the smallest; unreadable is smallest.
	f("max-age=1800, max-age=1", valid(1))
	f("max-age=1, max-age=1800", valid(1))
	f("max-age=1800, max-age=x", invalid)
	f("max-age=x, max-age=1800", invalid)
	f(`max-age=60, x="y`, valid(60))
}

func TestDeltaDuration(t *testing.T) {
	f := func(d Delta, present, ok bool, want time.Duration) {
		t.Helper()
		if d.Present() != present || d.Valid() != ok || d.Duration() != want {
			t.Errorf("%+v: got %v %v %v, want %v %v %v", d, d.Present(), d.Valid(), d.Duration(), present, ok, want)
		}
	}
	f(Delta{}, false, false, 0)
	f(invalid, true, false, 0)
	f(valid(5), true, true, 5*time.Second)
	f(valid(maxSeconds), true, true, 2147483648*time.Second)
}

// RFC 9111 section 5.2.1.
func TestRequestDirectives(t *testing.T) {
	f := func(want RequestDirectives, values ...string) {
		t.Helper()
		var got RequestDirectives
		for _, v := range values {
			got.Add([]byte(v))
		}
		if d := diff(got, want); d != "" {
			t.Errorf("%q (-want +got):\n%s", values, d)
		}
	}
	f(RequestDirectives{})
	f(RequestDirectives{}, "", "foo=bar")
	f(RequestDirectives{NoTransform: true}, "foo=bar", "No-Transform")
	f(RequestDirectives{NoStore: true, NoCache: true}, "No-Store", "NO-CACHE")
	f(RequestDirectives{OnlyIfCached: true}, "only-if-cached")
	f(RequestDirectives{}, "only-if-cached=1")
	f(RequestDirectives{}, `x="y, only-if-cached`)
	f(RequestDirectives{MaxAge: valid(5)}, "max-age=9, max-age=5")
	f(RequestDirectives{MaxAge: invalid}, "max-age=9", "max-age=x")
	f(RequestDirectives{MinFresh: valid(9)}, "min-fresh=x, min-fresh=5, min-fresh=9, min-fresh=7")
	f(RequestDirectives{MinFresh: invalid}, "min-fresh")
	f(RequestDirectives{MaxStale: valid(maxSeconds)}, "max-stale")
	f(RequestDirectives{MaxStale: valid(5)}, "max-stale, max-stale=5")
	f(RequestDirectives{StaleIfError: valid(4)}, "stale-if-error=9, stale-if-error=4")
	f(RequestDirectives{MaxStale: invalid}, "max-stale=")
	f(RequestDirectives{MaxStale: invalid}, `x="y, max-stale`)
}
