package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/lab/shadow"
	"edgeproxy/internal/proxy"
)

// sampleStatus has something of everything that a screen shows.
func sampleStatus() *edge.Status {
	s := &edge.Status{Node: "edge1", Version: "1.2.3", Go: "go1", Uptime: 3725.4, Ready: true}
	s.Requests.RequestsInFlight = 2
	s.Requests.Totals = proxy.RouteStatus{
		Requests: 200, Results: map[string]int64{"hit": 120, "miss": 30, "held_back": 50, "error": 0}, ResponseBytes: 3 << 20,
		HitRatio: 0.6, ByteHitRatio: 0.555, Classes: map[string]int64{"none": 1, "1xx": 0, "2xx": 190, "3xx": 0, "4xx": 0, "5xx": 9},
		Fills: proxy.Fills{Stored: 30, HeldBack: 50, Saved: 40, SavedBytes: 40 << 10, Regret: 10, RegretBytes: 10 << 10},
	}
	s.Requests.Routes = []proxy.RouteStatus{
		{Route: "api", Requests: 10, Classes: map[string]int64{"2xx": 9, "none": 1}}, {Route: "shop", Requests: 190, Classes: map[string]int64{"2xx": 181, "5xx": 9}},
	}
	s.Requests.NotStored = map[string]int64{"first-sighting": 50, "no-store": 3, "private": 3, "too-large": 0}
	s.Requests.NotStoredCookies = map[string]int64{"_ga": 9, "_fbp": 7, "a": 1, "b": 2, "c": 3, "d": 4}
	s.Cache.TierStatus = edge.TierStatus{Objects: 25, Bytes: 1 << 20, MaxBytes: 256 << 20, Writes: 30, StoresNeverHit: 4, EvictionAge: map[string]float64{"capacity": 3723.4, "rejected": 12.345}}
	s.Cache.Disk = &edge.DiskStatus{TierStatus: edge.TierStatus{Objects: 90, Bytes: 5 << 30, MaxBytes: 10 << 30, Writes: 95}, Directories: []edge.DirectoryStatus{{Path: "/a"}, {Path: "/b", Trouble: "it hangs"}}}
	s.Origins = []edge.OriginStatus{{Name: "app", Waiting: 7, Servers: []edge.ServerStatus{{Address: "10.0.0.1:80", State: "up", Active: 3, Idle: 4, Classes: map[string]int64{"2xx": 70, "5xx": 2, "4xx": 0}}, {Address: "10.0.0.2:80", State: "ejected", EjectedFor: 12, Upgraded: 1, Classes: map[string]int64{"none": 8}, LastFailure: "connection refused"}}}}
	s.Filters = []edge.FilterStatus{{
		Name: "second_hit", WindowSeconds: 90, WindowKeys: 1000, FalsePositiveRatio: 0.0001, Measured: edge.Measured{FalsePositiveRatio: 0.0002, RatioUnseen: 9},
		Generations: []edge.Generation{{FillRatio: 0.25}, {FillRatio: 0.5}}, Rotations: map[string]int64{"time": 0, "full": 1, "fitted": 2},
	}}
	s.Problems = []edge.Problem{
		{What: "43.0 % of requests failed in the last minute", Where: "origin shop, connection refused"}, {What: "a certificate has expired", Where: "old.example.com"},
	}
	s.Lately, s.LastHour = 63.2, 3723
	rate := float64(2 << 20)
	s.Requests.Totals.Lately = proxy.Lately{
		Requests: 100, RequestRate: 2.5, HitRatio: 0.6, Errors: 43, ErrorRatio: 0.43, OriginByteRate: &rate, P50: 0.00041, P95: 0.025, P99: 1.2,
	}
	s.Requests.Routes[1].Lately = proxy.Lately{Requests: 92, RequestRate: 2.3, HitRatio: 0.62, Errors: 43, ErrorRatio: 0.47, P50: 0.0004, P95: 0.024, P99: 1.1}
	s.Requests.Totals.LastHour = proxy.Avoided{Saved: 12, SavedBytes: 12 << 10, Regret: 3, RegretBytes: 3 << 10}
	s.Origins[0].FirstByte = edge.FirstByteStatus{Responses: 5000, Mean: 0.5, P50: 0.4, P95: 2}
	s.Origins[0].FirstByteLately = edge.FirstByteStatus{Responses: 40, Mean: 0.01234, P50: 0.000875, P95: 0.31}
	s.Origins = append(s.Origins, edge.OriginStatus{Name: "idle", FirstByte: edge.FirstByteStatus{Responses: 7, Mean: 1.5, P50: 1, P95: 12.5}}, edge.OriginStatus{Name: "new"})
	s.Limits = edge.LimitsStatus{
		Refused: map[string]edge.LimitCount{"rate": {Total: 12, Lately: 3}, "send_rate": {Total: 2}},
		LetGo:   map[string]edge.LimitCount{"idle": {Total: 400, Lately: 1}},
	}
	day := func(n int64) (*int64, *time.Time) {
		end := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, int(n))
		return &n, &end
	}
	certificate := func(days int64, from, file string, names ...string) edge.CertificateStatus {
		left, end := day(days)
		return edge.CertificateStatus{Names: names, NotAfter: end, DaysLeft: left, From: from, File: file}
	}
	s.Certificates = []edge.CertificateStatus{
		{Names: []string{"new.example.com"}, From: "acme"},
		certificate(-2, "file", "/etc/old.pem", "old.example.com"),
		certificate(13, "acme", "", "www.example.com"), certificate(14, "file", "/etc/all.pem", "a.example.com", "b.example.com", "c.example.com"),
		certificate(80, "file", "/etc/x.pem"), certificate(81, "file", "/etc/y.pem", "y.example.com"),
	}
	s.CertificateCount = 9
	s.Admission.Shadow = []shadow.PolicyStats{{Name: "always", HitRatio: 0.65, ByteHitRatio: 0.5, OriginRequests: 70, Writes: 70}}
	return s
}

