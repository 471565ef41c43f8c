package rfc9111

import "testing"

func BenchmarkRequestDirectives(b *testing.B) {
	value := []byte("no-cache, max-age=0")
	for b.Loop() {
		var d RequestDirectives
		d.Add(value)
	}
}

func BenchmarkNotModifiedWithoutCondition(b *testing.B) {
	c := Conditions{Method: []byte("GET")}
	r := Representation{Status: 200, ETag: `"a"`, UnchangedSince: received}
	for b.Loop() {
		NotModified(c, r, received)
	}
}

func BenchmarkAppendVariantField(b *testing.B) {
	key, values := make([]byte, 0, 256), lines("gzip, deflate, br, zstd")
	for b.Loop() {
		key = AppendVariantField(key[:0], "Accept-Encoding", [][]byte{Codings(values)})
	}
}

func BenchmarkJudge(b *testing.B) {
	resp := response(b, 200, "Date: "+at(0), "Content-Type: text/html", "Cache-Control: public, max-age=3600", "Vary: Accept-Encoding",
		`ETag: "abc"`, "Last-Modified: "+at(-1e12))
	for b.Loop() {
		Judge(get, resp, edge)
	}
}

func BenchmarkPolicyUse(b *testing.B) {
	p, req := Policy{Lifetime: minute}, RequestDirectives{}
	for b.Loop() {
		p.Use(1, req, false)
	}
}

func BenchmarkAppendQuery(b *testing.B) {
	v := NoVarySearch{Unordered: true, Names: []string{"utm_campaign", "utm_source"}}
	key, query := make([]byte, 0, 256), []byte("q=caf%C3%A9&utm_source=x&page=2&utm_campaign=y")
	for b.Loop() {
		key = v.AppendQuery(key[:0], query)
	}
}
