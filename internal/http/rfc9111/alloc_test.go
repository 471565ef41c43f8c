package rfc9111

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// The functions that look at requests run on every hit.
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
	room, several := make([]Range, 0, 16), []byte("bytes=0-4, 10-14, -5")
	held := part(0, 998, 1000)
	f("Part.Holds", func() {
		if !held.Holds(Range{0, 4}, Range{10, 14}) || held.Holds(Range{999, 999}) {
			t.Fatal("got the wrong ranges")
		}
	})
	f("AppendRanges", func() {
		if got, kind := AppendRanges(room, several, 1000, 16); kind != RangeSatisfiable || len(got) != 3 {
			t.Fatalf("got %v %v, want three", got, kind)
		}
	})
	key, languages := make([]byte, 0, 1024), lines("en-GB, en;q=0.5", "De")
	codings := lines("gzip, deflate;q=0.5, br")
	f("AppendVariantField, AppendLanguages, Codings", func() {
		key = AppendVariantField(key[:0], "Accept", tags)
		key, _ = AppendLanguages(key, languages, true)
		key = append(key, Codings(codings)...)
	})
	search := NoVarySearch{Unordered: true, Names: []string{"utm_campaign", "utm_source"}}
	query := []byte("q=caf%C3%A9+au+lait&utm_source=x&page=2&utm_campaign=" + strings.Repeat("y", 300))
	f("AppendQuery", func() {
		if key = search.AppendQuery(key[:0], query); string(key) != "page=2&q=caf%C3%A9+au+lait" {
			t.Fatalf("got %q, want the two that matter", key)
		}
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
	p := Policy{Lifetime: time.Minute, WhileRevalidate: time.Minute, OriginFailure: time.Minute, Keep: time.Minute}
	directives := asks("max-stale=3600, min-fresh=x")
	f("Policy", func() {
		if p.Use(90*time.Second, directives, true) != UseNowAndRefresh || !p.Useful(90*time.Second) ||
			!p.MayServeStale(90*time.Second, OriginFailure, directives, true) {
			t.Fatal("got a use of no kind, want one")
		}
	})
}

// A long and hostile head costs a bounded number of allocations, and of bytes.
func TestLongHeadsAllocateLittle(t *testing.T) {
	const size, mostAllocations, mostBytes = 64 << 10, 3000, 512 << 10
	f := func(unit string) {
		t.Helper()
		value := strings.Repeat(unit, size/len(unit))
		short := strings.Repeat(unit, maxStructuredParts/(strings.Count(unit, ",")+strings.Count(unit, " ")+strings.Count(unit, ";")+1))
		for _, structured := range []string{value, short[:min(len(short), maxStructuredBytes)]} {
			work := hostileWork(t, value, structured)
			if n := testing.AllocsPerRun(1, work); n > mostAllocations {
				t.Errorf("64 KiB of %q: got %v allocations, want at most %d", unit, n, mostAllocations)
			}
			if n := allocatedBytes(work); n > mostBytes {
				t.Errorf("64 KiB of %q: got %d bytes, want at most %d", unit, n, mostBytes)
			}
		}
	}
	f(`private="a,b",`)
	f(`private=abc,no-cache="x-y",`)
	f("a,")
	f(",")
	f("a ")
	f(`"a",`)
	f(`x="`)
	f(`x="\",`)
	f(`"`)
	f(`\`)
	f("max-age=1,")
	f("no-cache x;")
	f("9")
	f(`W/"a" ,`)
	f("a;b=1,")
	f(`params=("a"),`)
	f("((")
	f("/../")
	f("%61")
}

// Each ".." costs a copy of the path.
func TestClimbingReferenceAllocatesLittle(t *testing.T) {
	const mostBytes = 1 << 20
	deep := "/" + strings.Repeat("a/", maxReference/4)
	f := func(target, location string) {
		t.Helper()
		u, h := URI{Scheme: "http", Host: "a.example", Target: target}, head(t, "Location: "+location)
		if n := allocatedBytes(func() { invalidationTargets(h, u) }); n > mostBytes {
			t.Errorf("%.20q… from %.20q…: got %d bytes, want at most %d", location, target, n, mostBytes)
		}
	}
	f("/", deep+strings.Repeat("../", maxReference/8))
	f(deep, strings.Repeat("../", maxReference/4))
	f(deep+strings.Repeat("../", maxReference/4), "x")
	f(deep, strings.Repeat("../", maxClimbs))
}

// hostileWork calls every function that parses a field, with value as the field's
// value; structured fields have a value of their own.
func hostileWork(t *testing.T, value, structured string) func() {
	t.Helper()
	h := head(t, "Cache-Control: "+value, "Vary: "+value, "Age: "+value, "Expires: "+value, "Date: "+value, "Last-Modified: "+value,
		"ETag: "+value, "Content-Range: "+value, "Location: "+value, "Content-Location: "+value, "Connection: "+value, "Content-Length: "+value,
		"Surrogate-Key: "+value, "Cache-Tag: "+value, "Surrogate-Control: "+value)
	for _, name := range []string{"Cdn-Cache-Control", "Cache-Groups", "Cache-Group-Invalidation", "No-Vary-Search"} {
		h.Add(name, structured)
	}
	resp := ResponseFacts{Status: 200, Header: h, RequestTime: received, ResponseTime: received}
	untargeted, surrogate := resp, edge
	untargeted.Header = h.Without(func(name string) bool { return name == "Cdn-Cache-Control" })
	surrogate.SurrogateControl = true
	uri := URI{Scheme: "http", Host: "a.example", Target: "/"}
	return func() {
		ParseResponse(h)
		Judge(get, resp, edge)
		Judge(get, untargeted, surrogate)
		InitialAge(h, received, received)
		RepresentationOf(200, h, received)
		VaryNames(h)
		ValidationFields(h, received)
		Update(h, h)
		invalidationTargets(h, uri)
		InvalidatedGroups("POST", h)
		PartOf(h)
		Groups(h)
		ParseNoVarySearch(h)
	}
}

func allocatedBytes(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
