package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// edgeFile is a configuration before app with more settings below it.
func edgeFile(t *testing.T, app, more string) string {
	t.Helper()
	return writeFile(t, "edge.yaml", fmt.Sprintf(
		"listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [%q]}}\n%s", app, more))
}

// cacheStatus returns Cache-Status of the answer for path, without the name.
func (s *server) cacheStatus(path string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.address+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = "example.com" // the port differs after a restart
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil { // to its end: a client that leaves early may end the fetch
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	return strings.TrimPrefix(res.Header.Get("Cache-Status"), "edgeproxy; ")
}

// TestSightingsSurviveARestart: the second request counts as such also when the
// process has been restarted in between.
func TestSightingsSurviveARestart(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "sightings")
	file := edgeFile(t, cachedOrigin(t), fmt.Sprintf("admission: {state: %q}\n", state))

	first := serveBinary(t, "-c", file)
	if got := first.cacheStatus("/a"); got != "fwd=uri-miss; detail=first-sighting" {
		t.Errorf("first request: got %q", got)
	}
	first.signal(syscall.SIGTERM)
	first.wantExit(exitDone)
	info, err := os.Stat(state)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode of the file: got %o, want 600: it holds the seed", got)
	}

	second := serveBinary(t, "-c", file)
	if got := second.cacheStatus("/a"); got != "fwd=uri-miss; stored" {
		t.Errorf("second request, after the restart: got %q, want stored", got)
	}
	if got := second.cacheStatus("/b"); got != "fwd=uri-miss; detail=first-sighting" {
		t.Errorf("another key: got %q, want its first sighting", got)
	}
	second.signal(syscall.SIGTERM)
	second.wantExit(exitDone)
}

// TestStateThatCannotBeUsedIsWarnedOf: each start serves, with the sightings it
// can use and a line about the others.
func TestStateThatCannotBeUsedIsWarnedOf(t *testing.T) {
	t.Parallel()
	f := func(name, second string, spoil func(path string), want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "sightings")
			app := cachedOrigin(t)
			first := serveBinary(t, "-c", edgeFile(t, app, fmt.Sprintf("admission: {state: %q}\n", state)))
			first.cacheStatus("/a")
			first.signal(syscall.SIGTERM)
			first.wantExit(exitDone)
			spoil(state)
			s := serveBinary(t, "-c", edgeFile(t, app, fmt.Sprintf("admission: {state: %q%s}\n", state, second)))
			if got := s.cacheStatus("/a"); got != "fwd=uri-miss; detail=first-sighting" {
				t.Errorf("after the restart: got %q, want a fresh start", got)
			}
			found := false
			for _, line := range s.lines() {
				text := fmt.Sprint(line)
				found = found || strings.Contains(text, "sightings of the last run") && strings.Contains(text, want)
			}
			if !found {
				t.Errorf("no warning with %q in\n%v", want, s.lines())
			}
		})
	}
	f("flipped bit", "", func(path string) {
		data, err := os.ReadFile(path)
		if err == nil {
			data[len(data)/2] ^= 1
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}, "checksum")
	f("cut short", "", func(path string) {
		if err := os.Truncate(path, 1000); err != nil {
			t.Fatal(err)
		}
	}, "sightings")
	f("another size", ", second_hit: {capacity: 5000}", func(string) {}, "capacity")
}

// TestAStartThatFailsLeavesTheSightings: the file is that of a run which may still
// live, or come back.
func TestAStartThatFailsLeavesTheSightings(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "sightings")
	app := cachedOrigin(t)
	first := serveBinary(t, "-c", edgeFile(t, app, fmt.Sprintf("admission: {state: %q}\n", state)))
	first.cacheStatus("/a")
	first.signal(syscall.SIGTERM)
	first.wantExit(exitDone)
	before, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	file := edgeFile(t, app, fmt.Sprintf("admission: {state: %q, second_hit: {capacity: 5000}}\n", state))
	if got := runBinary(t, "serve", "-c", file, "--listen", taken(t)); got.code != exitFailed {
		t.Errorf("start on a taken address: got %d %q, want %d", got.code, got.stderr, exitFailed)
	}
	if after, err := os.ReadFile(state); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed: %d bytes, then %d, %v", len(before), len(after), err)
	}
}

// TestStateThatIsNoFileIsRefused: it could not be written at the end either.
func TestStateThatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	file := edgeFile(t, cachedOrigin(t), fmt.Sprintf("admission: {state: %q}\n", t.TempDir()))
	if got := runBinary(t, "serve", "-c", file); got.code != exitUsage || !strings.Contains(got.stderr, file+":4:20: admission.state: ") || !strings.Contains(got.stderr, "not a regular file") {
		t.Errorf("a folder: got %d %q, want %d", got.code, got.stderr, exitUsage)
	}
}

// TestAdmissionMetricsAreThereByName is the other half of applicable: with a
// stage and shadow policies.
func TestAdmissionMetricsAreThereByName(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, "-c", edgeFile(t, cachedOrigin(t), `admission:
  warm_up_below: 0.0
  shadow: [{policy: always}, {policy: counting, more_than: 1}]
cache: {memory: {stage_bytes: 1MiB}}
`))
	for range 3 {
		s.cacheStatus("/a")
	}
	s.cacheStatus("/b")
	text := s.metricsAtRest()
	for _, name := range []string{
		"edgeproxy_admission_regret_total", "edgeproxy_admission_regret_bytes_total", "edgeproxy_admission_gate_open",
		"edgeproxy_cache_stores_never_hit_total", "edgeproxy_cache_promotions_total", "edgeproxy_filter_false_negatives_total",
		"edgeproxy_fills_total", "edgeproxy_storable_fills_total", "edgeproxy_shadow_writes_total", "edgeproxy_shadow_write_bytes_total",
		"edgeproxy_shadow_origin_bytes_total", "edgeproxy_shadow_hit_ratio", "edgeproxy_shadow_byte_hit_ratio",
	} {
		if !strings.Contains(text, "# TYPE "+name+" ") {
			t.Errorf("no metric %s", name)
		}
	}
	for _, line := range []string{
		`edgeproxy_cache_writes_total{tier="stage"} 2`,
		`edgeproxy_cache_writes_total{tier="memory"} 1`,
		`edgeproxy_cache_promotions_total 1`,
		`edgeproxy_requests_total{result="held_back",route="default",status="2xx"} 2`,
		`edgeproxy_requests_total{result="hit",route="default",status="2xx"} 2`,
		`edgeproxy_fills_total{outcome="held_back",route="default"} 2`,
		`edgeproxy_storable_fills_total{route="default"} 2`,
		`edgeproxy_admission_gate_open 0`,
		`edgeproxy_filter_false_negatives_total{filter="second_hit"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	for _, want := range []string{
		`edgeproxy_filter_false_positive_ratio{filter="second_hit",kind="expected"}`,
		`edgeproxy_filter_false_positive_ratio{filter="second_hit",kind="measured"}`,
		`edgeproxy_shadow_writes_total{policy="always"}`, `edgeproxy_shadow_writes_total{policy="counting-1"}`, `edgeproxy_shadow_writes_total{policy="live"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no series %s", want)
		}
	}
	_, status := get(t, "http://"+s.admin+"/status")
	for _, want := range []string{`"measured"`, `"false_negatives": 0`, `"stage"`, `"saved"`, `"regret"`, `"gate_open": false`, `"shadow"`} {
		if !strings.Contains(status, want) {
			t.Errorf("no %s in the status:\n%s", want, status)
		}
	}
}
