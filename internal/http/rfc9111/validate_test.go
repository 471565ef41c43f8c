package rfc9111

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

// RFC 9111 section 4.3.1.
func TestValidationFields(t *testing.T) {
	f := func(want field.List, lines ...string) {
		t.Helper()
		h := head(t, lines...)
		got := ValidationFields(h, received)
		if !cmp.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", lines, got, want)
		}
		if has := hasValidator(h, received); has != (want != nil) {
			t.Errorf("%q: got validator %v, want %v", lines, has, want != nil)
		}
	}
	const date = "Sun, 06 Nov 1994 08:49:37 GMT"
	tag, since := field.Field{Name: "If-None-Match", Value: `"a"`}, field.Field{Name: "If-Modified-Since", Value: date}
	f(nil)
	f(field.List{tag, since}, `ETag: "a"`, "Last-Modified: "+date)
	f(field.List{tag}, `ETag: "a"`)
	f(field.List{{Name: "If-None-Match", Value: `W/"a"`}}, `ETag: W/"a"`)
	f(field.List{since}, "Last-Modified: "+date)
	// As it came, but for the obsolete forms.
	f(field.List{{Name: "If-Modified-Since", Value: "Mon, 06 NOV 1994 08:49:37 GMT"}}, "Last-Modified: Mon, 06 NOV 1994 08:49:37 GMT")
	f(field.List{since}, "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT")
	f(field.List{since}, "Last-Modified: Sun Nov  6 08:49:37 1994")
	// What cannot be read, or may be either of two, validates nothing.
	f(nil, "ETag: a", "Last-Modified: yesterday")
	f(nil, `ETag: "a"`, `ETag: "b"`, "Last-Modified: "+date, "Last-Modified: "+at(0))
	f(field.List{since}, `ETag: "a`, "Last-Modified: "+date)
	f(field.List{tag}, `ETag: "a"`, "Last-Modified: 0")
}

