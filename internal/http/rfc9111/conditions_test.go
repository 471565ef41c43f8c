package rfc9111

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// RFC 9110 section 13.1.2.
func TestNotModifiedByIfNoneMatch(t *testing.T) {
	f := func(want bool, etag string, values ...string) {
		t.Helper()
		c := Conditions{Method: []byte("GET"), IfNoneMatch: lines(values...)}
		if got := NotModified(c, Representation{Status: 200, ETag: etag}, received); got != want {
			t.Errorf("%q against %q: got %v, want %v", values, etag, got, want)
		}
	}
	f(true, `"a"`, `"a"`)
	f(false, `"a"`, `"b"`)
	f(false, `"a"`, `"A"`)
	f(true, `""`, `""`)
	// Weak comparison, all four ways; the flag is case-sensitive.
	f(true, `W/"a"`, `"a"`)
	f(true, `"a"`, `W/"a"`)
	f(true, `W/"a"`, `W/"a"`)
	f(false, `"a"`, `w/"a"`)
	f(false, `"W/a"`, `W/"a"`)
	// Lists, on one line and several; a comma inside a tag is part of it.
	f(true, `"b"`, `"a", "b","c"`)
	f(true, `"c"`, ` ,, "a" ,	W/"b",,"c" , `)
	f(true, `"b"`, `"a"`, `"b"`)
	f(true, `"a,b"`, `"a,b"`)
	f(false, `"b"`, `"a,b"`)
	f(false, `", "`, `"a", "b"`)
	f(true, "\"\xfc\"", "\"\xfc\"")
	// The star stands alone.
	f(true, `"a"`, `*`)
	f(true, ``, ` * `)
	f(false, `"a"`, `*, "b"`)
	f(false, `"a"`, `"*"`)
	f(false, `"a"`, `**`)
	f(false, `"a"`, `*`, `*`)
	// A member that is no entity tag matches nothing, and neither does any after it.
	f(false, `"a"`, `a`)
	f(false, ``, ``)
	f(false, ``, `""`)
	f(false, `"a"`, ``)
	f(false, `"a"`, `"a`)
	f(false, `"a"`, `"`)
	f(false, `"a"`, `W/`)
	f(false, `"a"`, `W/a`)
	f(false, `"a"`, `"a"x`)
	f(false, `"a"`, `"b" "a"`)
	f(false, `"a"`, `b, "a"`)
	f(false, `"a b"`, `"a b"`)
	f(true, `"a"`, `b`, `"a"`)
	// The stored tag is invalid.
	f(false, `a`, `a`)
	f(false, `"a"b`, `"a"`)
}

