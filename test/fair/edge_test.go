//go:build linux

package fair

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// settings are those of the program that an attack needs.
type settings struct {
	origin   string // more of the origin's settings, such as ", max_connections: 16"
	sections string // more sections of the file. DIR is a folder
	secure   bool   // TLS, and with it HTTP/2
	deaf     bool   // nobody reads the log once the program serves
	fifo     bool   // DIR/fifo is one, open and never read
}

// anotherProgram names a program that is attacked in place of the one that is built from
// this tree, such as one of before. Where it does not know what lines of sections with
// "# new" say, it gets those with "# old" in their place.
const anotherProgram = "EDGEPROXY_FAIR_PROGRAM"

// edge is a program that serves.
type edge struct {
	t      testing.TB
	host   string // the data listener's
	scheme string
	admin  *http.Client
	at     string // URL of the admin listener
	served *testkit.Served
	log    testkit.Buffer
	dir    string
	pool   *tls.Config // its clients'
}

// startEdge starts the program before the origin at address and waits until it serves.
func startEdge(t testing.TB, origin string, o settings) *edge {
	t.Helper()
	e := &edge{t: t, scheme: "http", admin: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 4}, Timeout: testkit.Patience}, dir: t.TempDir()}
	listener, sections := "{address: \"127.0.0.1:0\"}", o.sections
	if o.secure {
		certificate, key := filepath.Join(e.dir, "c.pem"), filepath.Join(e.dir, "k.pem")
		a := testkit.NewAuthority(t)
		testkit.WritePair(t, a.Good("www.example.com", "127.0.0.1"), certificate, key)
		listener = "{address: \"127.0.0.1:0\", tls: true}"
		sections += fmt.Sprintf("\ntls: {certificates: [{certificate: %q, key: %q}]}\n", certificate, key)
		e.scheme, e.pool = "https", &tls.Config{RootCAs: a.Pool(), ServerName: "www.example.com"}
	}
	text := fmt.Sprintf("listen: [%s]\nadmin: {address: \"127.0.0.1:0\"}\norigins:\n  app: {servers: [\"http://%s\"]%s}\n%s",
		listener, origin, o.origin, strings.ReplaceAll(sections, "DIR", e.dir))
	program, file := os.Getenv(anotherProgram), filepath.Join(e.dir, "edge.yaml")
	without := func(word string) string { return regexp.MustCompile(`(?m)^.*# `+word+`\n`).ReplaceAllString(text, "") }
	e.write(file, without("old"))
	if program == "" {
		program = testkit.Built(t)
	} else if exec.Command(program, "check", "-c", file).Run() != nil {
		e.write(file, without("new"))
	}
	if o.fifo {
		fifo(t, filepath.Join(e.dir, "fifo"))
	}
	if out, err := exec.Command(program, "check", "-c", file).CombinedOutput(); err != nil {
		t.Fatalf("check: %v\n%s", err, out)
	}
	e.served = testkit.Serve(t, exec.Command(program, "serve", "-c", file), func(l testkit.LogLine, text string) bool {
		_, _ = e.log.Write([]byte(text + "\n"))
		return !o.deaf || l.Message != "serving"
	})
	e.host, e.at = e.served.Addresses[0], "http://"+e.served.Admin
	return e
}

