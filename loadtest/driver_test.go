package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipeEdge answers requests on in-memory connections.
type pipeEdge struct {
	respond func(n int, target string) string // n counts from 0; "" = close without an answer
	dials   atomic.Int64

	mu      sync.Mutex
	targets []string
}

func (p *pipeEdge) dial(context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	p.dials.Add(1)
	go p.serve(server)
	return client, nil
}

func (p *pipeEdge) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		first, err := r.ReadString('\n')
		if err != nil {
			return
		}
		for line := ""; line != "\r\n"; {
			if line, err = r.ReadString('\n'); err != nil {
				return
			}
		}
		target := strings.Fields(first)[1]
		p.mu.Lock()
		n := len(p.targets)
		p.targets = append(p.targets, target)
		p.mu.Unlock()
		answer := p.respond(n, target)
		if _, err := conn.Write([]byte(answer)); err != nil || answer == "" || strings.Contains(answer, "onnection: close") {
			return
		}
	}
}

func whole(n int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nETag: %s\r\nContent-Length: 3\r\n\r\nabc", etag(uint32(n), 3))
}

func (p *pipeEdge) driver(t *replay, rate float64, connections int) *driver {
	return &driver{replay: t, host: "edge", rate: rate, connections: connections, dial: p.dial, pause: pauseTimer}
}

func TestLatencyCountsFromTheScheduledTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipeEdge{respond: func(n int, _ string) string {
			if n == 50 {
				time.Sleep(time.Second)
			}
			return whole(n)
		}}
		start := time.Now()
		got, err := p.driver(sequence(200), 100, 1).run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The stall delays the 99 requests due within it: by 990 ms, 980 ms, ...
		if got.ok != 200 || got.late != 98 || got.worstLate != 990*time.Millisecond {
			t.Errorf("got %d ok, %d late, worst %s; want 200, 98, 990ms", got.ok, got.late, got.worstLate)
		}
		if p99 := got.quantile(0.99); p99 < 0.97 || p99 > 0.99 {
			t.Errorf("p99: got %vs, want 0.98s: the third longest of 200", p99)
		}
		if slow := got.latency.TotalCount() - countBelow(got, 500*time.Millisecond); slow != 51 {
			t.Errorf("got %d requests slower than 0.5s, want 51", slow)
		}
		if took := time.Since(start); took != 1990*time.Millisecond {
			t.Errorf("run took %s, want 1.99s: a stall must not move the schedule", took)
		}
	})
}

func countBelow(t *tally, d time.Duration) (n int64) {
	for _, b := range t.latency.Distribution() {
		if b.To < d.Microseconds()-1000 {
			n += b.Count
		}
	}
	return n
}

func TestStallHoldsUpOneConnectionOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipeEdge{respond: func(n int, _ string) string {
			if n == 10 {
				time.Sleep(300 * time.Millisecond)
			}
			return whole(n)
		}}
		got, err := p.driver(sequence(100), 100, 2).run(t.Context())
		if err != nil || got.ok != 100 || got.late != 0 || got.latency.Max() < 299_000 {
			t.Errorf("got %+v, error %v; want 100 ok, none late, the longest 0.3s", got, err)
		}
	})
}

func TestRequestsAreSentInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipeEdge{respond: func(n int, _ string) string { return whole(n) }}
		if _, err := p.driver(sequence(300), 1000, 8).run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, target := range p.targets {
			if want := fmt.Sprintf("/o/%d", i); target != want {
				t.Fatalf("request %d: got %s, want %s", i, target, want)
			}
		}
	})
}

func TestEndOfContextEndsAHangingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, why)
		defer cancel()
		p := &pipeEdge{respond: func(int, string) string { <-ctx.Done(); return "" }}
		start := time.Now()
		if got, err := p.driver(sequence(100), 100, 3).run(ctx); !errors.Is(err, why) || got != nil {
			t.Errorf("got %v, error %v; want the cause %v", got, err, why)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("run ended after %s, want 2s", took)
		}
	})
}

func TestIdleConnectionIsReplaced(t *testing.T) {
	f := func(rate float64, want int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			p := &pipeEdge{respond: func(n int, _ string) string { return whole(n) }}
			if _, err := p.driver(sequence(5), rate, 1).run(t.Context()); err != nil || p.dials.Load() != want {
				t.Errorf("rate %v: got %d connections, want %d (%v)", rate, p.dials.Load(), want, err)
			}
		})
	}
	f(1, 1)
	f(0.05, 5)
}