func TestScreenOfAStatus(t *testing.T) {
	const want = `problems:
  43.0 % of requests failed in the last minute: origin shop, connection refused
  a certificate has expired: old.example.com

edge1 1.2.3, ready, up 1h2m5s, 2 in flight

requests   total  share   in the last 1s
all        200            10
hit        120    60.0 %  7
held_back  50     25.0 %  3
miss       30     15.0 %  0

hit ratio 60.0 % of requests, 55.5 % of bytes; 3.0 MiB sent

in the last 1m3s  requests/s  hit ratio  errors  50 % within  95 % within  99 % within  from origins
all               2.5         60.0 %     43.0 %  410µs        25ms         1.2s         2.0 MiB/s
shop              2.3         62.0 %     47.0 %  400µs        24ms         1.1s
api               0

status  2xx  5xx  none
all     190  9    1
shop    181  9    0
api     9    0    1

stored 30, held back 50; writes avoided 40 (40 KiB), fetched again because of it 10 (10 KiB)
in the last 1h2m3s: writes avoided 12 (12 KiB), fetched again because of it 3 (3.0 KiB)

tier    objects  bytes    of       written  never hit  evicted at the age of
memory  25       1.0 MiB  256 MiB  30       4          1h2m3s, 12.3s (rejected)
disk    90       5.0 GiB  10 GiB   95       0          none
  /b: it hangs

window      remembers  keys  fill            false positives  measured  rotations
second_hit  1m30s      1000  25.0 %, 50.0 %  0.01 %           0.02 %    2 fitted, 1 full

origin  server       state                        connections    idle  queue  answers
app     10.0.0.1:80  up                           3              4     7      2xx 70, 5xx 2
app     10.0.0.2:80  ejected, tried again in 12s  0, 1 upgraded  0     7      none 8 (connection refused)

first byte  of the last  responses  mean    50 % within  95 % within
app         1m3s         40         12.3ms  875µs        310ms
idle        1h2m5s       7          1.5s    1s           12.5s

limit      did      times  in the last 1m3s
idle       let go   400    1
rate       refused  12     3
send_rate  refused  2      0

certificate                      from          expires     days left
new.example.com                  ACME          none yet
old.example.com                  /etc/old.pem  2025-12-30  -2, expired
www.example.com                  ACME          2026-01-14  13, renew it
a.example.com, b.example.com, …  /etc/all.pem  2026-01-15  14
none                             /etc/x.pem    2026-03-22  80
and 4 that expire later

what if  hit ratio  of bytes  to the origin  writes
always   65.0 %     50.0 %    70             70

not stored: first-sighting 50, no-store 3, private 3
request-cookie: _ga 9, _fbp 7, d 4, c 3, b 2, ...; cache.keep_cookies or strip_cookies removes what the origin does not need
`
	before := &edge.Status{Uptime: 3724.4}
	before.Requests.Totals = proxy.RouteStatus{Requests: 190, Results: map[string]int64{"hit": 113, "held_back": 47, "miss": 30}}
	if got := screen(sampleStatus(), before); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	before.Started = before.Started.Add(time.Hour)
	if got := screen(sampleStatus(), before); !strings.Contains(got, "in the last 1h2m5.4s\nall        200            200\n") {
		t.Errorf("after a restart: got\n%s", got)
	}
	if got := screen(&edge.Status{}, nil); !strings.Contains(got, "not ready") || !strings.HasSuffix(got, "not stored: none\n") {
		t.Errorf("of a proxy that has begun a moment ago: got\n%s", got)
	}
}

