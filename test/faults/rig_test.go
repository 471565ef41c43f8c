package faults

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// patience keeps what hangs from hanging the tests. It is long beside the 20 s that
// fasthttp may take to let an idle goroutine go.
const patience = 90 * time.Second

// built is the program as users have it, built once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// program builds the program and returns its path.
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "edgeproxy-faults-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, "edgeproxy"), "edgeproxy/cmd/edgeproxy").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "edgeproxy")
}

// edge is a program that serves.
type edge struct {
	t     *testing.T
	url   string // of the data listener, without a slash at the end
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
	cmd := exec.Command(program(t), "serve", "-c", file)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving, ended := make(chan [2]string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		follow(t, log, serving)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	e := &edge{t: t, admin: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: patience}}
	select {
	case at := <-serving:
		e.host, e.url, e.at = at[0], "http://"+at[0], "http://"+at[1]+"/metrics"
	case <-ended:
		t.Fatalf("ended before it served: %v", cmd.ProcessState)
	case <-time.After(patience):
		t.Fatal("does not say that it serves")
	}
	e.start = e.settled()
	return e
}

// follow reads the log to its end. What is worse than a warning fails the test.
func follow(t *testing.T, log io.Reader, serving chan<- [2]string) {
	t.Helper()
	for in := bufio.NewScanner(log); in.Scan(); {
		var l struct {
			Message   string   `json:"msg"`
			Level     string   `json:"level"`
			Addresses []string `json:"addresses"`
			Admin     string   `json:"admin"`
		}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil || l.Level == "ERROR" {
			t.Errorf("log: %s", in.Text())
		}
		if l.Message == "serving" {
			serving <- [2]string{l.Addresses[0], l.Admin}
		}
	}
}

// metrics are the series of one scrape by name and labels, as they are written.
type metrics map[string]float64

func (e *edge) metrics() metrics {
	e.t.Helper()
	res, err := e.admin.Get(e.at)
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	m := metrics{}
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		name, value, _ := cutLast(in.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.HasPrefix(name, "#") {
			m[name] = v
		}
	}
	return m
}

// sum adds up the series of a name.
func (m metrics) sum(name string) (total float64) {
	for series, v := range m {
		if series == name || strings.HasPrefix(series, name+"{") {
			total += v
		}
	}
	return total
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// level is what must not grow. Descriptors are those besides the idle connections to
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
		descriptors: m["process_open_fds"] - m.sum("edgeproxy_origin_connections"),
		clients:     m.sum("edgeproxy_connections"),
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
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}
