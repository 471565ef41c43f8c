package admin

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetricsAreTextWithBuildInfo(t *testing.T) {
	reg := prometheus.NewRegistry()
	if err := RegisterRuntime(reg, "1.2.3", "0123456789ab"); err != nil {
		t.Fatalf("RegisterRuntime: %v", err)
	}
	o := options()
	o.Registry = reg
	a := serve(t, mustNew(t, o)).do("GET", "/metrics", "")
	if got := a.header.Get("Content-Type"); a.status != http.StatusOK || !strings.HasPrefix(got, "text/plain") {
		t.Errorf("got %d, Content-Type %q, want 200 and text", a.status, got)
	}
	for _, want := range []string{
		fmt.Sprintf("\nedgeproxy_build_info{commit=\"0123456789ab\",go_version=%q,version=\"1.2.3\"} 1\n", runtime.Version()),
		"\ngo_goroutines ", "\nprocess_start_time_seconds ",
	} {
		if !strings.Contains("\n"+a.body, want) {
			t.Errorf("metrics: want %q in %q", want, a.body)
		}
	}
	if err := RegisterRuntime(reg, "1.2.3", "0123456789ab"); err == nil || !strings.Contains(err.Error(), "build info") {
		t.Errorf("second RegisterRuntime: got %v, want an error that names build info", err)
	}
}

// blocked is a collector that waits in each scrape.
type blocked struct{ entered, leave chan struct{} }

func (b blocked) Describe(chan<- *prometheus.Desc) {}

func (b blocked) Collect(chan<- prometheus.Metric) {
	b.entered <- struct{}{}
	<-b.leave
}

func TestConcurrentScrapesAreBounded(t *testing.T) {
	o, reg := options(), prometheus.NewRegistry()
	b := blocked{make(chan struct{}), make(chan struct{})}
	reg.MustRegister(b)
	o.Registry = reg
	g := serve(t, mustNew(t, o))
	statuses := make(chan int, maxScrapes)
	for range maxScrapes {
		go func() { statuses <- g.do("GET", "/metrics", "").status }()
	}
	for range maxScrapes {
		<-b.entered
	}
	if got := g.do("GET", "/metrics", "").status; got != http.StatusServiceUnavailable {
		t.Errorf("scrape %d: got %d, want 503", maxScrapes+1, got)
	}
	if got := g.do("GET", "/livez", "").status; got != http.StatusOK {
		t.Errorf("/livez while every scrape hangs: got %d, want 200", got)
	}
	close(b.leave)
	for range maxScrapes {
		if got := <-statuses; got != http.StatusOK {
			t.Errorf("scrape within the limit: got %d, want 200", got)
		}
	}
}

// broken is a collector that fails.
type broken struct{}

func (broken) Describe(chan<- *prometheus.Desc) {}

func (broken) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.NewInvalidMetric(prometheus.NewDesc("broken", "", nil, nil), errors.New("collector broke"))
}

func TestOneBrokenCollectorDoesNotHideTheRest(t *testing.T) {
	var log record
	reg := prometheus.NewRegistry()
	if err := RegisterRuntime(reg, "1", ""); err != nil {
		t.Fatal(err)
	}
	reg.MustRegister(broken{})
	o := options()
	o.Registry, o.Log = reg, slog.New(slog.NewTextHandler(&log, nil))
	a := serve(t, mustNew(t, o)).do("GET", "/metrics", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, "edgeproxy_build_info") {
		t.Errorf("got %d %q, want 200 and the metrics that work", a.status, a.body)
	}
	if got := log.String(); !strings.Contains(got, "collector broke") || !strings.Contains(got, "level=ERROR") {
		t.Errorf("log: got %q, want the failure as an error", got)
	}
}
