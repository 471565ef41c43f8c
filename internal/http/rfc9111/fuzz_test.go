package rfc9111

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

// A directive that restricts counts, whatever is beside it. Nothing after a
// lifetime can make it longer.
func FuzzDirectives(f *testing.F) {
	for _, seed := range []string{
		"", ",", `"`, `\`, "=", "max-age=60", `private="a, b"`, `x="unclosed`, `x="\`, "private; max-age=60", `a="b"c"d`, `no-cache="`, "max-age =5",
		`max-age="5\`, "public, s-maxage=99999999999", "must-understand", `""=""`, "\x00\xff", strings.Repeat(`x="\",`, 100), "max-stale, min-fresh=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, junk string) {
		for _, value := range []string{junk + ",no-store", "no-store," + junk} {
			if d := ParseResponse(cacheControl(value)); !d.NoStore {
				t.Errorf("response %q: got no no-store, want it", value)
			}
			var r RequestDirectives
			r.Add([]byte(value))
			if !r.NoStore {
				t.Errorf("request %q: got no no-store, want it", value)
			}
		}
		if d := ParseResponse(cacheControl(junk, "private")); !d.Private {
			t.Errorf("%q on a line before: got no private, want it", junk)
		}
		for _, h := range []field.List{cacheControl("max-age=5," + junk), cacheControl(junk, "max-age=5"), cacheControl("max-age=5", junk)} {
			d := ParseResponse(h)
			if !d.MaxAge.Present() || d.MaxAge.Duration() > 5*time.Second {
				t.Errorf("%q: got max-age %+v, want at most 5", h, d.MaxAge)
			}
			if !d.MaxAge.Valid() && d.MaxAge.Duration() != 0 {
				t.Errorf("%q: got %+v, want 0 where it cannot be read", h, d.MaxAge)
			}
		}
	})
}

// Without the operator's help only what is fresh when it comes is stored, or what
// the origin itself lets be used when it is not.
func FuzzJudgeWithoutOptions(f *testing.F) {
	f.Add(200, "max-age=60", "0", "Accept", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add(404, "public, s-maxage=5", "1, 2", "*", "0", "now")
	f.Add(200, "max-age=1, stale-if-error=60", "30", "", "", "")
	f.Add(-1, `private="`, "99999999999", ",", "Sunday, 06-Nov-94 08:49:37 GMT", "")
	f.Fuzz(func(t *testing.T, status int, cacheControl, age, vary, expires, date string) {
		h := field.List{
			{Name: "Cache-Control", Value: cacheControl},
			{Name: "Age", Value: age},
			{Name: "Vary", Value: vary},
			{Name: "Expires", Value: expires},
			{Name: "Date", Value: date},
		}
		initial := InitialAge(h, received, received)
		if initial < 0 || initial > maxSpan {
			t.Fatalf("got age %v, want it from 0 to %v", initial, maxSpan)
		}
		resp := ResponseFacts{Status: status, Header: h, RequestTime: received, ResponseTime: received}
		j := Judge(get, resp, Options{})
		if j.Why != reason.None {
			return
		}
		if !j.Policy.Explicit || j.Policy.Validate {
			t.Errorf("stored with %+v, want a lifetime of the origin's and use without validation", j.Policy)
		}
		if p := j.Policy; p.Use(initial, RequestDirectives{}, false) == UseAfterValidation && !p.MayServeStale(initial, ServerError, RequestDirectives{}, false) {
			t.Errorf("stored with %+v at age %v, want it of use", p, initial)
		}
		if _, star := VaryNames(h); star {
			t.Errorf("stored with Vary %q", vary)
		}
	})
}

// What ours accepts of the two forms with a full year, net/http reads alike.
func FuzzParseDate(f *testing.F) {
	for _, seed := range []string{
		"", "0", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sat, 31 Dec 2016 23:59:60 GMT",
		"Thu, 29 Feb 2000 00:00:00 gmt", "Monday, 29-Feb-00 00:00:00 GMT", "Sun Nov 66 08:49:37 1994", "Wednesday, 31-Dec-99 23:59:60 GMT", ",",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := ParseDate(s, received)
		fromBytes, okBytes := ParseDate([]byte(s), received)
		if ok != okBytes || !got.Equal(fromBytes) {
			t.Fatalf("%q: got %v %v from the string and %v %v from bytes", s, got, ok, fromBytes, okBytes)
		}
		if !ok {
			return
		}
		if got.Nanosecond() != 0 || got.After(received.AddDate(50, 0, 0)) && len(s) > 29 {
			t.Errorf("%q: got %v, want whole seconds and no RFC 850 date beyond 50 years", s, got)
		}
		if strings.Contains(s, ":60") || len(s) > 29 {
			return // net/http knows no leap second and another rule for the century
		}
		if len(s) == 29 {
			s = s[:26] + "GMT" // net/http wants it in upper case
		}
		if want, err := http.ParseTime(s); err != nil || !want.Equal(got) {
			t.Errorf("%q: got %v, want %v as in net/http (%v)", s, got, want, err)
		}
	})
}

