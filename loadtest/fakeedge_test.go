package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The environment of the fake edge: what it does wrong, a listener to stay
// connected to while it lives, and a file whose absence makes a start fail.
const (
	envFault    = "LOADTEST_TEST_FAULT"
	envLifeline = "LOADTEST_TEST_LIFELINE"
	envOnce     = "LOADTEST_TEST_ONCE"
	envDriver   = "LOADTEST_TEST_DRIVER"
	envNginx    = "LOADTEST_TEST_NGINX"
)

// TestMain lets the test binary stand in for edgeproxy (as `serve -c FILE` and `simulate`) and
// for the driver itself, to be ended from outside.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		os.Exit(serveFakeEdge(os.Args[3]))
	case len(os.Args) > 1 && os.Args[1] == "simulate":
		os.Exit(fakeSimulate())
	case os.Getenv(envNginx) != "":
		os.Exit(holdNginx(os.Getenv(envNginx)))
	case os.Getenv(envDriver) != "":
		main()
	}
	os.Exit(m.Run())
}

// fakeEdge is a cache of unlimited size with exact sightings, and the metrics the
// driver reads.
type fakeEdge struct {
	fault, origin, policy string
	moreThan              int
	stage                 bool
	tier                  string // the tier that admission guards

	mu        sync.Mutex
	sightings map[string]int
	heldBack  map[string]bool // whose last fill was
	stored    map[string]*fakeEntry
	polls     int
	n         map[string]int // keys are metrics with their labels
}

type fakeEntry struct {
	etag string
	body []byte
}

func serveFakeEdge(file string) int {
	config, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if once := os.Getenv(envOnce); once != "" {
		if f, err := os.OpenFile(once, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			fmt.Fprintln(os.Stderr, "listen: address already in use")
			return 1
		}
	}
	f := &fakeEdge{
		fault: os.Getenv(envFault), sightings: map[string]int{}, heldBack: map[string]bool{}, stored: map[string]*fakeEntry{}, n: map[string]int{},
		origin: configValue(config, `servers: \["http://([^"]+)"`), policy: configValue(config, `policy: (\S+)`),
	}
	f.stage = configValue(config, `stage_bytes: (\d+)`) != "0"
	f.tier = "memory"
	if configValue(config, `  disk:\n    path: (\S+)`) != "" {
		f.tier = "disk"
	}
	f.moreThan, _ = strconv.Atoi(configValue(config, `more_than: (\d+)`))
	if f.fault == "refuse" {
		fmt.Fprintln(os.Stderr, "edge.yaml:1:1: this file is not liked")
		return 2
	}
	if addr := os.Getenv(envLifeline); addr != "" {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return 1
		}
		defer conn.Close()
	}
	return f.serve(configValue(config, `- address: "([^"]+)"`), configValue(config, `admin:\n  address: "([^"]+)"`))
}

func configValue(config []byte, pattern string) string {
	if m := regexp.MustCompile(pattern).FindSubmatch(config); m != nil {
		return string(m[1])
	}
	return ""
}

func (f *fakeEdge) serve(listen, admin string) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	data, err := net.Listen("tcp", listen)
	if err != nil {
		return 1
	}
	control, err := net.Listen("tcp", admin)
	if err != nil {
		return 1
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", f.ready)
	mux.HandleFunc("/metrics", f.metrics)
	go func() { _ = http.Serve(control, mux) }()
	go func() { _ = http.Serve(data, http.HandlerFunc(f.handle)) }()
	for range stop {
		if f.fault != "stubborn" {
			break
		}
	}
	if f.fault == "bad-exit" {
		return 3
	}
	return 0
}

