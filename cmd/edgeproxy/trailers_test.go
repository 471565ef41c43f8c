package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// summing answers in chunks with a checksum behind, and tells of what was asked in it.
func summing(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		for name := range r.Trailer {
			if name != "X-In" {
				t.Errorf("the origin got the trailer %s: %q", name, r.Trailer[name])
			}
		}
		if strings.HasPrefix(r.URL.Path, "/kept") {
			w.Header().Set("Cache-Control", "max-age=60")
		}
		if r.URL.Path != "/late" {
			w.Header().Set("Trailer", "X-Sum, Content-Type")
		}
		_, _ = io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set(http.TrailerPrefix+"X-Sum", fmt.Sprintf("%d %q %v %q", len(body), r.Header.Get("Te"), r.Trailer, err))
		w.Header().Set(http.TrailerPrefix+"Set-Cookie", "a=b")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestTrailersPassByBothVersions asks with and without TE, over TLS. A client of HTTP/2
// gets trailers in either case.
func TestTrailersPassByBothVersions(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, summing(t), "")
	for _, two := range []bool{false, true} {
		c := s.speaks(t, two)
		f := func(method, path, body string, takes bool, trailers http.Header, want string) {
			t.Helper()
			r, err := http.NewRequest(method, "https://www.example.com"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body != "" {
				r.Body, r.ContentLength, r.Trailer = io.NopCloser(strings.NewReader(body)), -1, trailers
			}
			if takes {
				r.Header.Set("Te", "trailers")
			}
			res, err := c.Do(r)
			if err != nil {
				t.Fatalf("two %v: %s %s: %v", two, method, path, err)
			}
			defer res.Body.Close()
			_, announced := res.Trailer["X-Sum"]
			if text, err := io.ReadAll(res.Body); string(text) != "body" || err != nil {
				t.Errorf("two %v: %s %s: got %q, %v", two, method, path, text, err)
			}
			if announced != (want != "" && path != "/late") {
				t.Errorf("two %v: %s %s: announced %v", two, method, path, announced)
			}
			if got := res.Trailer.Get("X-Sum"); got != want || len(res.Trailer) > 1 {
				t.Errorf("two %v: %s %s: got %q, want %q and nothing else: %q", two, method, path, got, want, res.Trailer)
			}
			if res.Header.Get("X-Sum") != "" || res.Header.Get("Set-Cookie") != "" {
				t.Errorf("two %v: %s %s: a trailer is in the head: %q", two, method, path, res.Header)
			}
		}
		unasked := func(text string) string {
			if two {
				return text
			}
			return ""
		}
		f("POST", "/a", "", true, nil, `0 "trailers" map[] %!q(<nil>)`)
		f("POST", "/a", "", false, nil, unasked(`0 "" map[] %!q(<nil>)`))
		f("POST", "/late", "", true, nil, `0 "trailers" map[] %!q(<nil>)`)
		f("POST", "/a", "12345", true, http.Header{"X-In": {"6", "7"}}, `5 "trailers" map[X-In:[6 7]] %!q(<nil>)`)
		f("POST", "/a", "12345", false, nil, unasked(`5 "" map[] %!q(<nil>)`))
		path := fmt.Sprintf("/kept/%v", two)
		f("GET", path, "", true, nil, `0 "" map[] %!q(<nil>)`)
		f("GET", path, "", true, nil, "")
	}
}

// TestTrailersThatMayNotBeEndTheRequestByBothVersions sends those that would frame or
// route, were they merged into the header.
func TestTrailersThatMayNotBeEndTheRequestByBothVersions(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, summing(t), "")
	for _, two := range []bool{false, true} {
		for _, name := range []string{"Host", "Authorization", "Content-Type", "Connection"} {
			r, err := http.NewRequest("POST", "https://www.example.com/a", io.NopCloser(strings.NewReader("12345")))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength, r.Trailer = -1, http.Header{name: {"x"}}
			res, err := s.speaks(t, two).Do(r)
			if err != nil {
				continue
			}
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("two %v: %s: got %d, want 400 or a reset", two, name, res.StatusCode)
			}
			_ = res.Body.Close()
		}
	}
	eventually(t, "nothing is in flight", func() bool {
		_, metrics := get(t, "http://"+s.admin+"/metrics")
		return strings.Contains(metrics, "\nedgeproxy_requests_in_flight 0\n")
	})
}

// TestTrailersOfAStreamAreNoRequest sends them frame by frame: what is announced or not,
// and what would be more than fields in HTTP/1.1, or fields of the head to an origin that
// merges them.
func TestTrailersOfAStreamAreNoRequest(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil { // whole
			seen <- fmt.Sprintf("%s %s %s %s", r.Method, r.URL, body, r.Trailer)
		}
	}))
	t.Cleanup(origin.Close)
	s := serveTLS(t, origin.URL, "")
	f := func(announced, want string, trailers ...string) {
		t.Helper()
		head := []string{":method", "POST", ":scheme", "https", ":authority", "www.example.com", ":path", "/a"}
		if announced != "" {
			head = append(head, "trailer", announced)
		}
		c := s.raw(t)
		defer c.Close()
		_, _ = c.Write(frame(1, 4, 1, fields(head...)))
		_, _ = c.Write(frame(0, 0, 1, []byte("abc")))
		_, _ = c.Write(frame(1, 4|1, 1, fields(trailers...)))
		status, got := answered(c), ""
		if status == http.StatusOK {
			got = <-seen
		}
		if got != want {
			t.Errorf("%q, announced %q: got %d, the origin %q, want %q", trailers, announced, status, got, want)
		}
		select {
		case got := <-seen:
			t.Errorf("%q, announced %q: the origin got %q as well", trailers, announced, got)
		default:
		}
	}
	f("x-in", "POST /a abc map[X-In:[1]]", "x-in", "1")
	f("", "POST /a abc map[X-In:[1]]", "x-in", "1")
	f("x-in", "POST /a abc map[X-In:[1] X-Other:[2]]", "x-in", "1", "x-other", "2")
	f("x-in, content_length, x_forwarded_for", "POST /a abc map[X-In:[1]]", "x-in", "1", "content_length", "7", "x_forwarded_for", "2")
	f("", "", "host", "other.example")
	f("", "", "cookie", "a=b")
	f("x-in, if-match", "", "x-in", "1", "if-match", "*")
	f("host", "", "host", "other.example")
	f("content-length", "", "content-length", "7")
	f("x-in", "", "x-in", "1\r\n\r\nGET /smuggled HTTP/1.1")
	f("x-in\r\nx-a: b", "", "x-in", "1")
	f("x in", "", "x in", "1")
	f("x-in", "", ":path", "/smuggled")
}
