package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// heard is what a client that is no part of this project has made of an answer.
type heard struct {
	status  string
	body    string
	cache   string // Cache-Status, its ttl left out
	trailer string // X-Sum
}

// client asks for a target, a range of it where that is not "".
type client struct {
	name string
	ask  func(t *testing.T, url, ranged string) heard
}

// clients are those that are installed, each in the versions that it speaks.
func clients(t *testing.T) []client {
	t.Helper()
	curl, nghttp := testkit.Program(t, "curl"), testkit.Program(t, "nghttp")
	return []client{
		{"curl --http1.1", func(t *testing.T, url, ranged string) heard {
			t.Helper()
			return byCurl(t, curl, "--http1.1", "1.1", url, ranged)
		}},
		{"curl --http2", func(t *testing.T, url, ranged string) heard {
			t.Helper()
			return byCurl(t, curl, "--http2", "2", url, ranged)
		}},
		{"nghttp", func(t *testing.T, url, ranged string) heard {
			t.Helper()
			return byNghttp(t, nghttp, url, ranged)
		}},
	}
}

// output runs a program to its end and returns what it writes.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", program, args, err, stderr.String())
	}
	return string(out)
}

func byCurl(t *testing.T, curl, version, want, url, ranged string) heard {
	t.Helper()
	dir := t.TempDir()
	fields, body := filepath.Join(dir, "fields"), filepath.Join(dir, "body")
	args := []string{version, "--silent", "--show-error", "--insecure", "-H", "TE: trailers", "-D", fields, "-o", body, "-w", "%{http_code} %{http_version}", url}
	if ranged != "" {
		args = append(args, "-r", ranged)
	}
	status, spoken, _ := strings.Cut(output(t, curl, args...), " ")
	if spoken != want {
		t.Errorf("curl %s: spoke %s", version, spoken)
	}
	h := heard{status: status, body: contents(t, body)}
	for line := range strings.Lines(contents(t, fields)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.take(name, value)
	}
	return h
}

// byNghttp has nghttp write the fields down as an archive (HAR), which has no trailers.
func byNghttp(t *testing.T, nghttp, url, ranged string) heard {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "archive")
	args := []string{"--no-verify-peer", "--har=" + archive, "-H", "te: trailers", "-H", "accept-encoding: identity", url}
	if ranged != "" {
		args = append(args, "-H", "range: bytes="+ranged)
	}
	h := heard{body: output(t, nghttp, args...)}
	var har struct {
		Log struct {
			Entries []struct {
				Response struct {
					Headers []struct{ Name, Value string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(contents(t, archive)), &har); err != nil || len(har.Log.Entries) != 1 {
		t.Fatalf("nghttp %s: got %d answers, %v", url, len(har.Log.Entries), err)
	}
	for _, f := range har.Log.Entries[0].Response.Headers {
		h.take(f.Name, f.Value)
	}
	return h
}

var timeToLive = regexp.MustCompile(`ttl=\d+`)

func (h *heard) take(name, value string) {
	switch strings.ToLower(name) {
	case ":status":
		h.status = value
	case "cache-status":
		h.cache = timeToLive.ReplaceAllString(value, "ttl=")
	case "x-sum":
		h.trailer = value
	}
}

func contents(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// numbered is a body of n bytes, in which no two places look the same.
func numbered(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()[:n]
}

// library has numbered bodies of every size, and one with a trailer behind.
func library(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/kept/{size}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("size"))
		w.Header().Set("Cache-Control", "max-age=3600")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(numbered(n)))
	})
	mux.HandleFunc("/sum", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, numbered(5000))
		w.Header().Set("X-Sum", "5000")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestCurlAndNghttpGetTheSame asks the built program over TLS by clients that are not
// Go's, in both versions.
func TestCurlAndNghttpGetTheSame(t *testing.T) {
	t.Parallel()
	all := clients(t)
	s := serveTLS(t, library(t), "")
	asked := 0
	f := func(name, target, ranged string, want heard) {
		t.Helper()
		for n, c := range all {
			url := "https://" + s.address + strings.ReplaceAll(target, "{client}", strconv.Itoa(n))
			got := c.ask(t, url, ranged)
			asked++
			if c.name == "nghttp" {
				got.trailer = want.trailer
			}
			if got.status != want.status || got.cache != want.cache || got.trailer != want.trailer || got.body != want.body {
				t.Errorf("%s, %s: got %s %q, X-Sum %q, %d bytes; want %s %q, X-Sum %q, %d bytes; the same bytes: %v",
					c.name, name, got.status, got.cache, got.trailer, len(got.body), want.status, want.cache, want.trailer, len(want.body), got.body == want.body)
			}
		}
	}
	const missed, hit = "edgeproxy; fwd=uri-miss; stored", "edgeproxy; hit; ttl="
	f("a miss", "/kept/1024?{client}", "", heard{"200", numbered(1024), missed, ""})
	f("a hit", "/kept/1024?{client}", "", heard{"200", numbered(1024), hit, ""})
	f("what another has stored", "/kept/1024?0", "", heard{"200", numbered(1024), hit, ""})
	f("a large miss", "/kept/1048576?{client}", "", heard{"200", numbered(1 << 20), missed, ""})
	f("a large hit", "/kept/1048576?1", "", heard{"200", numbered(1 << 20), hit, ""})
	f("an empty body", "/kept/0?{client}", "", heard{"200", "", missed, ""})
	f("what is not there", "/nowhere", "", heard{"404", "404 page not found\n", "edgeproxy; fwd=uri-miss; detail=no-freshness", ""})
	f("a range of a hit", "/kept/1048576?2", "1000-700000", heard{"206", numbered(1 << 20)[1000:700001], hit, ""})
	f("a range beyond", "/kept/1024?0", "5000-", heard{"416", "", hit, ""})
	f("trailers of a miss", "/sum?{client}", "", heard{"200", numbered(5000), missed, "5000"})
	f("no trailers of a hit", "/sum?{client}", "", heard{"200", numbered(5000), hit, ""})
	if got := requests(s.metricsAtRest(), ""); got != float64(asked) {
		t.Errorf("got %v requests counted, want the %d asked", got, asked)
	}
}

// TestNghttpSendsAndGetsTrailers has what nghttp sends come back.
func TestNghttpSendsAndGetsTrailers(t *testing.T) {
	t.Parallel()
	nghttp := testkit.Program(t, "nghttp")
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		_, _ = w.Write(body)
		w.Header().Set(http.TrailerPrefix+"X-Back", fmt.Sprint(len(body), r.Trailer, err))
	}))
	t.Cleanup(origin.Close)
	s := serveTLS(t, origin.URL, "")
	upload := writeFile(t, "upload", numbered(100_000))
	f := func(want string, args ...string) {
		t.Helper()
		got := output(t, nghttp, append([]string{"--no-verify-peer", "-nv", "--data=" + upload, "https://" + s.address + "/"}, args...)...)
		if !strings.Contains(got, " x-back: "+want+"\n") {
			t.Errorf("%q: want x-back: %s behind the body; got %s", args, want, got)
		}
	}
	f("100000 map[X-Sum:[5]] <nil>", "--no-content-length", "--trailer", "x-sum: 5") // it announces them itself
	f("100000 map[] <nil>", "--trailer", "x-sum: 5")                                 // there is no room behind a length
}