// RFC 9111 sections 3.2 and 4.3.4.
func TestUpdateReplacesFields(t *testing.T) {
	f := func(stored, from304, want []string) {
		t.Helper()
		s, from := head(t, stored...), head(t, from304...)
		got, ok := Update(s, from)
		if d := cmp.Diff(head(t, want...), got); d != "" || !ok {
			t.Errorf("%q by %q: got %v (-want +got):\n%s", stored, from304, ok, d)
		}
		if !cmp.Equal(s, head(t, stored...)) || !cmp.Equal(from, head(t, from304...)) {
			t.Errorf("%q by %q: an argument was written to", stored, from304)
		}
	}
	l := func(lines ...string) []string { return lines }
	f(l("A: 1", "B: 2"), l("B: 3", "C: 4"), l("A: 1", "B: 3", "C: 4"))
	f(l("A: 1", "A: 2", "B: 1"), l("A: 3", "A: 4"), l("B: 1", "A: 3", "A: 4"))
	f(l("Cache-Control: max-age=1", "Content-Type: a/b"), l("Cache-Control: max-age=2", "Content-Type: c/d"), l("Cache-Control: max-age=2", "Content-Type: c/d"))
	f(l("Set-Cookie: a=b"), l("Set-Cookie: a=c"), l("Set-Cookie: a=c"))

	// What describes the stored bytes, or how they came.
	bytes := l("Content-Length: 5", "Content-Encoding: gzip", "Content-Range: bytes 0-4/9", "Content-Digest: sha-256=:AA==:", "Via: 1.1 a")
	f(bytes, l("Content-Length: 0", "Content-Encoding: br", "Content-Range: bytes 0-1/2", "Content-Digest: sha-256=:BB==:", "Via: 1.1 b"), bytes)
	f(l("A: 1"), l("Content-Length: 9", "Content-Encoding: br"), l("A: 1"))

	// What ends at this hop.
	f(l("A: 1", "B: 1"), l("Connection: b, keep-alive", "B: 2", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic", "Transfer-Encoding: chunked"), l("A: 1", "B: 1"))

	// Age and Date are of the message that came last.
	f(l("Age: 9", "Date: "+at(-time.Hour)), l("Date: "+at(0)), l("Date: "+at(0)))
	f(l("Age: 9", "Date: "+at(-time.Hour)), l("Age: 3"), l("Age: 3"))
}

func TestUpdatedResponseIsFreshAgain(t *testing.T) {
	stored := head(t, "Cache-Control: max-age=60", "Date: "+at(-time.Hour), "Age: 100", `ETag: "a"`)
	updated, ok := Update(stored, head(t, `ETag: "a"`))
	if !ok {
		t.Fatal("got another response, want it confirmed")
	}
	j := Judge(get, ResponseFacts{Status: 200, Header: updated, RequestTime: received, ResponseTime: received}, edge)
	age := InitialAge(updated, received, received)
	if j.Why != reason.None || j.Policy.Use(age, RequestDirectives{}, false) != UseNow {
		t.Errorf("got %+v at age %v, want it fresh", j, age)
	}
	updated, ok = Update(stored, head(t, "Cache-Control: no-store"))
	if got := Judge(get, ResponseFacts{Status: 200, Header: updated, RequestTime: received, ResponseTime: received}, edge).Why; !ok || got != reason.NoStore {
		t.Errorf("a 304 with no-store: got %v %q, want %q", ok, got, reason.NoStore)
	}
}

// RFC 9111 section 4.3.4, RFC 9110 section 8.8.3.2.
func TestUpdateTellsAnotherResponse(t *testing.T) {
	f := func(want bool, stored, from304 []string) {
		t.Helper()
		got, ok := Update(head(t, stored...), head(t, from304...))
		if ok != want || !ok && got != nil {
			t.Errorf("%q by %q: got %v %v, want %v", stored, from304, got, ok, want)
		}
	}
	l := func(lines ...string) []string { return lines }
	lm, newer := "Last-Modified: "+at(-time.Hour), "Last-Modified: "+at(0)
	f(true, l(`ETag: "a"`, lm), l())
	f(true, l(`ETag: "a"`, lm), l(`ETag: "a"`))
	f(true, l(`ETag: "a"`, lm), l(`ETag: "a"`, newer))
	f(true, l(`ETag: "a"`, lm), l(lm))
	f(true, l(lm), l(lm))
	f(true, l(lm), l(lm, `ETag: W/"a"`))
	f(true, l(`ETag: W/"a"`), l(`ETag: W/"a"`))
	f(true, l(`ETag: W/"a"`), l(`ETag: "a"`))
	f(true, l(`ETag: "a"`), l(`ETag: W/"a"`))
	f(true, l(`ETag: a`), l(`ETag: a`))

	f(false, l(`ETag: "a"`, lm), l(`ETag: "b"`, lm))
	f(false, l(`ETag: "a"`, lm), l(`ETag: W/"b"`, lm))
	f(false, l(lm), l(lm, `ETag: "a"`))
	f(false, l(lm), l(`ETag: W/"a"`))
	f(false, l(`ETag: "a"`, lm), l(newer))
	f(false, l(lm), l(newer))
	f(false, l(lm), l(lm, newer))
	f(false, l(`ETag: "a"`), l(lm))
}

// A weak tag that a 304 repeats as a strong one stays weak, or ranges of two
// encodings could be joined.
func TestUpdateMakesNoTagStrong(t *testing.T) {
	f := func(want, stored, from304 string) {
		t.Helper()
		h, ok := Update(head(t, "ETag: "+stored), head(t, "ETag: "+from304))
		if got, _ := h.Get("Etag"); !ok || got != want {
			t.Errorf("%s by %s: got %s %v, want %s", stored, from304, got, ok, want)
		}
		if n := len(h.Values("Etag")); n != 1 {
			t.Errorf("%s by %s: got %d tags, want 1", stored, from304, n)
		}
	}
	f(`W/"a"`, `W/"a"`, `"a"`)
	f(`"a"`, `"a"`, `W/"a"`)
	f(`"a"`, `"a"`, `"a"`)
}

// What a 304 brings for one client stays out of what is stored, whatever the origin calls the response.
func TestForOneClient(t *testing.T) {
	for _, rule := range []SetCookie{SetCookieRefuse, SetCookieShared, SetCookieStrip, SetCookieStore} {
		for name, want := range map[string]bool{
			"Set-Cookie": true, "Authentication-Info": true, "Www-Authenticate": true, "Clear-Site-Data": true, "Set-Cookie2": true,
			"Cache-Control": false, "Etag": false, "Expires": false, "Vary": false, "X-Version": false, "Content-Security-Policy": false,
		} {
			if got := ForOneClient(name, rule); got != (want && rule != SetCookieStore) {
				t.Errorf("%s, rule %d: got %v, want %v", name, rule, got, want)
			}
		}
	}
}
