package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/ops/top"
	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// listed returns a list of what is counted, one a line, with its total.
func listed(t *testing.T, e *edgetest.Edge, kind top.Kind, by top.Measure) string {
	t.Helper()
	counts := e.Proxy.Top()
	if counts == nil {
		return "off"
	}
	rows, total := counts.List(kind, by, 100, time.Now())
	lines := []string{fmt.Sprint(total)}
	for _, r := range rows {
		if r.AtLeast != r.AtMost {
			t.Errorf("%s: got %d to %d, want it certain", r.Key, r.AtLeast, r.AtMost)
		}
		lines = append(lines, fmt.Sprint(r.Key, " ", r.AtLeast))
	}
	return strings.Join(lines, "\n")
}

func hosted(host, target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
}

func answersAll(c *edgetest.Conn) {
	for r := c.Next(); r != nil; r = c.Next() {
		more := "max-age=3600"
		if r.RequestURI == "/private" {
			more = "private"
		}
		c.Say("HTTP/1.1 200 OK\r\nCache-Control: " + more + "\r\nContent-Length: 5\r\n\r\nhello")
	}
}

func TestHostsAndURLsAreCountedByWhatBecameOfThem(t *testing.T) {
	e, _ := startBefore(t, held, answersAll)
	ask(t, e, hosted("a.example", "/before"))
	if got := listed(t, e, top.Hosts, top.Requests); got != "off" {
		t.Errorf("got %s, want nothing counted unasked", got)
	}
	const on = held + "metrics: {top: {entries: 100, window: 1h}}\n"
	reload(t, e, on)
	for range 4 {
		ask(t, e, hosted("A.example:80", "/x"))
	}
	ask(t, e, hosted("b.example", "/x?q=1"))
	ask(t, e, hosted("a.example", "/private"))
	ask(t, e, "GET / HTTP/1.1\r\nHost: not a host\r\n\r\n") // is no URL
	reload(t, e, on)                                        // a reload that changes nothing here keeps the counts
	check := func(kind top.Kind, by top.Measure, want string) {
		t.Helper()
		eventually(t, want, func() bool { return listed(t, e, kind, by) == want })
	}
	check(top.Hosts, top.Requests, "6\na.example 5\nb.example 1")
	check(top.Hosts, top.Bytes, "30\na.example 25\nb.example 5")
	check(top.Hosts, top.Misses, "3\na.example 2\nb.example 1")
	check(top.Hosts, top.HeldBack, "2\na.example 1\nb.example 1")
	check(top.URLs, top.Requests, "6\nhttp://a.example/x 4\nhttp://a.example/private 1\nhttp://b.example/x?q=1 1")
	check(top.URLs, top.Misses, "3\nhttp://a.example/x 2\nhttp://b.example/x?q=1 1")
	check(top.URLs, top.HeldBack, "2\nhttp://a.example/x 1\nhttp://b.example/x?q=1 1")
	reload(t, e, held+"metrics: {top: {entries: 50, window: 1h}}\n")
	check(top.Hosts, top.Requests, "0")
	if _, err := e.Reload(held + "metrics: {top: {entries: 1, window: 0s}}\n"); err == nil {
		t.Error("got windows of no length, want an error")
	}
	reload(t, e, held)
	if got := listed(t, e, top.Hosts, top.Requests); got != "off" {
		t.Errorf("got %s, want nothing counted any more", got)
	}
}

// A URL that was spelt in several ways was several in the list.
func TestSpellingsOfAURLAreCountedAsOne(t *testing.T) {
	e, _ := startBefore(t, "metrics: {top: {entries: 100, window: 1h}}\n", answersAll)
	for _, target := range []string{"/%7ex?%2f", "/~x?%2F", "/~%78?%2f"} {
		ask(t, e, hosted("a.example", target))
		ask(t, e, "POST "+target+" HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n") // which has no key
	}
	const want = "6\nhttp://a.example/~x?%2F 6"
	eventually(t, want, func() bool { return listed(t, e, top.URLs, top.Requests) == want })
}

// A client that asks for ever other hosts and URLs makes neither memory nor series grow.
func TestRandomHostsAndURLsTakeNoMemoryAndNoSeries(t *testing.T) {
	testkit.Plain(t, "looks at the heap")
	e, _ := startBefore(t, `
admission: {policy: never}
metrics: {hosts: ["*.known.example"], top: {entries: 64, window: 1h}}
`, answersAll)
	series := func() (n int) {
		families, err := e.Metrics().Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			n += len(f.GetMetric())
		}
		return n
	}
	r := rand.New(rand.NewPCG(1, 2))
	s := dial(t, e.Address)
	flood := func(n int) {
		t.Helper()
		for range n {
			if a := s.ask(hosted(fmt.Sprintf("h%d.known.example", r.Uint64()), fmt.Sprintf("/%d/%s", r.Uint64(), strings.Repeat("x", r.IntN(2000))))); a.status != 200 {
				t.Fatalf("got %d %v", a.status, a.err)
			}
		}
	}
	flood(200)
	before, memory := series(), e.Proxy.Top().MemoryBytes()
	was := heapInUse()
	flood(3000)
	grown := heapInUse() - was
	if after := series(); after != before {
		t.Errorf("got %d series, %d before", after, before)
	}
	if grown > 4<<20 || e.Proxy.Top().MemoryBytes() != memory {
		t.Errorf("memory has grown by %d bytes, and that of the counts from %d to %d", grown, memory, e.Proxy.Top().MemoryBytes())
	}
	if n := e.Metric(t, "edgeproxy_host_requests_total", "host=*.known.example", "result=held_back"); n < 3199 {
		t.Errorf("got %v requests of the pattern, want 3200", n)
	}
}
