package faults

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"edgeproxy/internal/test/testkit"
)

// patience keeps what hangs from hanging the tests. It is long beside the 20 s that
// fasthttp may take to let an idle goroutine go.
const patience = 90 * time.Second

// edge is a program that serves.
type edge struct {
	t     *testing.T
	url   string // the data listener's, without a slash at the end
	host  string // the same as host:port
	admin *http.Client
	at    string // URL of its metrics
	start level
}

// startEdge starts the program before the origin at address, with further sections of
// the file, and waits until it serves. It is killed at the end of the test.
func startEdge(t *testing.T, address, origin, sections string) *edge {
	t.Helper()
	file := filepath.Join(t.TempDir(), "edge.yaml")
	text := fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\n"+
		"origins: {app: {servers: [\"http://%s\"]%s}}\nadmission: {policy: always}\n%s", address, origin, sections)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	served := testkit.Serve(t, exec.Command(testkit.Built(t), "serve", "-c", file), func(l testkit.LogLine, text string) bool {
		if l.Message == "" || l.Level == "ERROR" {
			t.Errorf("log: %s", text)
		}
		return true
	})
	e := &edge{
		t: t, host: served.Addresses[0], url: "http://" + served.Addresses[0], at: "http://" + served.Admin + "/metrics",
		admin: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: patience},
	}
	e.start = e.settled()
	return e
}

func (e *edge) metrics() testkit.Series {
	e.t.Helper()
	res, err := e.admin.Get(e.at)
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	m, err := testkit.ReadSeries(res.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

// level is what must not grow. Descriptors are those besides the copies of large bodies and the idle connections to
// the origin, which are kept on purpose.
type level struct {
	goroutines, descriptors float64
	clients, requests, busy float64 // connections of clients, requests, connections to origins in use
	inflight                float64 // bytes of bodies on their way
}

func (e *edge) level() level {
	e.t.Helper()
	m := e.metrics()
	return level{
		goroutines:  m["go_goroutines"],
		descriptors: m["process_open_fds"] - m.Sum("edgeproxy_origin_connections") - m["edgeproxy_cache_copies"],
		clients:     m.Sum("edgeproxy_connections"),
		requests:    m["edgeproxy_requests_in_flight"],
		busy:        m[`edgeproxy_origin_connections{origin="app",state="active"}`],
		inflight:    m["edgeproxy_inflight_bytes"],
	}
}

// settled is the level of a program that nobody asks for anything. One scrape may come
// before the last loop has begun, and counts more or less of the goroutines that collect
// it; the one in the middle of many is what comes back.
func (e *edge) settled() level {
	e.t.Helper()
	var seen []level
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for range 11 {
		seen = append(seen, e.level())
		<-poll.C
	}
	slices.SortFunc(seen, func(a, b level) int { return cmp.Compare(a.goroutines, b.goroutines) })
	return seen[len(seen)/2]
}

// within reports whether nothing of l is above start.
func (l level) within(start level) bool {
	return l.goroutines <= start.goroutines && l.descriptors <= start.descriptors && l.clients <= start.clients &&
		l.requests <= start.requests && l.busy <= start.busy && l.inflight <= start.inflight
}

// wantBack waits until everything is back where it was when the program had started.
func (e *edge) wantBack() {
	e.t.Helper()
	var last level
	if !comesTrue(func() bool { last = e.level(); return last.within(e.start) }) {
		e.t.Errorf("is left after the failure: got %+v, began with %+v", last, e.start)
	}
}

// eventually waits for what another process or goroutine does.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !comesTrue(done) {
		t.Fatalf("never came true: %s", what)
	}
}

// comesTrue asks again and again until done or out of patience.
func comesTrue(done func() bool) bool {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(patience); !done(); <-poll.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func TestMain(m *testing.M) {
	if address := os.Getenv(beOrigin); address != "" {
		fmt.Fprintln(os.Stderr, serveOrigin(address))
		os.Exit(1)
	}
	zerolog.SetGlobalLevel(zerolog.Disabled) // one of toxiproxy's toxics has a logger of its own
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := testkit.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
