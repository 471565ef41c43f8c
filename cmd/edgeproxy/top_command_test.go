package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/test/testkit"
)

func TestScreenOfWhatIsAskedForMost(t *testing.T) {
	a := &edge.Top{Entries: 256, Over: 451.2, Dropped: 3, Hosts: edge.TopLists{
		"bytes": {Total: 4 << 20, Rows: []edge.TopRow{{Name: "a.example", AtLeast: 3 << 20, AtMost: 3 << 20}, {Name: strings.Repeat("b", 128), Cut: true, AtLeast: 1 << 10, AtMost: 1 << 20}}},
	}, URLs: edge.TopLists{"bytes": {}}}
	want := `by bytes, of the last 7m31s; the first count is a minimum, too low by at most 1/256 of all
3 requests were not counted, because others were being counted at that moment

bytes               share   host
3.0 MiB             75.0 %  a.example
1.0 KiB to 1.0 MiB  0.0 %   ` + strings.Repeat("b", 120) + `…
4.0 MiB                     all

bytes  share  URL
0 B           all
`
	if got := topScreen(a, "bytes"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := topScreen(&edge.Top{}, "requests"); !strings.Contains(got, "metrics.top.entries") {
		t.Errorf("where nothing is counted: got %q", got)
	}
}

func TestScreenOfRequestsThatRun(t *testing.T) {
	a := &edge.Requests{Total: 3, Requests: []edge.RunningRequest{
		{Age: 3725.4, Phase: "tunnel", Method: "GET", Scheme: "https", Host: "a.example", Target: "/ws", Client: "192.0.2.1", Route: "default", Bytes: 2048, Received: 17},
		{Age: 1.25, Phase: "origin", Method: "POST", Scheme: "http", Host: "a.example", Target: "/x", Cut: true},
	}}
	want := `requests in progress: 3
the oldest 2:

age     phase   sent                    client     route    method  URL
1h2m5s  tunnel  2.0 KiB, received 17 B  192.0.2.1  default  GET     https://a.example/ws
1.2s    origin  0 B                     -          -        POST    http://a.example/x…
`
	if got := requestsScreen(a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := requestsScreen(&edge.Requests{Requests: []edge.RunningRequest{}}); got != "requests in progress: 0\n" {
		t.Errorf("of none: got %q", got)
	}
}

// What another listener might say reaches no terminal as it is.
func TestControlCharactersReachNoTerminal(t *testing.T) {
	evil := "/\x1b[2J\u009b31m\x7f\u202e\r\n\t\xff%1b"
	lists := edge.TopLists{"requests": {Total: 1, Rows: []edge.TopRow{{Name: evil, AtLeast: 1, AtMost: 1}}}}
	shown := topScreen(&edge.Top{Entries: 1, Hosts: lists, URLs: lists}, "requests") +
		requestsScreen(&edge.Requests{Total: 1, Requests: []edge.RunningRequest{{Phase: evil, Method: evil, Scheme: evil, Host: evil, Target: evil, Client: evil, Route: evil}}})
	for _, r := range shown {
		if r != '\n' && r != '…' && (r < ' ' || r > '~') {
			t.Errorf("got %q on a screen: %q", r, shown)
		}
	}
}

// hanging is an origin that answers /slow when the test says, and all else at once.
func hanging(t *testing.T) (url string, goOn func()) {
	t.Helper()
	held := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			<-held
		}
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = w.Write([]byte("hello"))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() { close(held) }
}

func TestTopOfARunningProxy(t *testing.T) {
	t.Parallel()
	app, goOn := hanging(t)
	token := writeFile(t, "token", adminSecret)
	text := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\", token_file: %q}\norigins: {app: {servers: [%q]}}\n", token, app)
	file := writeFile(t, "edge.yaml", text)
	s := serveBinary(t, "-c", file)
	f := func(code int, says []string, args ...string) {
		t.Helper()
		got := runBinary(t, append([]string{"top", "--admin", s.admin}, args...)...)
		for _, want := range says {
			if got.code != code || !strings.Contains(got.stdout+got.stderr, want) {
				t.Errorf("%v: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, code, want)
			}
		}
	}
	f(exitDone, []string{"hosts and URLs are not counted: set metrics.top.entries"}, "--token-file", token)
	if err := os.WriteFile(file, []byte(text+"metrics: {top: {entries: 100}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runBinary(t, "reload", "--admin", s.admin, "--token-file", token); got.code != exitDone {
		t.Fatalf("reload: got %d %q", got.code, got.stderr)
	}
	for range 3 {
		get(t, "http://"+s.address+"/a")
	}
	get(t, "http://"+s.address+"/b")
	raw, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	if _, err := raw.Write([]byte("GET /slow/\xc2\x9b31m HTTP/1.1\r\nHost: a.example\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it runs", func() bool {
		return strings.Contains(runBinary(t, "top", "--requests", "--admin", s.admin, "--token-file", token).stdout, "requests in progress: 1\n")
	})
	f(exitDone, []string{"  origin  0 B   127.0.0.1  default  GET     http://a.example/slow/\\xc2\\x9b31m\n"}, "--requests", "--token-file", token)
	f(exitDone, []string{`"total": 1`, `"phase": "origin"`, `"target": "/slow/\\xc2\\x9b31m"`}, "--requests", "--json", "--token-file", token)
	goOn()
	s.metricsAtRest()
	f(exitDone, []string{"\n5                 all\n", "http://a.example/slow/%C2%9B31m\n", "http://" + s.address + "/b\n", " 80.0 %  " + s.address + "\n"}, "--token-file", token)
	f(exitDone, []string{"by held_back, of the last ", "\nheld_back  share   host\n2          66.7 %  " + s.address + "\n"}, "--by", "held_back", "--token-file", token)
	f(exitDone, []string{`"entries": 100`, `"at_least": 4`}, "--json", "-n", "1", "--token-file", token)
	f(exitFailed, []string{": needs the admin token: set EDGEPROXY_ADMIN_TOKEN or give --token-file"})
	f(exitUsage, []string{"leave --watch out"}, "--json", "--watch")
	f(exitUsage, []string{"must be requests, bytes, misses or held_back"}, "--by", "held-back")
	f(exitUsage, []string{"must be 1 to 100"}, "-n", "0")
	f(exitUsage, []string{"leave it or --requests out"}, "--by", "bytes", "--requests")
	f(exitUsage, []string{"must be HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH"}, "--admin", "edge")
	f(exitUsage, []string{"unexpected argument"}, "hosts")
	for _, more := range [][]string{nil, {"--requests"}} {
		args := append([]string{"top", "--admin", strings.TrimPrefix(jsonServer(t), "http://")}, more...)
		if got := runBinary(t, args...); got.code != exitFailed || !strings.Contains(got.stderr, "not the answer of an admin listener") {
			t.Errorf("%v of another server: got %d %q %q", more, got.code, got.stdout, got.stderr)
		}
	}
}

// What is counted is in the limit of Go's memory, as the documents say.
func TestCountsByURLAreInTheMemoryLimit(t *testing.T) {
	t.Parallel()
	limitOf := func(more string) (limit float64, counts int64) {
		t.Helper()
		s := serveBinary(t, "-c", writeFile(t, "edge.yaml", "listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\n"+
			"origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\ncache: {memory: {max_bytes: 32MiB}}\nlimits: {inflight_bytes: 16MiB}\n"+more))
		_, text := get(t, "http://"+s.admin+"/top")
		var a edge.Top
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(s.metricsAtRest()) {
			if value, ok := strings.CutPrefix(line, "go_gc_gomemlimit_bytes "); ok {
				if limit, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
					return limit, a.Memory
				}
			}
		}
		t.Fatal("no metric has the limit")
		return 0, 0
	}
	without, _ := limitOf("")
	with, counts := limitOf("metrics: {top: {entries: 1000}}\n")
	if counts < 4<<20 || with-without != float64(counts) {
		t.Errorf("got a limit of %.0f bytes, and %.0f without counts, which take %d", with, without, counts)
	}
}
