package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// steadyRoutes are in both files, with one policy each. Their keys are asked for by one client
// alone, so each outcome is certain.
var steadyRoutes = []string{"stored", "twice", "thrice"}

// steadyFile says what the two files have in common: the origin may be another, and the place.
func steadyFile(origin string) string {
	return fmt.Sprintf(`
  - {name: stored, match: {path_prefix: /stored}, origin: %[1]s, admission: {policy: always}}
  - {name: twice, match: {path_prefix: /twice}, origin: %[1]s, admission: {policy: second-hit}}
  - {name: thrice, match: {path_prefix: /thrice}, origin: %[1]s, admission: {policy: counting, more_than: 2}}`, origin)
}

// steadyClient asks for the keys of these routes, always in the same order, some much more
// often than others.
type steadyClient struct {
	conn     net.Conn
	in       *bufio.Reader
	order    *rand.Rand
	outcomes []string // what each answer says of itself
}

func (c *configured) steady() *steadyClient {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	return &steadyClient{conn: conn, in: bufio.NewReader(conn), order: rand.New(rand.NewPCG(1, 2))}
}

var ttl = regexp.MustCompile(`; ttl=\d+`)

// ask asks the next n times.
func (s *steadyClient) ask(n int) error {
	for range n {
		skewed := s.order.Float64()
		path := fmt.Sprintf("/%s/%d", steadyRoutes[s.order.IntN(len(steadyRoutes))], int(200*skewed*skewed*skewed))
		_ = s.conn.SetDeadline(time.Now().Add(patience))
		if _, err := fmt.Fprintf(s.conn, "GET %s HTTP/1.1\r\nHost: steady\r\n\r\n", path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		res, err := http.ReadResponse(s.in, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 || string(body) != path {
			return fmt.Errorf("%s: got %d %q, error %w", path, res.StatusCode, body, err)
		}
		s.outcomes = append(s.outcomes, path+" "+ttl.ReplaceAllString(res.Header.Get("Cache-Status"), ""))
	}
	return nil
}

// steadyCounts are what the metrics have of these routes: results, and what became of fills.
func (c *configured) steadyCounts() (counts []string) {
	c.t.Helper()
	_, text := get(c.t, "http://"+c.admin+"/metrics")
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "edgeproxy_requests_total{") && !strings.HasPrefix(line, "edgeproxy_fills_total{") {
			continue
		}
		for _, name := range steadyRoutes {
			if strings.Contains(line, fmt.Sprintf("route=%q", name)) {
				counts = append(counts, line)
			}
		}
	}
	return counts
}

// wantAsWithoutReloads: each request of the client had the outcome that it has in a program that
// serves the file alone, and so the metrics say.
func (c *configured) wantAsWithoutReloads(s *steadyClient, file string) {
	c.t.Helper()
	alone := serveFile(c.t, file)
	want := alone.steady()
	if err := want.ask(len(s.outcomes)); err != nil {
		c.t.Fatal(err)
	}
	hits := 0
	for i, outcome := range s.outcomes {
		if outcome != want.outcomes[i] {
			c.t.Fatalf("request %d: got %s, without reloads %s", i, outcome, want.outcomes[i])
		}
		if strings.Contains(outcome, "; hit") {
			hits++
		}
	}
	if n := len(s.outcomes); hits < n/4 || hits > n-n/20 {
		c.t.Errorf("got %d hits of %d, want some and not all: the comparison shows nothing", hits, n)
	}
	var with, without []string
	eventually(c.t, "the metrics say the same", func() bool {
		with, without = c.steadyCounts(), alone.steadyCounts()
		return len(with) > 0 && strings.Join(with, "\n") == strings.Join(without, "\n")
	})
	c.t.Logf("%d requests, %d hits, with reloads and without", len(s.outcomes), hits)
}

// beside does something while the client asks n times, and returns when both have ended.
func (s *steadyClient) beside(t *testing.T, n int, something func()) {
	t.Helper()
	asked := make(chan error, 1)
	go func() { asked <- s.ask(n) }()
	something()
	if err := <-asked; err != nil {
		t.Fatalf("of requests whose outcome is certain: %v", err)
	}
}