func TestStatusOfARunningProxy(t *testing.T) {
	t.Parallel()
	token := writeFile(t, "token", adminSecret)
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\", token_file: %q}\norigins: {app: {servers: [%q]}}\ncache: {memory: {stage_bytes: 0B}}\n", token, cachedOrigin(t))))
	for range 3 {
		get(t, "http://"+s.address+"/cached")
	}
	s.metricsAtRest()
	f := func(code int, says []string, args ...string) {
		t.Helper()
		got := runBinary(t, append([]string{"status", "--admin", s.admin}, args...)...)
		for _, want := range says {
			if got.code != code || !strings.Contains(got.stdout+got.stderr, want) {
				t.Errorf("%v: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, code, want)
			}
		}
	}
	f(exitDone, []string{", ready, up ", "\nall        3", "\nhit        1", "\nheld_back  1", "\nmiss       1", "held back 1; writes avoided ", "\nmemory  1 ", "not stored: first-sighting 1\n"},
		"--token-file", token)
	f(exitDone, []string{`"requests": 3`, `"hit": 1`}, "--json", "--token-file", token)
	f(exitFailed, []string{": needs the admin token: set EDGEPROXY_ADMIN_TOKEN or give --token-file"})
	f(exitUsage, []string{"leave --watch out"}, "--json", "--watch")
	f(exitUsage, []string{"must be HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH"}, "--admin", "edge")
	if got := runBinary(t, "status", "--admin", strings.TrimPrefix(jsonServer(t), "http://")); got.code != exitFailed || !strings.Contains(got.stderr, "not the answer of an admin listener") {
		t.Errorf("of another server: got %d %q %q", got.code, got.stdout, got.stderr)
	}
}

// jsonServer is a server that has nothing to do with edgeproxy.
func jsonServer(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	t.Cleanup(s.Close)
	return s.URL
}

// A screen that is watched has what came since the one before it, and Ctrl-C is no failure.
func TestStatusIsWatchedUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, "--origin", cachedOrigin(t), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), "status", "--watch", "--admin", s.admin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	until := func(part string) {
		t.Helper()
		for in.Scan() {
			if strings.Contains(in.Text(), part) {
				return
			}
		}
		t.Errorf("no line has %q", part)
	}
	until("not stored: none") // the end of the first screen
	get(t, "http://"+s.address+"/cached")
	until("  in the last ")
	until("not stored: first-sighting 1")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for in.Scan() { // the rest of what it prints, so that it can end
		continue
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: got %v, want exit code 0", err)
	}
}

// The site's own 404 was printed, as if the listener had said it.
func TestStatusOfTheWrongListenerNamedNeitherItNorTheMistake(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	address := site.Listener.Addr().String()
	for _, command := range []string{"status", "top", "reload"} {
		got := runBinary(t, command, "--admin", address)
		if want := address + ": 404 Not Found: not the answer of an admin listener"; got.code != exitFailed || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %d %q, want %q", command, got.code, got.stderr, want)
		}
	}
}

func TestStatusWasSilentOfAFileThatIsRefused(t *testing.T) {
	s := sampleStatus()
	s.Config = &edge.ReloadStatus{File: "edge.yaml", Successful: true}
	if got := screen(s, nil); strings.Contains(got, "edge.yaml") {
		t.Errorf("of a file that is in force: got\n%s", got)
	}
	s.Config.Successful, s.Config.Error = false, "edge.yaml:1:1: one: unknown key\nedge.yaml:2:1: two: unknown key"
	s.Config.Restart = []edge.Change{{Path: "cache.memory.max_bytes"}, {Path: "listen"}}
	const want = ", 2 in flight\n\nedge.yaml is refused, and the previous configuration stays in force:\n  edge.yaml:1:1: one: unknown key\n  edge.yaml:2:1: two: unknown key\n\n" +
		"need a restart: cache.memory.max_bytes, listen\n\nrequests "
	if got := screen(s, nil); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
