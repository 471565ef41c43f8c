package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	reloads     = 100
	reloadKeys  = 40 // keys of each route
	reloadPeers = 6  // clients at once
)

// countingOrigin answers each path with itself, to be kept, and counts how often it is asked.
func countingOrigin(t *testing.T, asked *sync.Map) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := asked.LoadOrStore(r.URL.Path, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestReloadsUnderLoad: two files take turns, a hundred times, which change routes, origins,
// policies and limits; a broken one comes now and then. No request fails, no upgraded
// connection is cut, no key is fetched more often than its policies ask for, hits are those of a
// program without reloads, and goroutines, descriptors and series are what they were.
func TestReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	var asked sync.Map
	app, other, echo := countingOrigin(t, &asked), countingOrigin(t, &asked), echoOrigin(t)
	files := [2]string{fmt.Sprintf(`
origins: {app: {servers: [%q]}, moved: {servers: [%q]}, echo: {servers: [%q]}}
routes: %s
  - {name: tunnels, match: {path_prefix: /echo}, origin: echo}
  - {name: moved, match: {path_prefix: /moved}, origin: moved, admission: {policy: always}}
  - {name: second, match: {path_prefix: /second}, origin: app, admission: {policy: second-hit}}
  - {name: counted, match: {path_prefix: /counted}, origin: app, admission: {policy: counting, more_than: 1}}
  - {name: default, origin: app, admission: {policy: always}}
`, app, app, echo, steadyFile("app")), fmt.Sprintf(`
origins: {app: {servers: [%q]}, moved: {servers: [%q], queue: {wait: 5s}}, new: {servers: [%q]}, echo: {servers: [%q], connect_timeout: 4s}}
routes: %s
  - {name: new, match: {path_prefix: /new}, origin: new, admission: {policy: always}}
  - {name: counted, match: {path_prefix: /counted}, origin: app, admission: {policy: counting, more_than: 2}, limits: {rate: {requests: 1000000, per: 1s}}}
  - {name: second, match: {path_prefix: /second}, origin: new, admission: {policy: always}}
  - {name: tunnels, match: {path_prefix: /echo}, origin: echo}
  - {name: moved, match: {path_prefix: /moved}, origin: moved, admission: {policy: second-hit}}
  - {name: default, origin: app, admission: {policy: always}, cache: {default_ttl: 1s}}
limits: {ranges: 3, requests_in_flight: 5000, tunnels: 99, body_bytes: 1MiB}
`, app, other, app, echo, steadyFile("new"))}
	c := serveFile(t, files[0])
	var tunnels []*tunnelled
	for range 3 {
		tunnels = append(tunnels, c.tunnel())
	}
	get(t, "http://"+c.address+"/")
	before := c.atRest()
	load, steady := c.load(), c.steady()
	for i := range reloads {
		if i%10 == 9 {
			c.post("broken", http.StatusUnprocessableEntity)
			for _, one := range tunnels {
				one.echoes(t)
			}
		}
		done := load.done.Load()
		steady.beside(t, 30, func() { c.post(files[(i+1)%2], http.StatusOK) })
		eventually(t, "requests go on", func() bool { return load.done.Load() > done+reloadPeers })
	}
	c.post(files[0], http.StatusOK)
	sent := load.end(t)
	for _, one := range tunnels {
		one.echoes(t)
	}
	c.wantFetches(&asked)
	c.wantSeries(before)
	c.wantAsWithoutReloads(steady, files[0])
	steady.conn.Close()
	sent += int64(len(steady.outcomes))
	eventually(t, "goroutines and descriptors are what they were", func() bool {
		now := c.atRest()
		return now.goroutines <= before.goroutines+3 && now.descriptors <= before.descriptors+3
	})
	for _, one := range tunnels {
		one.Close()
	}
	sent += int64(len(tunnels)) + 1
	eventually(t, "each request is counted, once", func() bool { return c.counted() == sent })
	if slices.ContainsFunc(c.lines(), func(l logLine) bool { return strings.Contains(l.Message, "panic") }) {
		t.Error("the log tells of a panic")
	}
}

// post writes the file and asks for a reload.
func (c *configured) post(text string, want int) {
	c.t.Helper()
	c.write(text)
	status, answer, err := post(c.t.Context(), c.admin, "/reload", "", nil)
	if err != nil || status != want {
		c.t.Fatalf("reload: got %d %s, %v, want %d", status, answer, err, want)
	}
}

// tunnelled is a connection that was switched to another protocol.
type tunnelled struct {
	net.Conn
	in *bufio.Reader
}