func TestEveryWrongResponseIsAnError(t *testing.T) {
	f := func(name, answer, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pipeEdge{respond: func(n int, _ string) string {
					if n == 1 {
						return answer
					}
					return whole(n)
				}}
				got, err := p.driver(sequence(4), 10, 1).run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					if got.ok != 4 {
						t.Errorf("got %d ok of 4: %q", got.ok, got.samples)
					}
					return
				}
				if got.ok != 3 || got.errors != 1 || !strings.Contains(got.samples[0], want) {
					t.Errorf("got %d ok, %d errors %q; want 3, 1 with %q", got.ok, got.errors, got.samples, want)
				}
			})
		})
	}
	tag := "ETag: " + etag(1, 3) + "\r\n"
	chunked := "HTTP/1.1 200 OK\r\n" + tag + "Transfer-Encoding: chunked\r\n\r\n"
	f("chunked", chunked+"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "")
	f("chunked with trailer", chunked+"3\r\nabc\r\n0\r\nX: y\r\n\r\n", "")
	f("until close", "HTTP/1.1 200 OK\r\n"+tag+"Connection: close\r\n\r\nabc", "")
	f("closing after it", "HTTP/1.1 200 OK\r\n"+tag+"Content-Length: 3\r\nConnection: close\r\n\r\nabc", "")
	f("status", "HTTP/1.1 503 Busy\r\nCache-Status: e; detail=overload\r\nContent-Length: 0\r\n\r\n", "status 503, must be 200 (Cache-Status: e; detail=overload)")
	f("not modified", "HTTP/1.1 304 Not Modified\r\n"+tag+"\r\n", "status 304")
	f("another object", "HTTP/1.1 200 OK\r\nETag: "+etag(2, 3)+"\r\nContent-Length: 3\r\n\r\nabc", "another object's response")
	f("no validator", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "another object's response")
	f("too short", "HTTP/1.1 200 OK\r\n"+tag+"Content-Length: 2\r\n\r\nab", "body of 2 bytes, must be 3")
	f("too long", "HTTP/1.1 200 OK\r\n"+tag+"Content-Length: 4\r\n\r\nabcd", "body of 4 bytes, must be 3")
	f("cut", "HTTP/1.1 200 OK\r\n"+tag+"Content-Length: 3\r\nConnection: close\r\n\r\nab", "after 2 of 3 bytes")
	f("cut in chunks", "HTTP/1.1 200 OK\r\n"+tag+"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nab", "after 2 of 3 bytes")
	f("cut in trailer", "HTTP/1.1 200 OK\r\n"+tag+"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n", "after 3 of 3 bytes")
	f("endless trailer", chunked+"3\r\nabc\r\n0\r\n"+strings.Repeat("X: y\r\n", maxTrailerLines+1)+"\r\n", "trailer section too long")
	f("no answer", "", "read the response head")
	f("no HTTP", "hello\r\n\r\n", "read the response head")
}

func TestFailedConnectIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := (&pipeEdge{}).driver(sequence(8), 10, 1)
		d.dial = func(context.Context) (net.Conn, error) { return nil, errors.New("refused") }
		got, err := d.run(t.Context())
		if err != nil || got.errors != 8 || got.ok != 0 || len(got.samples) != maxSamples {
			t.Errorf("got %+v, error %v; want 8 errors, %d of them kept", got, err, maxSamples)
		}
	})
}

func TestMergeAddsUp(t *testing.T) {
	a, b := newTally(), newTally()
	now := time.Now()
	a.add(job{due: now}, now.Add(time.Second), 5, nil)
	for range maxSamples + 1 {
		b.add(job{due: now}, now, 1, errors.New("x"))
	}
	got := merge([]*tally{a, b, newTally()})
	if got.requests() != maxSamples+2 || got.bytes != 5+maxSamples+1 || got.late != 1 || got.worstLate != time.Second ||
		len(got.samples) != maxSamples || got.latency.TotalCount() != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestFallingBehindIsWarnedOf(t *testing.T) {
	f := func(requests int64, rate float64, took time.Duration, warns bool) {
		t.Helper()
		r := policyRun{plan: &plan{rate: rate}, tally: newTally(), elapsed: took, counts: counts{requests: requests}}
		r.tally.ok = requests
		r.judge(&origin{}, &edge{})
		got := len(r.warnings) == 1 && strings.Contains(r.warnings[0], "fell behind")
		if got != warns || len(r.warnings) > 1 {
			t.Errorf("%d requests at %v/s in %s: got %q, want a warning: %v", requests, rate, took, r.warnings, warns)
		}
	}
	f(1001, 100, 10*time.Second, false)
	f(1001, 100, 10400*time.Millisecond, false)
	f(1001, 100, 12*time.Second, true)
	f(10, 1000, 900*time.Millisecond, false)
	f(100001, 1000, 102*time.Second, false)
}
