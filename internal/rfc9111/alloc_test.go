package rfc9111

import (
	"strings"
	"testing"
	"time"
)

// The request side runs on every hit.
func TestRequestSideDoesNotAllocate(t *testing.T) {
	f := func(what string, work func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, work); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", what, n)
		}
	}
	cacheControl := []byte(`no-cache, max-age="3\600", only-if-cached, x="a, b", bad; max-stale, y="unclosed, no-store`)
	f("RequestDirectives.Add", func() {
		var d RequestDirectives
		d.Add(cacheControl)
		if !d.NoStore || !d.OnlyIfCached {
			t.Fatalf("got %+v, want no-store and only-if-cached", d)
		}
	})
	r := Representation{Status: 200, ETag: `"c"`, LastModified: received, UnchangedSince: received, StrongDate: true}
	method, tags, since := []byte("GET"), lines(`"a", W/"b"`, `"c"`), lines(received.Format("Monday, 02-Jan-06 15:04:05 GMT"))
	f("NotModified without a condition", func() {
		if NotModified(Conditions{Method: method}, r, received) {
			t.Fatal("got true, want false")
		}
	})
	f("NotModified", func() {
		if !NotModified(Conditions{Method: method, IfNoneMatch: tags}, r, received) ||
			!NotModified(Conditions{Method: method, IfModifiedSince: since}, r, received) {
			t.Fatal("got false, want true")
		}
	})
	f("IfRangeHolds", func() {
		if !IfRangeHolds(tags[1:], r, received) || !IfRangeHolds(since, r, received) {
			t.Fatal("got false, want true")
		}
	})
	byteRange := []byte("bytes=-100")
	f("ParseRange", func() {
		if _, _, kind := ParseRange(byteRange, 1000); kind != RangeSatisfiable {
			t.Fatalf("got %v, want satisfiable", kind)
		}
	})
	key := make([]byte, 0, 256)
	f("AppendVariantField", func() {
		key = AppendVariantField(key[:0], "Accept-Encoding", tags)
	})
	connection, options := []byte("keep-alive, X-A, Via, X-B"), 0
	f("ConnectionOptions", func() {
		options = 0
		for range ConnectionOptions(connection) {
			options++
		}
	})
	if options != 2 {
		t.Errorf("ConnectionOptions: got %d, want 2", options)
	}
	f("CurrentAge and Fresh", func() {
		if !Fresh(time.Hour, CurrentAge(time.Second, received, received.Add(time.Minute))) {
			t.Fatal("got stale, want fresh")
		}
	})
}

// A long and hostile head costs a bounded number of allocations.
func TestLongHeadsAllocateLittle(t *testing.T) {
	const size = 64 << 10
	f := func(unit string) {
		t.Helper()
		value := strings.Repeat(unit, size/len(unit))
		h := head(t, "Cache-Control: "+value, "Vary: "+value, "Age: "+value, "Expires: "+value, "ETag: "+value)
		resp := ResponseFacts{Status: 200, Header: h, RequestTime: received, ResponseTime: received}
		n := testing.AllocsPerRun(1, func() {
			ParseResponse(h)
			Storable(get, resp, Options{})
			InitialAge(h, received, received)
			RepresentationOf(200, h, received)
			VaryNames(h)
		})
		if n > 1000 {
			t.Errorf("64 KiB of %q: got %v allocations, want at most 1000", unit, n)
		}
	}
	f(`private="a,b",`)
	f(`private=abc,no-cache="x-y",`)
	f("a,")
	f(",")
	f(`x="`)
	f(`x="\",`)
	f(`"`)
	f(`\`)
	f("max-age=1,")
	f("no-cache x;")
	f("9")
	f(`W/"a" ,`)
}
