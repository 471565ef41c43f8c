//go:build soak

package faults

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// soakSeed chooses what is asked for and when what breaks.
const soakSeed = 1

// heapSlack is how much more may be alive at the end than at the beginning, besides what
// is stored: variants of names that were seen, pools that keep a little.
const heapSlack = 4 << 20

// soakFaults are those that take turns. No kind is no fault.
var soakFaults = []toxic{
	{},
	{},
	{"latency", map[string]int{"latency": 200, "jitter": 150}},
	{"latency", map[string]int{"latency": 5000}},
	{"bandwidth", map[string]int{"rate": 256}},
	{"limit_data", map[string]int{"bytes": 100}},
	{"limit_data", map[string]int{"bytes": 40_000}},
	{"slicer", map[string]int{"average_size": 8 << 10, "delay": 5_000_000}},
	{"reset_peer", map[string]int{"timeout": 20}},
	{"slow_close", map[string]int{"delay": 300}},
	{"timeout", nil},
	{"timeout", map[string]int{"timeout": 500}},
}

// TestSoak runs a mixed load for EDGEPROXY_SOAK while faults come and go, and then wants
// everything back that it took: make soak.
func TestSoak(t *testing.T) {
	long := 2 * time.Minute
	if text := os.Getenv("EDGEPROXY_SOAK"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatalf("EDGEPROXY_SOAK: %v", err)
		}
	}
	l := newLink(t, startOrigin(t, false))
	e := startEdge(t, l.address(), ", first_byte_timeout: 1s, idle_timeout: 1s, max_connections: 64, queue: {wait: 1s}", `
cache: {memory: {max_bytes: 64MiB, max_object_bytes: 4MiB}}
limits: {write_idle_timeout: 5s}
`)
	c := newClient(t)
	compare(t, "warm", e.get(c, fresh), "200 fwd=uri-miss")
	c.CloseIdleConnections()
	s := &soak{t: t, e: e, counts: map[string]int{}}
	s.run(5*time.Second, nil) // what is made once is made
	s.counts = map[string]int{}
	e.wantBack()
	before := e.liveHeap()
	s.run(long, l)
	e.wantBack()
	after := e.liveHeap()
	t.Logf("%v: %d requests, goroutines %v, descriptors %v, heap alive besides the cache %.2f MiB, %.2f MiB before",
		long, s.total(), e.start.goroutines, e.start.descriptors, after/(1<<20), before/(1<<20))
	for _, line := range s.table() {
		t.Log(line)
	}
	if after > before+heapSlack {
		t.Errorf("heap alive besides the cache: got %.2f MiB, began with %.2f MiB", after/(1<<20), before/(1<<20))
	}
	compare(t, "after all", e.get(c, object{path: "/last", cc: "max-age=600", size: 1 << 10}), "200 fwd=uri-miss")
}

// liveHeap is the least that two collections leave, without what is stored. It waits for
// them by scraping, which makes the garbage that they need.
func (e *edge) liveHeap() float64 {
	e.t.Helper()
	first := e.metrics()
	least := first["go_memstats_heap_alloc_bytes"]
	for {
		m := e.metrics()
		least = min(least, m["go_memstats_heap_alloc_bytes"])
		if m["go_gc_duration_seconds_count"] >= first["go_gc_duration_seconds_count"]+3 {
			return least - m.Sum("edgeproxy_cache_bytes")
		}
	}
}

// soak is the load.
type soak struct {
	t    *testing.T
	e    *edge
	next atomic.Int64 // the number of the next object that nobody has asked for
	over atomic.Bool

	mu     sync.Mutex
	counts map[string]int
}

// run loads the program for so long, with the faults of l if there is one, which has none
// when it returns.
func (s *soak) run(long time.Duration, l *link) {
	s.over.Store(false)
	var clients sync.WaitGroup
	for n := range 16 {
		clients.Go(func() { s.client(rand.New(rand.NewPCG(soakSeed, uint64(n))), n%4 == 0) })
	}
	if l != nil {
		l.takeTurns(long, rand.New(rand.NewPCG(soakSeed, 1000)))
	} else {
		<-time.After(long)
	}
	s.over.Store(true)
	clients.Wait()
}