func (e *edge) write(file, text string) {
	e.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// metrics scrapes; it returns nil where that fails.
func (e *edge) metrics() testkit.Series {
	res, err := e.admin.Get(e.at + "/metrics")
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	m, err := testkit.ReadSeries(res.Body)
	if err != nil {
		return nil
	}
	return m
}

func (e *edge) rss() float64 { return e.metrics()["process_resident_memory_bytes"] }

// perConnection and inBase are as docs/operating/sizes.md says of connections: buffers of
// limits.header_bytes + 8 KiB and a stack of 8 KiB, of which the 48 MiB of the formula's
// base have room for fifteen hundred. The tenth is what it says of a limit that is soft, and
// program what it says of the program's file.
const (
	perConnection = 32 << 10
	inBase        = 48 << 20 / perConnection
	outside       = 1.1
	program       = 20 << 20
)

// watch returns the largest RSS until ctx ends, and the largest that it may be.
func (e *edge) watch(ctx context.Context) (rss, bound float64) {
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for {
		if m := e.metrics(); m != nil {
			rss = max(rss, m["process_resident_memory_bytes"])
			bound = max(bound, program+outside*(m["go_gc_gomemlimit_bytes"]+max(0, m.Sum("edgeproxy_connections")-inBase)*perConnection))
		}
		select {
		case <-ctx.Done():
			return rss, bound
		case <-poll.C:
		}
	}
}

// level is what must not grow.
type level struct {
	goroutines, descriptors float64 // descriptors besides the idle connections to the origin and the copies of large bodies
	clients, requests, busy float64 // connections of clients, requests, connections to the origin in use
	inflight                float64 // bytes of bodies on their way
	pinned                  float64 // bytes of bodies being sent that have left the cache
	panics                  float64
}

func (e *edge) level() level {
	m := e.metrics()
	return level{
		goroutines:  m["go_goroutines"],
		descriptors: m["process_open_fds"] - m.Sum("edgeproxy_origin_connections") - m["edgeproxy_cache_copies"],
		clients:     m.Sum("edgeproxy_connections"),
		requests:    m["edgeproxy_requests_in_flight"],
		busy:        m[`edgeproxy_origin_connections{origin="app",state="active"}`] + m.Sum("edgeproxy_origin_queue_requests"),
		inflight:    m["edgeproxy_inflight_bytes"],
		panics:      m["edgeproxy_panics_total"],
		pinned:      m["edgeproxy_cache_pinned_bytes"],
	}
}

// left says what of l is above start, "" if nothing is. What is kept for a while on
// purpose is looked at where all is set.
func (l level) left(start level, all bool) string {
	var left []string
	f := func(what string, got, want float64) {
		if got > want {
			left = append(left, fmt.Sprintf("%s %.0f, began with %.0f", what, got, want))
		}
	}
	f("requests in flight", l.requests, 0)
	f("inflight_bytes", l.inflight, 0)
	f("connections to the origin in use", l.busy, 0)
	f("bytes pinned", l.pinned, 0)
	f("panics", l.panics, 0)
	if all {
		f("connections of clients", l.clients, start.clients)
		f("descriptors", l.descriptors, start.descriptors+1)
		f("goroutines", l.goroutines, start.goroutines+2)
	}
	return strings.Join(left, "; ")
}

// comesBack waits until what the attack has taken is free again.
func (s *scene) comesBack(start level) {
	left, soon := "no metrics", pick(testkit.Patience, 15*time.Second) // the usual tests compare no times
	for end := time.Now().Add(soon); left != ""; {
		if left = s.edge.level().left(start, false); left == "" {
			break
		}
		if time.Now().After(end) {
			s.fail("is left %v after the attack: %s", soon, left)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// comeback waits for what programs keep for a while, goroutines of idle connections for
// one, while the next scenes are played.
type comeback struct {
	keep    testing.TB // the end of which they see
	waiting []func()
}

// late is how long the slowest of it may take; fasthttp keeps idle goroutines for 20 s.
const late = 45 * time.Second

func (b *comeback) later(s *scene, r *row, start level) {
	if b == nil || s.served() != nil {
		return
	}
	done := make(chan string, 1)
	go func() {
		left := ""
		for end := time.Now().Add(late); time.Now().Before(end); time.Sleep(time.Second) {
			if left = s.edge.level().left(start, true); left == "" {
				break
			}
		}
		done <- left
	}()
	b.waiting = append(b.waiting, func() {
		if left := <-done; left != "" {
			r.wrong = append(r.wrong, "is left long after: "+left)
		}
		r.rssAfter = cmp.Or(s.edge.rss(), r.rssAfter)
		_ = s.edge.served.Process.Kill()
	})
}

// served returns an error if the program has ended, as some scenes want.
func (s *scene) served() error {
	select {
	case <-s.edge.served.Ended:
		return fmt.Errorf("ended: %v", s.edge.served.State)
	default:
		return nil
	}
}

// trouble returns the first line of the log that is worse than a warning, "" if there is none.
func (e *edge) trouble() string {
	for line := range strings.Lines(e.log.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
