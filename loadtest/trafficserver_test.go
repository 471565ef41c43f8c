package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/test/testkit"
)

func TestTrafficServerIsCountedLikeEdgeproxy(t *testing.T) {
	testkit.Slow(t, "it starts Traffic Server")
	if _, err := findTrafficServer("traffic_server"); err != nil {
		t.Skipf("Traffic Server is not there: %v", err)
	}
	code, stdout, stderr := runDriver(t, "", "--policies", "always", "--baselines", "trafficserver", "--json")
	var doc document
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != command.Done || len(doc.Results) != 2 {
		t.Fatalf("exit %d, report: %v\n%s%s", code, err, stdout, stderr)
	}
	const big, small = 2 << 20, 20000
	r := &doc.Results[1]
	want := minUses{"trafficserver-hits-2", 9, 3, 2, big + small, 4, 6, 2*big + 4*small}
	got := minUses{r.Policy, r.Requests, r.Hits, r.Writes, r.WriteBytes, r.HeldBack, r.OriginRequests, r.OriginBytes}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if r.Regret != nil || r.Evictions != nil || !strings.HasPrefix(r.Server, "Traffic Server/") || strings.Contains(stdout, `"evictions": null`) {
		t.Errorf("regret %v, evictions %v, server %s: want none known, and a version", r.Regret, r.Evictions, r.Server)
	}
	noWarnings(t, &doc)
}

// minUses is what a proxy that stores on a given request, with room for all, does
// with the small trace.
type minUses struct {
	Policy                                                         string
	Requests, Hits, Writes, WriteBytes, HeldBack, OriginR, OriginB int64
}

// It would end with a segmentation fault.
func TestTrafficServerGetsNoSmallCache(t *testing.T) {
	var notes strings.Builder
	p, err := newPlan(parse(t, "--capacity", "8MB", "--baselines", "trafficserver"), objects(10))
	if err != nil {
		t.Fatal(err)
	}
	if runs := p.baselines(t.Context(), t.TempDir(), &notes); len(runs) > 0 || !strings.Contains(notes.String(), "takes no less than 8 MiB") {
		t.Errorf("got %d runs and %q, want none and a note", len(runs), &notes)
	}
}

func TestTrafficServerNeedsItsPlugin(t *testing.T) {
	prefix := t.TempDir()
	program, plugins := filepath.Join(prefix, "bin", "traffic_server"), filepath.Join(prefix, "libexec", "trafficserver")
	for _, dir := range []string{filepath.Dir(program), plugins} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := findTrafficServer(program); err == nil {
		t.Error("got no error where there is no program")
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho Apache Traffic Server - traffic_server - 9.9.9 -\necho Traffic Server 9.9.9 Jan\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := findTrafficServer(program); !errors.Is(err, errNoPlugin) {
		t.Errorf("got %v, want %v", err, errNoPlugin)
	}
	if err := os.WriteFile(filepath.Join(plugins, "cache_promote.so"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := findTrafficServer(program); err != nil || got != program {
		t.Errorf("got %s and %v, want %s", got, err, program)
	}
}

func TestTrafficLinesAreCounted(t *testing.T) {
	var got counts
	for line := range strings.Lines(`TCP_MISS 200 5000 - 200 5000
TCP_MISS 200 5000 FIN 200 5000
TCP_MISS 200 5000 ERR 200 5000
TCP_HIT 200 5000 - 000 0
TCP_MEM_HIT 200 70 - 000 0
TCP_REFRESH_HIT 200 30 - 304 0
ERR_CONNECT_FAIL 502 300 - 000 0
`) {
		if err := got.addTrafficLine(line); err != nil {
			t.Fatal(err)
		}
	}
	want := counts{
		requests: 7, hits: 3, failed: 1, responseBytes: 20400, hitBytes: 5100, failedBytes: 300,
		writes: 1, writeBytes: 5000, originRequests: 4, originBytes: 15000,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(counts{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, line := range []string{"", "TCP_HIT 200 5 - 000", "TCP_HIT x 5 - 000 0", "TCP_HIT 200 5 - 000 -"} {
		if err := got.addTrafficLine(line); err == nil {
			t.Errorf("%q: got no error", line)
		}
	}
}

func TestBaselinesAreNamesOrAWord(t *testing.T) {
	for _, s := range []string{"auto", "all", "none", "nginx", "trafficserver", "nginx,trafficserver"} {
		if !baselinesWanted(s) {
			t.Errorf("%q: got no, want yes", s)
		}
	}
	for _, s := range []string{"", "varnish", "nginx,", "nginx,all", "nginx trafficserver"} {
		if baselinesWanted(s) {
			t.Errorf("%q: got yes, want no", s)
		}
	}
}
