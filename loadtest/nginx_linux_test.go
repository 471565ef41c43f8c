package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/peers"
	"edgeproxy/internal/lab/process"
	"edgeproxy/internal/test/testkit"
)

// needNginx returns the path of nginx. Without it the test is skipped.
func needNginx(t *testing.T) string {
	t.Helper()
	testkit.Slow(t, "it starts nginx")
	program, err := peers.Find("nginx")
	if err != nil {
		if os.Getenv("EDGEPROXY_TEST_ALL") != "" {
			t.Fatalf("nginx is not there: %v", err)
		}
		t.Skipf("nginx is not there: %v", err)
	}
	return program
}

func TestNginxIsCountedLikeEdgeproxy(t *testing.T) {
	needNginx(t)
	code, stdout, stderr := runDriver(t, "", "--policies", "always", "--baselines", "nginx", "--json")
	var doc document
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != command.Done {
		t.Fatalf("exit %d, report: %v\n%s%s", code, err, stdout, stderr)
	}
	const big, small = 2 << 20, 20000
	want := []minUses{
		{"nginx-min-uses-1", 9, 5, 4, big + 3*small, 0, 4, big + 3*small},
		{"nginx-min-uses-2", 9, 3, 2, big + small, 4, 6, 2*big + 4*small},
	}
	var got []minUses
	for _, r := range doc.Results[1:] {
		got = append(got, minUses{r.Policy, r.Requests, r.Hits, r.Writes, r.WriteBytes, r.HeldBack, r.OriginRequests, r.OriginBytes})
		if r.Eviction != "lru" || r.Regret != nil || r.FalsePositiveRatio != nil || !strings.HasPrefix(r.Server, "nginx/") || r.P99Seconds <= 0 {
			t.Errorf("%s: eviction %s, regret %v, server %s, p99 %v", r.Policy, r.Eviction, r.Regret, r.Server, r.P99Seconds)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if avoided := doc.Results[2].WritesAvoided; avoided != 2 {
		t.Errorf("min_uses 2: got %d writes avoided, want 2 of always' 4", avoided)
	}
	noWarnings(t, &doc)
}

// TestNginxStoresNothingOverTheLimit: it has none of its own.
func TestNginxStoresNothingOverTheLimit(t *testing.T) {
	needNginx(t)
	code, stdout, stderr := runDriver(t, "", "--policies", "always", "--baselines", "nginx", "--json", "--max-object", "1MiB")
	var doc document
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != command.Done {
		t.Fatalf("exit %d, report: %v\n%s%s", code, err, stdout, stderr)
	}
	if r := doc.Results[1]; r.Writes != 3 || r.HeldBack != 0 || r.Hits != 1 || r.OriginRequests != 8 {
		t.Errorf("got %d writes, %d held back, %d hits, %d fetches; want 3, 0, 1 and 8: the big object each time", r.Writes, r.HeldBack, r.Hits, r.OriginRequests)
	}
}

// nginxOf starts an nginx before an origin with the trace's objects.
func nginxOf(t *testing.T, r *replay, maxBytes int64) *nginx {
	t.Helper()
	program := needNginx(t)
	o, err := startOrigin(r, time.Hour, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	c := nginxConfig{minUses: 1, maxBytes: maxBytes, keys: r.Facts().Objects, memory: memoryFolder(maxBytes)}
	n, err := startNginx(t.Context(), program, t.TempDir(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNginxKeepsToItsSize: by itself its cache manager sleeps up to ten seconds,
// and the cache would hold all.
func TestNginxKeepsToItsSize(t *testing.T) {
	testkit.Alone(t, "nginx has eight seconds of the real clock")
	const objects, bytes, maxBytes = 1500, 16 << 10, 4 << 20
	var lines strings.Builder
	for i := range objects {
		fmt.Fprintf(&lines, "%d %d %d\n", i, i, bytes)
	}
	r := replayOf(lines.String())
	n := nginxOf(t, r, maxBytes)
	defer n.Close()
	d := &driver{
		replay: r, host: n.address(), rate: 1500, connections: 4, pause: pause,
		dial: func(context.Context) (net.Conn, error) { return net.Dial("tcp", n.address()) },
	}
	got, err := d.run(t.Context())
	if err != nil || got.errors > 0 {
		t.Fatalf("%v, %q\n%s", err, got.samples, n.Log())
	}
	c, err := settled(t.Context(), n, objects)
	if err != nil {
		t.Fatal(err)
	}
	if c.writes != objects || c.writeBytes != objects*bytes {
		t.Errorf("got %d writes of %d bytes, want all %d", c.writes, c.writeBytes, objects)
	}
	// A file takes a block more than its body. On a busy machine it takes longer to
	// remove what is too much, but not the ten seconds.
	const most = 2 * maxBytes / bytes
	for end := time.Now().Add(8 * time.Second); c.writes-c.evictions > most && time.Now().Before(end); {
		if c, err = n.scrape(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if held := c.writes - c.evictions; held > most || held < most/4 {
		t.Errorf("got %d objects held of %d at the end, want about %d", held, objects, most/2)
	}
}

func TestNginxLeavesNothingBehind(t *testing.T) {
	r := sequence(1)
	n := nginxOf(t, r, 1<<20)
	conn := openTo(t, n.address(), r.objects[0].target)
	if err := n.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	gone(t, conn)
	for _, dir := range []string{n.folders.home, n.folders.cache} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind (%v)", dir, err)
		}
	}
}

// openTo returns a connection that a worker has answered on.
func openTo(t *testing.T, address, target string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || len(body) == 0 {
		t.Fatalf("GET %s: status %s, %d bytes, error %v", target, resp.Status, len(body), err)
	}
	return conn
}

// TestNginxDiesWithAKilledDriver: its workers too, which are not the driver's
// children.
func TestNginxDiesWithAKilledDriver(t *testing.T) {
	program := needNginx(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envNginx+"="+program, "TMPDIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatalf("no nginx was started: %v", err)
	}
	conn := openTo(t, address, "/o/0")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, conn)
}

func TestNginxThatIsGoneEndsTheRun(t *testing.T) {
	r := sequence(1)
	n := nginxOf(t, r, 1<<20)
	ctx, stop := n.Watch(t.Context())
	defer stop()
	if err := n.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
		if err := context.Cause(ctx); !errors.Is(err, process.ErrEnded) {
			t.Errorf("got %v, want %v", err, process.ErrEnded)
		}
	case <-time.After(testkit.Patience):
		t.Error("the run would go on without it")
	}
	if err := n.Close(); err == nil || !strings.Contains(err.Error(), "nginx ended with signal: killed") {
		t.Errorf("Close: got %v, want it to say how it ended", err)
	}
}

func TestNginxConfigHasTheRun(t *testing.T) {
	c := nginxConfig{
		listen: "127.0.0.1:1", admin: "127.0.0.1:2", origin: "127.0.0.1:3", minUses: 2, maxBytes: 5_000_000, keys: 40_000,
		cache: "/dev/shm/x",
	}
	text := c.peer("nginx", "/home").Text(0)
	for _, want := range []string{
		"keys_zone=objects:12m max_size=5000000 inactive=86400s", `proxy_cache_path "/dev/shm/x" `, "proxy_cache_min_uses 2;",
		"listen 127.0.0.1:1;", "listen 127.0.0.1:2;", "server 127.0.0.1:3;", "manager_sleep=10ms",
	} {
		if !strings.Contains(text, want) || strings.Contains(text, "%!") {
			t.Errorf("the configuration lacks %q:\n%s", want, text)
		}
	}
}

func TestBaselinesRunWhereTheyAreWanted(t *testing.T) {
	program := filepath.Join(t.TempDir(), "nginx")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho nginx version: nginx/9.8.7 >&2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := func(want int, optional bool, args ...string) {
		t.Helper()
		p, err := newPlan(parse(t, append(args, "--capacity", "1MiB", "--nginx", program)...), objects(10))
		if err != nil {
			t.Fatal(err)
		}
		runs := p.baselines(t.Context(), t.TempDir(), &strings.Builder{})
		if len(runs) != want {
			t.Errorf("%v: got %d runs, want %d", args, len(runs), want)
		}
		for i, r := range runs {
			if name := fmt.Sprint("nginx-min-uses-", i+1); r.setting.policy != name || r.optional != optional || r.noStoreOver != p.maxObjectBytes || r.server != "nginx/9.8.7" {
				t.Errorf("%v: got %s by %s, optional %v, no objects over %d", args, r.setting.policy, r.server, r.optional, r.noStoreOver)
			}
		}
	}
	html := filepath.Join(t.TempDir(), "r.html")
	f(0, false)
	f(0, false, "--baselines", "none", "--html", html)
	f(2, true, "--html", html)
	f(2, false, "--baselines", "nginx")
}

// The report never warned of a cache that had outgrown its size: nginx said it by a method that nobody called.
func TestDoubtsNeedMoreThanAMoment(t *testing.T) {
	f := func(over, writes int64, want int) {
		t.Helper()
		var n selfChecker = &nginx{max: 1 << 20, stored: writeCounts{over: over, writes: writes, most: 3 << 20}}
		if got := n.doubts(); len(got) != want {
			t.Errorf("%d of %d writes over: got %q, want %d doubts", over, writes, got, want)
		}
	}
	f(0, 0, 0)
	f(100, 1000, 0)
	f(101, 1000, 1)
}
