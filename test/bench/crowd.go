package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/lab/metrics"
)

// lastByte ends each body of a rawOrigin, and comes nowhere else in an answer.
const lastByte = 0x03

func manyPage(n int) page { return page{path: "/many/" + strconv.Itoa(n)} }

// fill asks for more objects, each once, until so many were.
func (c *crowd) fill(ctx context.Context, objects int) error {
	first := c.filled
	if err := c.ask(ctx, func(i int) (int, bool) { return first + i, first+i < objects }); err != nil {
		return err
	}
	c.filled = max(objects, c.filled)
	return nil
}

// ask asks for the objects that number gives, several at once, and looks at no head: what is measured is
// looked at then.
func (c *crowd) ask(ctx context.Context, number func(i int) (int, bool)) error {
	var next atomic.Int64
	errs := make([]error, manyFillers)
	var all sync.WaitGroup
	for f := range manyFillers {
		all.Go(func() {
			errs[f] = c.askBy(ctx, func() (int, bool) { return number(int(next.Add(1)) - 1) })
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// askBy asks by one connection, with several requests in a write.
func (c *crowd) askBy(ctx context.Context, next func() (int, bool)) error {
	conn, err := net.DialTimeout("tcp", c.edge.Address, answerWait)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	var batch []byte
	answers := make([]byte, 64<<10)
	for more := true; more && ctx.Err() == nil; {
		batch = batch[:0]
		asked := 0
		for ; asked < manyPipelined && more; asked++ {
			var n int
			if n, more = next(); !more {
				break
			}
			batch = append(batch, manyPage(n).request(c.edge.Address)...)
		}
		_ = conn.SetDeadline(time.Now().Add(answerWait))
		if _, err := conn.Write(batch); err != nil {
			return fmt.Errorf("ask: %w", err)
		}
		for asked > 0 {
			n, err := conn.Read(answers)
			if err != nil {
				return fmt.Errorf("read %d answers: %w", asked, err)
			}
			asked -= bytes.Count(answers[:n], []byte{lastByte})
		}
	}
	return ctx.Err()
}

// storeOthers asks for objects that were never asked for, so many a second, until stop is called.
func (c *crowd) storeOthers(ctx context.Context, rate float64) (stop func() error) {
	if rate == 0 {
		return func() error { return nil }
	}
	const turns = 100 // a second
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second / turns)
		defer tick.Stop()
		done <- c.askBy(context.WithoutCancel(ctx), func() (int, bool) {
			n := c.filled
			if c.filled++; n%int(rate/turns) == 0 {
				<-tick.C
			}
			return n, ctx.Err() == nil
		})
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// Go begins a collection two minutes after the one before at the latest, by itself. One that is asked for would be another thing: who asks
// waits for it in a loop, and the loop keeps others from the processor.
const (
	mostBetween = 2 * time.Minute
	leastRow    = 10 * time.Second // a shorter one is no measurement, and waits for no collection
)

// awaitCollection waits until a collection is due in the middle of the next row, if there is none before.
func (c *crowd) awaitCollection(ctx context.Context) error {
	if c.time() < leastRow {
		return nil
	}
	begin := c.gc.last().Add(mostBetween - c.time()/2)
	select {
	case <-time.After(time.Until(begin)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rawOrigin answers every request with one response, at less cost than a server of HTTP.
type rawOrigin struct {
	net.Listener
	address string
	answer  []byte
}

func startRawOrigin(bodyBytes int) (*rawOrigin, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the origin: %w", err)
	}
	o := &rawOrigin{Listener: ln, address: ln.Addr().String()}
	b := time.Now().UTC().AppendFormat([]byte("HTTP/1.1 200 OK\r\nDate: "), http.TimeFormat)
	for _, f := range responseFields() {
		b = fmt.Appendf(b, "\r\n%s: %s", f[0], f[1])
	}
	b = fmt.Appendf(b, "\r\nContent-Length: %d\r\n\r\n", bodyBytes)
	o.answer = append(append(b, bytes.Repeat([]byte("x"), bodyBytes-1)...), lastByte)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go o.serve(conn)
		}
	}()
	return o, nil
}

func (o *rawOrigin) serve(conn net.Conn) {
	defer conn.Close()
	b := make([]byte, 0, 16<<10)
	for {
		n, err := conn.Read(b[len(b):cap(b)])
		if err != nil {
			return
		}
		if b = b[:len(b)+n]; !bytes.HasSuffix(b, []byte("\r\n\r\n")) {
			continue
		}
		if _, err := conn.Write(o.answer); err != nil {
			return
		}
		b = b[:0]
	}
}

// gcTrace adds up what the runtime says of each collection with gctrace=1, in the lines written to it.
type gcTrace struct {
	mu   sync.Mutex
	rest []byte
	used time.Duration
	runs int
	at   time.Time // the end of the last one
}

// Write implements io.Writer.
func (g *gcTrace) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rest = append(g.rest, p...)
	for {
		line, rest, ok := bytes.Cut(g.rest, []byte{'\n'})
		if !ok {
			return len(p), nil
		}
		if used := collected(string(line)); used > 0 {
			g.used += used
			g.runs++
			g.at = time.Now()
		}
		g.rest = append(g.rest[:0], rest...)
	}
}

// count returns how many collections there were so far.
func (g *gcTrace) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.runs
}

// last returns when the last collection ended.
func (g *gcTrace) last() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at
}

// total returns the CPU time of all collections so far.
func (g *gcTrace) total() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used
}

// collected returns the CPU time that a line of gctrace tells of, but for idle time: "gc 1 @0.1s 0%:
// clock, a+b/c/d+e ms cpu, ...", of which d is idle.
func collected(line string) time.Duration {
	before, _, ok := strings.Cut(line, " ms cpu,")
	if !ok || !strings.HasPrefix(line, "gc ") {
		return 0
	}
	var ms float64
	numbers := strings.FieldsFunc(before[strings.LastIndexByte(before, ' ')+1:], func(r rune) bool { return r == '+' || r == '/' })
	for i, n := range numbers {
		if v, err := strconv.ParseFloat(n, 64); err == nil && i != 3 {
			ms += v
		}
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// stored is what /metrics says of the memory tier.
type stored struct{ objects, bytes, evictions float64 }

func readStore(ctx context.Context, admin string) (s stored, err error) {
	m, err := metrics.Get(ctx, admin)
	if err != nil {
		return s, err
	}
	s.objects, _ = m.Sum("edgeproxy_cache_objects", "tier", "memory")
	s.bytes, _ = m.Sum("edgeproxy_cache_bytes", "tier", "memory")
	s.evictions, _ = m.Sum("edgeproxy_cache_evictions_total", "tier", "memory")
	return s, nil
}
