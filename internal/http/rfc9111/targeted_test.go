package rfc9111

import (
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

// RFC 9213 section 2.2.
func TestTargetedFieldReplacesCacheControl(t *testing.T) {
	f := func(want time.Duration, why reason.Reason, lines ...string) {
		t.Helper()
		j := Judge(get, response(t, 200, lines...), Options{})
		if j.Why != why || j.Policy.Lifetime != want {
			t.Errorf("%q: got %v %q, want %v %q", lines, j.Policy.Lifetime, j.Why, want, why)
		}
	}
	f(minute, reason.None, "CDN-Cache-Control: max-age=60")
	f(minute, reason.None, "CDN-Cache-Control: max-age=60", "Cache-Control: no-store, private", "Expires: 0")
	f(minute, reason.None, "CDN-Cache-Control: foo", "CDN-Cache-Control: max-age=60;bar")
	f(minute, reason.None, "CDN-Cache-Control: max-age=1, max-age=60")
	f(maxSpan, reason.None, "CDN-Cache-Control: max-age=99999999999")
	f(0, reason.NoFreshness, "CDN-Cache-Control: max-age=0", "Cache-Control: max-age=60")
	f(0, reason.NoFreshness, "CDN-Cache-Control: max-age=-1", "Cache-Control: max-age=60")
	f(0, reason.NoStore, "CDN-Cache-Control: max-age=60, no-store", "Cache-Control: max-age=60")
	f(0, reason.Private, "CDN-Cache-Control: private", "Cache-Control: max-age=60")
	f(0, reason.NoCache, "CDN-Cache-Control: no-cache", "Cache-Control: max-age=60")

	// A valid field that says nothing known still replaces the others.
	f(0, reason.NoFreshness, "CDN-Cache-Control: none", "Cache-Control: max-age=60", "Expires: "+at(minute))

	// Restrictions count whatever their type, what widens only with the right one.
	f(0, reason.NoStore, "CDN-Cache-Control: max-age=60, no-store=?0")
	f(0, reason.NoStore, `CDN-Cache-Control: max-age=60, no-store="x"`)
	f(0, reason.Private, "CDN-Cache-Control: max-age=60, private=(a b)")
	f(0, reason.Private, "CDN-Cache-Control: max-age=60, private=1")
	f(minute, reason.None, `CDN-Cache-Control: max-age=60, stale-if-error="5", must-understand=1`)
}

func TestTargetedPolicy(t *testing.T) {
	h := head(t, `CDN-Cache-Control: max-age=60, stale-while-revalidate=5, stale-if-error=6, immutable, private="b", no-cache="a, c"`)
	j := Judge(get, ResponseFacts{Status: 200, Header: h, RequestTime: received, ResponseTime: received}, Options{})
	want := Policy{
		Lifetime: minute, Explicit: true, Immutable: true,
		WhileRevalidate: 5 * time.Second, IfError: 6 * time.Second, OriginFailure: 6 * time.Second, Keep: 6 * time.Second,
	}
	if j.Policy != want || strings.Join(j.Strip, " ") != "B A C" {
		t.Errorf("got %+v without %q, want %+v without B, A and C", j.Policy, j.Strip, want)
	}
}

// RFC 9213 section 2.1: a field that is empty, broken or of the wrong type counts
// as absent.
func TestInvalidTargetedFieldIsIgnored(t *testing.T) {
	f := func(values ...string) {
		t.Helper()
		h := field.List{{Name: "Cache-Control", Value: "max-age=9"}}
		for _, v := range values {
			h.Add("Cdn-Cache-Control", v)
		}
		if d := directivesOf(h, false); d.targeted || d.MaxAge != valid(9) || d.NoStore {
			t.Errorf("%q: got %+v, want Cache-Control alone", values, d)
		}
	}
	f("")
	f(" ")
	f(",")
	f("max-age=60, &&&&&")
	f("max-age=60,")
	f("max-age=60", "")
	f("MaX-aGe=60")
	f("max-age =60")
	f("max-age= 60")
	f(`max-age="60"`)
	f("max-age=60.0")
	f("max-age")
	f("max-age=?1")
	f("max-age=(60)")
	f("max-age=@60")
	f("max-age=sixty")
	f("s-maxage=x, max-age=60")
	f("max-age=9999999999999999")
	f("max-age=60; no-store, é")
	f("no-store, max-age=60" + strings.Repeat(", a", maxStructuredParts))
	f("no-store, x=" + strings.Repeat("a", maxStructuredBytes))
}

func TestStructuredFieldLimits(t *testing.T) {
	f := func(ok bool, values ...string) {
		t.Helper()
		h := field.List{{Name: "Other", Value: strings.Repeat("a", 2*maxStructuredBytes)}}
		for _, v := range values {
			h.Add("X", v)
		}
		lines, got := structuredLines(h, "X")
		if got != ok || ok && len(lines) != len(values) {
			t.Errorf("%d lines: got %v with %d, want %v", len(values), got, len(lines), ok)
		}
	}
	f(false)
	f(true, "")
	f(true, "a, b", "c")
	f(true, strings.Repeat("a", maxStructuredBytes))
	f(false, strings.Repeat("a", maxStructuredBytes), "a")
	for _, sep := range []string{",", ";", " ", "\t"} {
		f(true, strings.Repeat(sep, maxStructuredParts-1))
		f(false, strings.Repeat(sep, maxStructuredParts))
	}
	f(false, make([]string, maxStructuredParts+1)...)
}
