package main

import (
	"bytes"
	"strconv"
	"sync/atomic"
)

// pagesBytes bounds the bodies of one size together, so that their number and
// not the processor's caches tells the sizes apart.
const (
	pagesBytes = 8 << 20
	maxPages   = 64
)

// sizes are the bodies that are measured, in bytes: one that leaves in a buffer
// with its head, the smallest that must not be copied, and a large one.
func sizes() []int { return []int{1 << 10, 16 << 10, 256 << 10} }

// Any path below freshPath has a body of the size that follows, so that each request can be for
// another one. Misses are of freshSize bytes where nothing else is said.
const (
	freshPath = "/fresh/"
	freshSize = 1 << 10
)

var freshPages atomic.Int64 // so far

// freshPage is a page of size bytes that nobody was ever asked for.
func freshPage(size int) page {
	return page{path: freshPath + strconv.Itoa(size) + "/" + strconv.FormatInt(freshPages.Add(1), 10)}
}

// freshSizes are those that fresh pages have.
func freshSizes() []int { return []int{freshSize, 16 << 10, 1 << 20} }

// page is what both servers answer at one path.
type page struct {
	path string
	body []byte
}

// pages returns the pages of one size. The bodies differ, so that one served
// under another's path is seen.
func pages(size int) []page {
	out := make([]page, min(maxPages, pagesBytes/size))
	for i := range out {
		path := "/" + strconv.Itoa(size) + "/" + strconv.Itoa(i)
		out[i] = page{path: path, body: bytes.Repeat([]byte(path+"\n"), size/len(path)+1)[:size]}
	}
	return out
}

// responseFields are those the origin sends and the bare handler sets, beside
// Date and Content-Length.
func responseFields() [5][2]string {
	return [5][2]string{
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "public, max-age=3600"},
		{"Etag", `"5f3c-6a1b2c3d"`},
		{"Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"},
		{"X-Content-Type-Options", "nosniff"},
	}
}

// request is a GET as a browser sends it.
func (p page) request(host string) []byte { return []byte("GET" + p.rest(host) + "\r\n") }

// upload is a POST as a browser sends it.
func (p page) upload(host string) []byte {
	return []byte("POST" + p.rest(host) + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b")
}

// rest is the head of a request, without its method and the empty line.
func (p page) rest(host string) string {
	return " " + p.path + " HTTP/1.1\r\n" +
		"Host: " + host + "\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
		"Accept-Language: en-GB,en;q=0.5\r\n" +
		"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
		"Referer: http://" + host + "/\r\n" +
		"Sec-Fetch-Mode: navigate\r\n" +
		"Priority: u=0, i\r\n"
}

// requestsFor returns a request for each page.
func requestsFor(all []page, host string) [][]byte {
	requests := make([][]byte, len(all))
	for i, p := range all {
		requests[i] = p.request(host)
	}
	return requests
}

// allBodies returns the bodies of all pages, by their paths.
func allBodies() map[string][]byte {
	bodies := map[string][]byte{}
	for _, size := range sizes() {
		for _, p := range pages(size) {
			bodies[p.path] = p.body
		}
	}
	return bodies
}
