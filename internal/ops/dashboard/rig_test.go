package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/ops/admin"
	"edgeproxy/internal/test/testkit"
)

// besideEachOther is how many pages are looked at once. They wait for what comes each second.
const besideEachOther = 4

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(max(besideEachOther, runtime.GOMAXPROCS(0)))) // a number is right
	}
	os.Exit(m.Run())
}

// stand is an admin listener with the page, and with answers of the test's own. It is safe for concurrent use.
type stand struct {
	address string
	server  *admin.Server
	options admin.Options

	mu      sync.Mutex
	status  map[string]any
	lists   map[string]any // lists under their paths: top and requests
	purged  []string       // what was purged, in words
	drained []string       // what was asked of servers, in words
	asked   []string       // what was looked up, in words
	found   string         // the answer to a look-up, in JSON; "" is an error
}

// sample is a status that has something in every section.
func sample(t *testing.T) map[string]any {
	t.Helper()
	return decoded(t, "status")
}

// decoded is a document of testdata.
func decoded(t *testing.T, name string) (document map[string]any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// open starts a stand, which ends with the test. An empty token is none.
func open(t *testing.T, token string) *stand {
	t.Helper()
	return openWith(t, token, Handler(token != ""))
}

// openWith is open with another page.
func openWith(t *testing.T, token string, page http.Handler) *stand {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{address: l.Addr().String(), status: sample(t), lists: map[string]any{"/top": decoded(t, "top"), "/requests": decoded(t, "requests")}}
	s.options = admin.Options{
		Address: s.address, Token: token, Page: page, Registry: prometheus.NewRegistry(),
		Ready: func() (bool, string) { return true, "" }, Status: s.now, History: func() any { return hourBefore(s.now(), 24) }, Purger: s, Drainer: s, Lookup: s.lookup,
		Top: s.list("/top"), Requests: s.list("/requests"), Log: slog.New(slog.DiscardHandler),
	}
	if s.server, err = admin.New(s.options); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		_ = s.server.Close(ctx) // which may have to cut a browser's connections
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stand) url() string { return "http://" + s.address + "/" }

// now is the status, as a document of its own.
func (s *stand) now() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := json.Marshal(s.status) // what was decoded can be encoded
	return json.RawMessage(text)
}

// hourBefore is the last hour of a status: 9,000 responses in ten seconds. All failed in the last steps, so many.
func hourBefore(status any, failed int) any {
	var of struct {
		Started time.Time `json:"started"`
		Uptime  float64   `json:"uptime_seconds"`
	}
	text, _ := status.(json.RawMessage)
	_ = json.Unmarshal(text, &of) // what was encoded can be decoded
	const steps = 360
	columns := map[string][]any{}
	add := func(name string, value any) { columns[name] = append(columns[name], value) }
	for i := range steps {
		add("end", of.Started.Unix()+int64(of.Uptime)-10*int64(steps-1-i))
		add("seconds", 10)
		hits, errors, ratio := any(7000), any(0), any(0.7)
		if i >= steps-failed {
			hits, errors, ratio = 0, 9000, nil
		}
		add("hit", hits)
		add("miss", 2000)
		add("2xx", 9000)
		add("5xx", errors)
		if errors != any(0) {
			columns["2xx"][i], columns["miss"][i] = 0, 0
		}
		add("none", 0)
		add("hit_ratio", ratio)
		add("error", errors)
		wave := 1 + math.Sin(float64(i)/20)/3
		add("saved", int(23*wave))
		add("origin_bytes", int(14e6*wave))
		add("p95_seconds", 0.08*wave)
	}
	return map[string]any{
		"every_seconds": 10, "end": columns["end"], "seconds": columns["seconds"], "hit_ratio": columns["hit_ratio"], "byte_hit_ratio": columns["hit_ratio"],
		"errors": columns["error"], "saved": columns["saved"], "regret": columns["none"], "origin_bytes": columns["origin_bytes"], "p95_seconds": columns["p95_seconds"],
		"results":        map[string]any{"hit": columns["hit"], "miss": columns["miss"], "error": columns["error"]},
		"status_classes": map[string]any{"2xx": columns["2xx"], "3xx": columns["none"], "4xx": columns["none"], "5xx": columns["5xx"], "none": columns["none"]},
	}
}

// change changes the status.
func (s *stand) change(with func(status map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	with(s.status)
}

// list answers with what is at this path.
func (s *stand) list(path string) func(int) any {
	return func(int) any {
		s.mu.Lock()
		defer s.mu.Unlock()
		text, _ := json.Marshal(s.lists[path]) // the lists can always be encoded
		return json.RawMessage(text)
	}
}

// changeList changes what is at a path.
func (s *stand) changeList(path string, with func(list map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	with(s.lists[path].(map[string]any))
}

// Purge implements admin.Purger.
func (s *stand) Purge(by string, values []string, soft bool) (objects int, counted bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := append([]string{by}, values...)
	if soft {
		words = append([]string{"soft"}, words...)
	}
	if values[0] == "bad" {
		return 0, false, errors.New("bad: no scheme")
	}
	s.purged = append(s.purged, strings.Join(words, " "))
	return 7, by != "tag", nil
}

// DrainServer implements admin.Drainer. The status tells what was done.
func (s *stand) DrainServer(origin, server string, out bool) (state string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if origin == "images" {
		return "", errors.New("origin images: <b>no</b>")
	}
	s.drained = append(s.drained, fmt.Sprint(origin, " ", server, " ", out))
	state = map[bool]string{true: "drained", false: "up"}[out]
	for _, o := range s.status["origins"].([]any) {
		for _, v := range o.(map[string]any)["servers"].([]any) {
			if v := v.(map[string]any); v["address"] == server {
				v["state"] = state
			}
		}
	}
	return state, nil
}

func (s *stand) lookup(method, url string, fields [][2]string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := []string{method, url}
	for _, f := range fields {
		words = append(words, f[0]+": "+f[1])
	}
	s.asked = append(s.asked, strings.Join(words, " "))
	if s.found == "" {
		return nil, errors.New("url: <b>no</b> scheme")
	}
	return json.RawMessage(s.found), nil
}

// get asks the stand without a browser.
func (s *stand) get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	res, err := http.Get("http://" + s.address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}