func FuzzParseRange(f *testing.F) {
	for _, seed := range []string{"", "bytes=0-1", "bytes=5-", "bytes=-5", "bytes=-0", "bytes=9223372036854775807-", "bytes=1-0", "bytes=0-1,2-3", "BYTES=--1"} {
		f.Add([]byte(seed), int64(10))
		f.Add([]byte(seed), int64(0))
	}
	f.Fuzz(func(t *testing.T, value []byte, size int64) {
		first, last, kind := ParseRange(value, size)
		switch {
		case kind == RangeSatisfiable && !(0 <= first && first <= last && last < size):
			t.Errorf("%q of %d: got %d-%d, want a part", value, size, first, last)
		case kind != RangeSatisfiable && (first != 0 || last != 0):
			t.Errorf("%q of %d: got %d-%d with %v, want 0-0", value, size, first, last, kind)
		}
		// The answer of FirstOf, which does not know the size, is right for every size.
		known, several := FirstOf(value)
		suffix := bytes.Contains(value, []byte("=-"))
		if kind == RangeSatisfiable && !suffix && (several || known != first) {
			t.Errorf("%q of %d: got %d first, %v several; want %d", value, size, known, several, first)
		}
		if known < 0 || known > 0 && kind == RangeNone && size > 0 {
			t.Errorf("%q of %d: got %d first of no range", value, size, known)
		}
	})
}

// A 304 needs the very tag of the stored response, or a star, in the request.
func FuzzIfNoneMatch(f *testing.F) {
	for _, seed := range []string{"", "*", `"a"`, `W/"a"`, `"b", "a"`, `"b"a"`, `b, "a"`, `"a`, ",,", `W/`, `"a,", "a"`} {
		f.Add([]byte(seed), `"a"`)
	}
	f.Fuzz(func(t *testing.T, value []byte, etag string) {
		c := Conditions{Method: []byte("GET"), IfNoneMatch: [][]byte{value}}
		got := NotModified(c, Representation{Status: 200, ETag: etag}, received)
		if got && string(trim(value)) != "*" && !bytes.Contains(value, []byte(strings.TrimPrefix(etag, "W/"))) {
			t.Errorf("%q against %q: got true without the tag", value, etag)
		}
		if _, _, ok := parseTag(etag); !ok {
			return
		}
		c.IfNoneMatch = [][]byte{value, []byte(`"other", ` + etag)}
		if !NotModified(c, Representation{Status: 200, ETag: etag}, received) {
			t.Errorf("%q, then a line with %q: got false, want true", value, etag)
		}
		c.IfNoneMatch = nil
		if NotModified(c, Representation{Status: 200, ETag: etag}, received) {
			t.Error("without a condition: got true, want false")
		}
	})
}

// Two values of the same two fields share a key only if they are the same.
func FuzzVariant(f *testing.F) {
	f.Add([]byte("a"), []byte("b"), []byte("a"), []byte("b"))
	f.Add([]byte("\x01B\x00"), []byte(""), []byte(""), []byte("\x01B\x00"))
	f.Add([]byte(" a"), []byte("b\t"), []byte("a"), []byte("b"))
	f.Add([]byte("gzip, BR;q=1"), []byte("en"), []byte("GZIP,br ;q=1"), []byte("de"))
	f.Fuzz(func(t *testing.T, a1, b1, a2, b2 []byte) {
		key := func(a, b []byte) []byte {
			return AppendVariantField(AppendVariantField(nil, "A", [][]byte{a}), "B", [][]byte{b})
		}
		same := bytes.Equal(trim(a1), trim(a2)) && bytes.Equal(trim(b1), trim(b2))
		if got := bytes.Equal(key(a1, b1), key(a2, b2)); got != same {
			t.Errorf("%q %q and %q %q: got equal %v, want %v", a1, b1, a2, b2, got, same)
		}
	})
}

func FuzzEndToEnd(f *testing.F) {
	f.Add("close, X-A", "x-a")
	f.Add("Content-Length, keep-alive,, Upgrade", "Upgrade")
	f.Add(`"a", b c`, "B")
	f.Fuzz(func(t *testing.T, connection, name string) {
		name = field.Canonical(name)
		h := field.List{{Name: "Content-Length", Value: "1"}, {Name: "Connection", Value: connection}, {Name: name, Value: "v"}}
		got := EndToEnd(h)
		if !got.Has("Content-Length") || got.Has("Connection") {
			t.Errorf("%q: got %v, want Content-Length and no Connection", connection, got)
		}
		named := false
		for option := range ConnectionOptions(connection) {
			named = named || field.Canonical(option) == name
		}
		if want := !named && !HopByHop(name); got.Has(name) != want {
			t.Errorf("%q with field %q: got kept %v, want %v", connection, name, got.Has(name), want)
		}
	})
}