func (c *configured) tunnel() *tunnelled {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	one := &tunnelled{conn, bufio.NewReader(conn)}
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	if res, err := http.ReadResponse(one.in, nil); err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		c.t.Fatalf("got %v, %v, want 101", res, err)
	}
	return one
}

// echoes sends a byte and waits for it.
func (o *tunnelled) echoes(t *testing.T) {
	t.Helper()
	_ = o.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(o, "x")
	if b, err := o.in.ReadByte(); b != 'x' {
		t.Fatalf("an upgraded connection: got %q, %v, want x", b, err)
	}
}

// clientsUnderLoad ask for the same keys again and again.
type clientsUnderLoad struct {
	stop    context.CancelFunc
	asking  sync.WaitGroup
	done    atomic.Int64
	mu      sync.Mutex
	failure error // the first
}

func (c *configured) load() *clientsUnderLoad {
	ctx, stop := context.WithCancel(context.Background())
	l := &clientsUnderLoad{stop: stop}
	c.t.Cleanup(func() { stop(); l.asking.Wait() })
	for i := range reloadPeers {
		l.asking.Go(func() {
			if err := l.ask(ctx, c.address, i); err != nil {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.failure = errors.Join(l.failure, err)
			}
		})
	}
	return l
}

// ask goes round the keys on one connection.
func (l *clientsUnderLoad) ask(ctx context.Context, address string, i int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := i; ctx.Err() == nil; n++ {
		path := fmt.Sprintf("/%s/%d", []string{"moved", "second", "counted", "new", "default"}[n%5], n/5%reloadKeys)
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 || string(body) != path {
			return fmt.Errorf("%s: got %d %q %v, error %w", path, res.StatusCode, body, res.Header["Cache-Status"], err)
		}
		l.done.Add(1)
	}
	return nil
}

// end stops the clients and returns how many requests they have sent.
func (l *clientsUnderLoad) end(t *testing.T) int64 {
	t.Helper()
	l.stop()
	l.asking.Wait()
	if l.failure != nil {
		t.Errorf("of %d requests some have failed: %v", l.done.Load(), l.failure)
	}
	return l.done.Load()
}

// wantFetches: what is stored stays so, and a sighting counts under the next file as well. A
// key of counting is stored at its third sighting at the latest, one of second-hit at its
// second, and clients that come together share a fetch.
func (c *configured) wantFetches(asked *sync.Map) {
	c.t.Helper()
	for name, most := range map[string]int64{"moved": 2, "second": 2, "counted": 3, "new": 1, "default": 1} {
		for i := range reloadKeys {
			path := fmt.Sprintf("/%s/%d", name, i)
			n, ok := asked.Load(path)
			if !ok || n.(*atomic.Int64).Load() > most {
				c.t.Errorf("%s was fetched %v times, want 1 to %d", path, n, most)
			}
		}
	}
}

// rest is what a process has while nothing is under way.
type rest struct {
	goroutines, descriptors int
	series                  []string
}

func (c *configured) atRest() (r rest) {
	c.t.Helper()
	res, text := get(c.t, "http://"+c.admin+"/metrics")
	if res.StatusCode != 200 {
		c.t.Fatalf("/metrics: got %d %s", res.StatusCode, text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		name, value, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		r.series = append(r.series, name)
		switch n := 0; {
		case name == "go_goroutines":
			_, _ = fmt.Sscan(value, &r.goroutines)
		case strings.HasPrefix(name, "edgeproxy_origin_connections{") && !strings.Contains(name, "upgraded"), name == "edgeproxy_cache_copies":
			_, _ = fmt.Sscan(value, &n)
			r.descriptors -= n
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.cmd.Process.Pid))
	if err != nil {
		c.t.Skip("no /proc here")
	}
	r.descriptors += len(open)
	return r
}

// wantSeries: each that was there is there, and each is there once.
func (c *configured) wantSeries(before rest) {
	c.t.Helper()
	now := c.atRest().series
	for _, s := range before.series {
		if !slices.Contains(now, s) {
			c.t.Errorf("%s is lost", s)
		}
	}
	slices.Sort(now)
	if n := len(now); len(slices.Compact(now)) != n {
		c.t.Error("a series is there twice")
	}
}

// counted is how many requests the metrics know.
func (c *configured) counted() (sum int64) {
	c.t.Helper()
	_, text := get(c.t, "http://"+c.admin+"/metrics")
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "edgeproxy_requests_total{"); ok {
			_, value, _ := strings.Cut(rest, "} ")
			var n int64
			_, _ = fmt.Sscan(value, &n)
			sum += n
		}
	}
	return sum
}
