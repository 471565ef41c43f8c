package origin

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/test/testkit"
)

// peer is the origin's end of one connection.
type peer struct {
	net.Conn
	br *bufio.Reader
}

// request reads a request head, with the empty line; "" once there is none.
func (p *peer) request() string {
	var head strings.Builder
	for {
		line, err := p.br.ReadString('\n')
		if err != nil {
			return ""
		}
		head.WriteString(line)
		if line == "\r\n" {
			return head.String()
		}
	}
}

// say writes s; a failure shows on the other end.
func (p *peer) say(s string) { _, _ = io.WriteString(p, s) }

// untilClosed waits for the other end to close.
func (p *peer) untilClosed() { _, _ = io.Copy(io.Discard, p.br) }

// script plays the origin on its nth connection, from 0. The connection is
// closed when it returns.
type script func(n int, p *peer)

// each answers every request on every connection with the same bytes.
func each(response string) script {
	return func(_ int, p *peer) {
		for p.request() != "" {
			p.say(response)
		}
	}
}

// loopback plays s on a real socket and returns its address.
func loopback(tb testing.TB, s script) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var (
		mu    sync.Mutex
		conns []net.Conn
		wg    sync.WaitGroup
	)
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				s(n, &peer{Conn: c, br: bufio.NewReader(c)})
			})
		}
	})
	tb.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// pipes returns a Dial that plays s on connections in memory, for virtual time.
// The test ends only when every script has: all connections must be closed.
func pipes(tb testing.TB, s script) func(context.Context, string, string) (net.Conn, error) {
	tb.Helper()
	var (
		n  atomic.Int64
		wg sync.WaitGroup
	)
	tb.Cleanup(wg.Wait)
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		i := int(n.Add(1)) - 1
		wg.Go(func() {
			defer theirs.Close()
			s(i, &peer{Conn: theirs, br: bufio.NewReader(theirs)})
		})
		return ours, nil
	}
}

// start returns an Origin that plays s on a real socket. Its handshakes may take as long as a busy machine needs.
func start(tb testing.TB, o Options, s script) *Origin {
	tb.Helper()
	o.Address, o.ConnectTimeout = loopback(tb, s), cmp.Or(o.ConnectTimeout, testkit.Patience)
	return open(tb, o)
}

// inMemory returns an Origin that plays s in memory.
func inMemory(tb testing.TB, o Options, s script) *Origin {
	tb.Helper()
	o.Dial = pipes(tb, s)
	return open(tb, o)
}

// open opens an Origin that uses connections again after a POST.
func open(tb testing.TB, o Options) *Origin {
	tb.Helper()
	o.ReuseAfterPost = true
	return openAs(tb, o)
}

func openAs(tb testing.TB, o Options) *Origin {
	tb.Helper()
	if o.Name == "" {
		o.Name = "app"
	}
	if o.Address == "" {
		o.Address = "origin.test:80"
	}
	origin, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(origin.Close)
	return origin
}

func get(target string) *Request {
	return &Request{Method: "GET", Target: target, Host: "origin.test"}
}

// fetch does a round trip and reads the body.
func fetch(o *Origin, r *Request) (*Response, string, error) {
	res, err := o.RoundTrip(context.Background(), r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

// wantBody fetches and compares.
func wantBody(t *testing.T, o *Origin, r *Request, want string) {
	t.Helper()
	_, got, err := fetch(o, r)
	if err != nil || got != want {
		t.Errorf("%s %s: got body %q and error %v, want %q", r.Method, r.Target, got, err, want)
	}
}

// wantKind compares the kind of an error.
func wantKind(t *testing.T, err error, want Kind) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != want {
		t.Errorf("got error %v, want one of kind %v", err, want)
	}
}

var eventually = testkit.Eventually

// idleCount returns how many connections lie idle.
func idleCount(o *Origin) int {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	n := 0
	for _, s := range o.pool.servers {
		n += len(s.idle)
	}
	return n
}

// openCount returns how many slots are in use or idle.
func openCount(o *Origin) int {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	n := 0
	for _, s := range o.pool.servers {
		n += s.open
	}
	return n
}

// idleSpoilt reports whether the connection to be used next is unusable.
func idleSpoilt(o *Origin) bool {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	idle := o.pool.servers[0].idle
	return len(idle) > 0 && !idle[len(idle)-1].usable(time.Now())
}

// waiting returns how many requests are in the queue.
func waiting(o *Origin) int {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	return o.pool.waiters.Len()
}

// sample returns a metric by its name and its label values, in the order of
// their label names; the sample count of a histogram.
func sample(t *testing.T, g prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	metrics:
		for _, m := range f.GetMetric() {
			for i, l := range m.GetLabel() {
				if l.GetValue() != labels[i] {
					continue metrics
				}
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	t.Fatalf("no metric %s with labels %v", name, labels)
	return 0
}