// requests adds up the requests that the metrics have counted, all or under one result.
func requests(metrics, result string) (n float64) {
	for line := range strings.Lines(metrics) {
		if labels, ok := strings.CutPrefix(line, "edgeproxy_requests_total{"); ok && (result == "" || strings.Contains(labels, `result="`+result+`"`)) {
			_, value, _ := strings.Cut(strings.TrimSpace(labels), "} ")
			v, _ := strconv.ParseFloat(value, 64)
			n += v
		}
	}
	return n
}

// load runs h2load and wants every request to be answered by a 2xx.
func load(t *testing.T, requests int, args ...string) (report string) {
	t.Helper()
	report = output(t, testkit.Program(t, "h2load"), append([]string{"-n", strconv.Itoa(requests)}, args...)...)
	for _, want := range []string{
		fmt.Sprintf("requests: %d total, %d started, %d done, %[1]d succeeded, 0 failed, 0 errored, 0 timeout", requests, requests, requests),
		fmt.Sprintf("status codes: %d 2xx, 0 3xx, 0 4xx, 0 5xx", requests),
	} {
		if !strings.Contains(report, want) {
			t.Errorf("h2load %q: want %q in %s", args, want, report)
		}
	}
	return report
}

// TestH2loadIsAnsweredWhole has eight clients ask with 16 streams each, also for what is
// not stored yet and for more than one frame holds.
func TestH2loadIsAnsweredWhole(t *testing.T) {
	t.Parallel()
	const asked = 2000
	s := serveTLS(t, library(t), "")
	url, before := "https://"+s.address, 0.0
	for _, path := range []string{"/kept/1024", "/kept/100000", "/sum"} {
		load(t, asked, "-c", "8", "-m", "16", url+path)
		after := s.metricsAtRest()
		if got := requests(after, "") - before; got != asked {
			t.Errorf("%s: got %v requests counted, want %d", path, got, asked)
		}
		before = requests(after, "")
	}
	const first = 3 * 8 * 16 // requests that may be under way before it is stored
	if got := requests(s.metricsAtRest(), "hit"); got < 3*asked-first {
		t.Errorf("got %v hits of %v requests, want all but %d at most", got, before, first)
	}
	eventually(t, "nobody is connected", func() bool { return s.connections() == "0" })
}