// takeTurns has one fault after the other for a second or two.
func (l *link) takeTurns(long time.Duration, r *rand.Rand) {
	for end := time.Now().Add(long); time.Now().Before(end); {
		turn := time.After(time.Duration(500+r.IntN(2000)) * time.Millisecond)
		if r.IntN(10) == 0 {
			l.p.Stop() // refused
			<-turn
			continue
		}
		if f := soakFaults[r.IntN(len(soakFaults))]; f.kind == "" {
			l.become()
		} else {
			l.become(f)
		}
		<-turn
	}
	l.become()
}

// client asks for this and that until the end, or for hits alone: the others are held up
// by what is broken most of the time.
func (s *soak) client(r *rand.Rand, hits bool) {
	c := newClient(s.t)
	defer c.CloseIdleConnections()
	for !s.over.Load() {
		kind, o := "fresh", fresh
		if !hits {
			kind, o = s.choose(r)
		}
		got := kind + ": "
		switch kind {
		case "post":
			got += s.e.post(c)
		case "range":
			got += s.e.part(c, o, r.IntN(o.size-100))
		case "aborted", "slow":
			got += s.e.dribble(o, kind == "slow", r.IntN(32))
		default:
			got += s.e.get(c, o)
		}
		s.note(got)
	}
}

// choose says what is asked for next.
func (s *soak) choose(r *rand.Rand) (kind string, o object) {
	o = object{path: fmt.Sprintf("/miss/%d", s.next.Add(1)), cc: "max-age=600", size: 1 + r.IntN(200<<10)}
	if r.IntN(4) == 0 {
		o.frame = "chunked"
	}
	hot := object{path: fmt.Sprintf("/hot/%d", r.IntN(50)), cc: "max-age=600", size: 64 << 10}
	switch n := r.IntN(100); {
	case n < 35:
		return "hot", hot
	case n < 50:
		hot.path, hot.cc = "/stale"+hot.path, "max-age=1,stale-if-error=600"
		return "stale", hot
	case n < 70:
		return "miss", o
	case n < 80:
		return "range", object{path: fmt.Sprintf("/part/%d", r.IntN(200)), cc: "max-age=3", size: 512 << 10}
	case n < 88:
		return "post", o
	case n < 96:
		o.size, o.frame = 1<<20, ""
		return "aborted", o
	case n < 98:
		return "slow", object{path: "/large", cc: "max-age=2", size: 512 << 10}
	}
	o.frame = "close"
	return "unframed", o
}

// note counts what came of a request; what no fault of an origin explains fails the test.
func (s *soak) note(got string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[got]++
	noHit := strings.HasPrefix(got, "fresh:") && got != "fresh: 200 hit"
	short := strings.HasSuffix(got, " short") && !strings.HasPrefix(got, "unframed:")
	if strings.Contains(got, "torn") || strings.Contains(got, "no answer") || short || noHit {
		s.t.Errorf("%s", got)
	}
}

func (s *soak) total() (n int) {
	for _, c := range s.counts {
		n += c
	}
	return n
}

// table lists the counts.
func (s *soak) table() (lines []string) {
	for got, n := range s.counts {
		lines = append(lines, fmt.Sprintf("%-50s %d", got, n))
	}
	slices.Sort(lines)
	return lines
}

// part asks for a range and says what came of it.
func (e *edge) part(c *http.Client, o object, from int) string {
	req, err := http.NewRequest(http.MethodGet, e.url+o.target(), http.NoBody)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+99))
	res, err := c.Do(req)
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer res.Body.Close()
	said := fmt.Sprint(res.StatusCode, " ", word(res))
	body, err := io.ReadAll(res.Body)
	want := content(o.path, o.size)[from : from+100]
	switch {
	case err != nil:
		return said + " cut"
	case res.StatusCode == http.StatusPartialContent && string(body) != string(want):
		return said + " torn"
	}
	return said
}

// dribble reads an answer in steps of 4 KiB on a connection of its own, slowly or at once,
// and goes away after so many.
func (e *edge) dribble(o object, slowly bool, steps int) string {
	c, err := net.Dial("tcp", e.host)
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", o.target(), e.host)
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	in := bufio.NewReader(c)
	for range steps {
		if _, err := io.CopyN(io.Discard, in, 4<<10); err != nil {
			return "ended"
		}
		if slowly {
			<-pace.C
		}
	}
	return "left"
}