// RFC 9110 section 13.1.3.
func TestNotModifiedByIfModifiedSince(t *testing.T) {
	modified := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	f := func(want bool, values ...string) {
		t.Helper()
		c := Conditions{Method: []byte("GET"), IfModifiedSince: lines(values...)}
		r := Representation{Status: 200, LastModified: modified, UnchangedSince: modified}
		if got := NotModified(c, r, received); got != want {
			t.Errorf("%q: got %v, want %v", values, got, want)
		}
		if NotModified(c, Representation{Status: 200}, received) {
			t.Errorf("%q, nothing to compare with: got true, want false", values)
		}
	}
	f(true, "Sun, 06 Nov 1994 08:49:37 GMT")
	f(true, "Sun, 06 Nov 1994 08:49:38 GMT")
	f(false, "Sun, 06 Nov 1994 08:49:36 GMT")
	f(true, "Sunday, 06-Nov-94 08:49:37 GMT")
	f(true, "Sun Nov  6 08:49:37 1994")
	f(true, " Sun, 06 Nov 1994 08:49:37 GMT\t")
	f(false, "")
	f(false, "tomorrow")
	f(false, "Sun, 06 Nov 1994 08:49:37 UTC")
	f(false, "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT")
	f(false, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT")
}

// RFC 9110 section 13.2.2.
func TestIfNoneMatchDecidesAlone(t *testing.T) {
	f := func(want bool, inm, ims string) {
		t.Helper()
		c := Conditions{Method: []byte("GET"), IfNoneMatch: lines(inm), IfModifiedSince: lines(ims)}
		r := Representation{Status: 200, ETag: `"a"`, UnchangedSince: received}
		if got := NotModified(c, r, received); got != want {
			t.Errorf("%q and %q: got %v, want %v", inm, ims, got, want)
		}
	}
	f(true, `"a"`, at(-time.Hour))
	f(false, `"b"`, at(time.Hour))
	f(false, ``, at(time.Hour))
	f(false, `junk`, at(time.Hour))
}

// RFC 9110 sections 13.1.2, 13.1.3 and 13.2.1; RFC 9111 section 4.3.2.
func TestConditionsCountForSomeOnly(t *testing.T) {
	f := func(want bool, method string, status int) {
		t.Helper()
		r := Representation{Status: status, ETag: `"a"`, UnchangedSince: received}
		m := []byte(method)
		if got := NotModified(Conditions{Method: m, IfNoneMatch: lines("*")}, r, received); got != want {
			t.Errorf("If-None-Match, %s, %d: got %v, want %v", method, status, got, want)
		}
		if got := NotModified(Conditions{Method: m, IfModifiedSince: lines(at(0))}, r, received); got != want {
			t.Errorf("If-Modified-Since, %s, %d: got %v, want %v", method, status, got, want)
		}
		if NotModified(Conditions{Method: m}, r, received) {
			t.Errorf("no condition, %s, %d: got true, want false", method, status)
		}
	}
	f(true, "GET", 200)
	f(true, "HEAD", 200)
	f(true, "GET", 206)
	f(false, "POST", 200)
	f(false, "get", 200)
	f(false, "", 200)
	f(false, "GET", 203)
	f(false, "GET", 301)
	f(false, "GET", 404)
	f(false, "GET", 500)
}

// RFC 9111 section 4.3.2, RFC 9110 section 8.8.
func TestRepresentationOf(t *testing.T) {
	f := func(want Representation, lines ...string) {
		t.Helper()
		want.Status = 200
		if d := cmp.Diff(want, RepresentationOf(200, head(t, lines...), received)); d != "" {
			t.Errorf("%q (-want +got):\n%s", lines, d)
		}
	}
	old := received.Add(-time.Hour)
	f(Representation{UnchangedSince: received})
	f(Representation{UnchangedSince: received}, "Date: never")
	f(Representation{UnchangedSince: old}, "Date: "+at(-time.Hour))
	f(Representation{LastModified: old, UnchangedSince: old}, "Last-Modified: "+at(-time.Hour))
	f(Representation{LastModified: old, UnchangedSince: old, StrongDate: true}, "Last-Modified: "+at(-time.Hour), "Date: "+at(-time.Hour+time.Second))
	f(Representation{LastModified: old, UnchangedSince: old}, "Last-Modified: "+at(-time.Hour), "Date: "+at(-time.Hour))
	f(Representation{LastModified: old, UnchangedSince: old}, "Last-Modified: "+at(-time.Hour), "Date: "+at(0), "Content-Encoding: gzip")
	f(Representation{}, "Last-Modified: never", "Date: "+at(0))
	f(Representation{}, "Last-Modified: "+at(0), "Last-Modified: "+at(1e9))

	tagged := func(etag string) Representation { return Representation{ETag: etag, UnchangedSince: received} }
	f(tagged(`"a"`), `ETag: "a"`)
	f(tagged(`W/"a"`), `ETag: W/"a"`)
	f(tagged(`"a"`), `ETag: "a"`, `ETag: "a"`)
	f(tagged(""), `ETag: "a"`, `ETag: "b"`)
	f(tagged(""), `ETag: a`)
	f(tagged(""), `ETag: "a", "b"`)
	f(tagged(""), `ETag:`)
}

// RFC 9110 section 13.1.5.
func TestIfRangeHolds(t *testing.T) {
	f := func(want bool, r Representation, values ...string) {
		t.Helper()
		if got := IfRangeHolds(lines(values...), r, received); got != want {
			t.Errorf("%q, %+v: got %v, want %v", values, r, got, want)
		}
	}
	strong := Representation{ETag: `"a"`, LastModified: received, StrongDate: true}
	weak := Representation{ETag: `W/"a"`, LastModified: received}
	f(true, strong)
	f(true, Representation{})
	f(true, strong, `"a"`)
	f(true, strong, ` "a" `)
	f(false, strong, `"b"`)
	// Strong comparison: both must be strong.
	f(false, strong, `W/"a"`)
	f(false, weak, `"a"`)
	f(false, weak, `W/"a"`)
	f(false, Representation{}, `"a"`)
	// No lists, no star, no junk.
	f(false, strong, `"a", "b"`)
	f(false, strong, `"a"`, `"a"`)
	f(false, strong, `*`)
	f(false, strong, `a`)
	f(false, strong, ``)
	// A date must be the very one, and strong.
	f(true, strong, at(0))
	f(true, strong, received.Format("Monday, 02-Jan-06 15:04:05 GMT"))
	f(false, strong, at(time.Second))
	f(false, strong, at(-time.Second))
	f(false, weak, at(0))
	f(false, Representation{}, at(0))
}
