package rfc9111_test

import (
	"fmt"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

func ExampleCurrentAge() {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	req := rfc9111.RequestFacts{Method: "GET"}
	resp := rfc9111.ResponseFacts{
		Status:       200,
		Header:       field.List{{Name: "Cache-Control", Value: "max-age=60"}, {Name: "Age", Value: "10"}},
		RequestTime:  now.Add(-2 * time.Second),
		ResponseTime: now,
	}
	j := rfc9111.Judge(req, resp, rfc9111.Options{})
	fmt.Printf("%q\n", j.Why)

	initial := rfc9111.InitialAge(resp.Header, resp.RequestTime, resp.ResponseTime)
	for _, later := range []time.Duration{0, 47 * time.Second, 48 * time.Second} {
		age := rfc9111.CurrentAge(initial, resp.ResponseTime, now.Add(later))
		fmt.Println(age, rfc9111.Fresh(j.Policy.Lifetime, age))
	}

	req.Authorization = true
	fmt.Printf("%q\n", rfc9111.Judge(req, resp, rfc9111.Options{}).Why)
	// Output:
	// ""
	// 12s true
	// 59s true
	// 1m0s false
	// "authorization"
}

func ExampleJudge() {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	resp := rfc9111.ResponseFacts{
		Status: 200,
		Header: field.List{
			{Name: "Cdn-Cache-Control", Value: "max-age=60, stale-while-revalidate=30"},
			{Name: "Cache-Control", Value: "no-cache"},
		},
		RequestTime:  now,
		ResponseTime: now,
	}
	j := rfc9111.Judge(rfc9111.RequestFacts{Method: "GET"}, resp, rfc9111.Options{})
	fmt.Printf("%q %v\n", j.Why, j.Policy.Lifetime)
	for _, age := range []time.Duration{59 * time.Second, 60 * time.Second, 91 * time.Second} {
		fmt.Println(age, j.Policy.Use(age, rfc9111.RequestDirectives{}, false))
	}
	// Output:
	// "" 1m0s
	// 59s now
	// 1m0s now, and refresh
	// 1m31s after validation
}

func ExampleUpdate() {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	stored := field.List{{Name: "Etag", Value: `"a"`}, {Name: "Content-Length", Value: "5"}, {Name: "Cache-Control", Value: "max-age=1"}}
	fmt.Println(rfc9111.ValidationFields(stored, now))
	fmt.Println(rfc9111.Update(stored, field.List{{Name: "Etag", Value: `"a"`}, {Name: "Cache-Control", Value: "max-age=9"}}))
	fmt.Println(rfc9111.Update(stored, field.List{{Name: "Etag", Value: `"b"`}}))
	// Output:
	// [{If-None-Match "a"}]
	// [{Etag "a"} {Content-Length 5} {Cache-Control max-age=9}] true
	// [] false
}

func ExampleNoVarySearch_AppendQuery() {
	v, ok := rfc9111.ParseNoVarySearch(field.List{{Name: "No-Vary-Search", Value: `key-order, params=("utm_source")`}})
	fmt.Println(ok, string(v.AppendQuery(nil, []byte("q=caf%c3%a9&utm_source=mail&page=2"))))
	// Output: true page=2&q=caf%C3%A9
}

func ExampleInvalidationTarget() {
	u := rfc9111.URI{Scheme: "https", Host: "shop.example", Target: "/cart/add"}
	h := field.List{{Name: "Location", Value: "../cart"}, {Name: "Content-Location", Value: "https://other.example/"}}
	fmt.Println(rfc9111.Invalidates("POST", 303))
	fmt.Println(rfc9111.InvalidationTarget(h, "Location", u))
	fmt.Println(rfc9111.InvalidationTarget(h, "Content-Location", u)) // the URL of another origin
	// Output:
	// true
	// /cart true
	//  false
}

func ExampleAppendVariantField() {
	names, star := rfc9111.VaryNames(field.List{{Name: "Vary", Value: "Cookie, accept"}})
	fmt.Println(names, star)

	request := map[string][][]byte{"Accept": {[]byte("text/html"), []byte("*/*")}}
	var key []byte
	for _, name := range names {
		key = rfc9111.AppendVariantField(key, name, request[name])
	}
	fmt.Printf("%q\n", key)
	// Output:
	// [Accept Cookie] false
	// "\x06Accept\x02\ttext/html\x03*/*\x06Cookie\x00"
}

func ExampleCodings() {
	fmt.Printf("%s\n", rfc9111.Codings([][]byte{[]byte("gzip, deflate, br;q=0.9, zstd")}))
	fmt.Printf("%s\n", rfc9111.Codings([][]byte{[]byte("gzip;q=0, *;q=0.5, identity;q=0")}))
	// Output:
	// zstd, br, gzip
	// zstd, br, identity;q=0
}

func ExampleRequestDirectives_Add() {
	var d rfc9111.RequestDirectives
	d.Add([]byte("max-age=10, only-if-cached"))
	d.Add([]byte(`ext="no-store, no-cache"`))
	fmt.Println(d.OnlyIfCached, d.MaxAge.Duration(), d.NoStore, d.NoCache)
	// Output: true 10s false false
}

func ExampleParseRange() {
	fmt.Println(rfc9111.ParseRange([]byte("bytes=-100"), 1000))
	fmt.Println(rfc9111.ParseRange([]byte("bytes=1000-"), 1000))
	fmt.Println(rfc9111.ParseRange([]byte("bytes=0-1,5-6"), 1000))
	// Output:
	// 900 999 satisfiable
	// 0 0 unsatisfiable
	// 0 0 none
}

func ExamplePart_Holds() {
	stored, _ := rfc9111.PartOf(field.List{{Name: "Content-Range", Value: "bytes 100-199/1000"}})
	for _, value := range []string{"bytes=120-129, 150-159", "bytes=190-209"} {
		ranges, kind := rfc9111.AppendRanges(nil, []byte(value), stored.Size, 16)
		fmt.Println(kind, ranges, stored.Holds(ranges...))
	}
	// Output:
	// satisfiable [{120 129} {150 159}] true
	// satisfiable [{190 209}] false
}

func ExampleNotModified() {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	stored := rfc9111.RepresentationOf(200, field.List{{Name: "Etag", Value: `W/"v1"`}}, now)
	c := rfc9111.Conditions{Method: []byte("GET"), IfNoneMatch: [][]byte{[]byte(`"v0", "v1"`)}}
	fmt.Println(rfc9111.NotModified(c, stored, now))
	// Output: true
}

func ExampleEndToEnd() {
	fmt.Println(rfc9111.EndToEnd(field.List{
		{Name: "Connection", Value: "keep-alive, X-Hop"},
		{Name: "X-Hop", Value: "1"},
		{Name: "Etag", Value: `"a"`},
	}))
	// Output: [{Etag "a"}]
}