func (f *fakeEdge) ready(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.polls++; f.polls < 3 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (f *fakeEdge) metrics(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprint(w, "# HELP edgeproxy_requests_total All of them.\n# TYPE edgeproxy_requests_total counter\n")
	for _, name := range []string{
		metricWrites + `{tier="memory"}`, metricWriteBytes + `{tier="memory"}`, metricWrites + `{tier="disk"}`, metricWriteBytes + `{tier="disk"}`,
		metricEvictions + `{tier="disk",reason="capacity"}`, metricHeldBack + `{route="default"}`,
		metricHeldBackBytes + `{route="default"}`, metricOriginRequests + `{origin="app",outcome="ok"}`,
		metricOriginBytes + `{origin="app"}`, metricEvictions + `{tier="memory",reason="capacity"}`, metricPromotions,
		metricRegret + `{route="default"}`, metricRegretBytes + `{route="default"}`,
	} {
		f.n[name] += 0
	}
	if f.stage {
		f.n[metricWrites+`{tier="stage"}`] += 0
		f.n[metricWriteBytes+`{tier="stage"}`] += 0
	}
	for name, n := range f.n {
		if f.fault == "no-metric" && strings.HasPrefix(name, metricWrites) {
			continue
		}
		if f.fault == "miscount" && strings.HasPrefix(name, metricOriginRequests) {
			n *= 2
		}
		fmt.Fprintf(w, "%s %d\n", name, n)
	}
	if f.policy == policySecondHit {
		fmt.Fprintf(w, "%s{filter=\"second_hit\",kind=\"expected\"} 0.5\n", metricFalsePositives)
		fmt.Fprintf(w, "%s{filter=\"second_hit\",kind=\"measured\"} 0.0078\n", metricFalsePositives)
		fmt.Fprintf(w, "%s{filter=\"second_hit\",generation=\"0\"} 0.25\n", metricFill)
	}
}

func (f *fakeEdge) handle(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.RequestURI
	f.sightings[key]++
	result := "hit"
	e := f.stored[key]
	if e == nil {
		e = f.fetch(key)
		result = f.admit(key, e)
	}
	switch f.fault {
	case "wrong-object":
		e = &fakeEntry{etag: `"0-0"`, body: e.body}
	case "truncate":
		e = &fakeEntry{etag: e.etag, body: e.body[:len(e.body)-1]}
	case "die":
		if f.sightings[key] == 3 {
			os.Exit(7)
		}
	}
	f.n[fmt.Sprintf("%s{route=\"default\",result=%q,status=\"2xx\"}", metricRequests, result)]++
	f.n[fmt.Sprintf("%s{route=\"default\",result=%q}", metricResponseBytes, result)] += len(e.body)
	w.Header().Set("Etag", e.etag)
	w.Header().Set("Content-Length", strconv.Itoa(len(e.body)))
	_, _ = w.Write(e.body)
}

func (f *fakeEdge) fetch(key string) *fakeEntry {
	resp, err := http.Get("http://" + f.origin + key)
	if err != nil {
		return &fakeEntry{body: []byte(err.Error())}
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	f.n[metricOriginRequests+`{origin="app",outcome="ok"}`]++
	f.n[metricOriginBytes+`{origin="app"}`] += len(body)
	return &fakeEntry{etag: resp.Header.Get("Etag"), body: body}
}

func (f *fakeEdge) admit(key string, e *fakeEntry) (result string) {
	seen := f.sightings[key]
	if f.heldBack[key] {
		f.n[metricRegret+`{route="default"}`]++
		f.n[metricRegretBytes+`{route="default"}`] += len(e.body)
	}
	admitted := f.policy == policyAlways || f.policy == policySecondHit && seen > 1 || f.policy == policyCounting && seen > f.moreThan
	f.heldBack[key] = !admitted
	if !admitted {
		if f.stage { // too small for anything to stay
			f.n[metricWrites+`{tier="stage"}`]++
			f.n[metricWriteBytes+`{tier="stage"}`] += len(e.body)
		}
		f.n[metricHeldBack+`{route="default"}`]++
		f.n[metricHeldBackBytes+`{route="default"}`] += len(e.body)
		return "held_back"
	}
	f.stored[key] = e
	f.n[metricWrites+`{tier="`+f.tier+`"}`]++
	f.n[metricWriteBytes+`{tier="`+f.tier+`"}`] += len(e.body)
	return "miss"
}

// holdNginx starts an nginx, says where, and waits to be killed.
func holdNginx(program string) int {
	r := sequence(1)
	o, err := startOrigin(r, time.Hour, 1, 0)
	if err == nil {
		var n *nginx
		// On disk: what a killed driver leaves is in the test's own folder.
		c := nginxConfig{minUses: 1, maxBytes: 1 << 20, keys: 1}
		if n, err = startNginx(context.Background(), program, os.TempDir(), c, o); err == nil {
			fmt.Fprintln(os.Stdout, n.address())
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// fakeSimulate foretells a byte hit ratio of 0.875 for each policy, and shows what it was asked in the counts: as many
// writes as requests, and their bytes.
func fakeSimulate() int {
	if os.Getenv(envFault) == "refuse" {
		fmt.Fprintln(os.Stderr, "simulate: these flags are not liked")
		return 2
	}
	var requests, bytes int64
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); requests++ {
		var seq, id, size int64
		if _, err := fmt.Sscan(lines.Text(), &seq, &id, &size); err != nil || seq != requests+1 {
			fmt.Fprintln(os.Stderr, "no seq:", lines.Text())
			return 1
		}
		bytes += size
	}
	policies := os.Args[slices.Index(os.Args, "--policy")+1]
	var results []string
	for p := range strings.SplitSeq(policies, ",") {
		results = append(results, fmt.Sprintf(`{"policy":%q,"byte_hit_ratio":0.875,"writes":%d,"write_bytes":%d,"disk_write_bytes":%d}`, p, requests, bytes, len(p)<<20))
	}
	fmt.Printf(`{"results":[%s]}`, strings.Join(results, ","))
	return 0
}
