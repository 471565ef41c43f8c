package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// smallTrace asks for a 5 times, b 2 times, c and d once; 20000 bytes each but a
// has 2 MiB, more than the origin's buffer.
const smallTrace = "1 a 2097152\n2 b 20000\n3 a 2097152\n4 c 20000\n5 a 2097152\n6 b 20000\n7 d 20000\n8 a 2097152\n9 a 2097152\nodd\n"

// runDriver runs the driver against the fake edge and returns its exit code and
// output. It fails the test when anything is left in the temporary folder.
func runDriver(t *testing.T, fault string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv(envFault, fault)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "small.tr")
	if err := os.WriteFile(file, []byte(smallTrace), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--trace", file, "--edgeproxy", self, "--rate", "500", "--connections", "1", "--capacity", "16MiB"}, args...)
	var out, errOut bytes.Buffer
	code = run(t.Context(), args, &out, &errOut)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return code, out.String(), errOut.String()
}

// runJSON is runDriver with the report decoded.
func runJSON(t *testing.T, args ...string) (int, document, string) {
	t.Helper()
	code, stdout, stderr := runDriver(t, "", append(args, "--json")...)
	var doc document
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("exit %d, report: %v\n%s%s", code, err, stdout, stderr)
	}
	return code, doc, stderr
}

// noWarnings fails the test if a run was not clean. That it fell behind says something of the
// machine, that its cache never filled something of the few requests, and neither something of the counts.
func noWarnings(t *testing.T, doc *document) {
	t.Helper()
	for _, w := range doc.Warnings {
		if !strings.Contains(w, ": fell behind: ") && !strings.Contains(w, neverFilled) {
			t.Errorf("warning of a clean run: %s", w)
		}
	}
}

func TestReportCountsWhatEachPolicyDid(t *testing.T) {
	code, doc, stderr := runJSON(t, "--policies", "second-hit,counting,never", "--more-than", "2")
	if code != command.Done {
		t.Fatalf("exit %d, want 0: %s", code, stderr)
	}
	const big, small = 2 << 20, 20000
	if want := (trace.Facts{Requests: 9, Objects: 4, RequestBytes: 5*big + 4*small, UniqueBytes: big + 3*small, OneHitObjects: 2, BadLines: 1}); doc.Trace != want {
		t.Errorf("trace: got %+v, want %+v", doc.Trace, want)
	}
	type line struct {
		Policy                                                string
		MoreThan, Generations                                 int
		Requests, Hits, Writes, WriteBytes, Avoided, AvoidedB int64
		HeldBack, HeldBackBytes, Regret, RegretBytes          int64
		OriginRequests, OriginB, Error                        int64
	}
	want := []line{
		{"always", 0, 0, 9, 5, 4, big + 3*small, 0, 0, 0, 0, 0, 0, 4, big + 3*small, 0},
		{"second-hit", 0, 2, 9, 3, 2, big + small, 2, 2 * small, 4, big + 3*small, 2, big + small, 6, 2*big + 4*small, 0},
		{"counting", 2, 2, 9, 2, 1, big, 3, 3 * small, 6, 2*big + 4*small, 3, 2*big + small, 7, 3*big + 4*small, 0},
		{"never", 0, 0, 9, 0, 0, 0, 4, big + 3*small, 9, 5*big + 4*small, 5, 4*big + small, 9, 5*big + 4*small, 0},
	}
	var got []line
	for _, r := range doc.Results {
		got = append(got, line{
			r.Policy, r.MoreThan, r.Generations, r.Requests, r.Hits, r.Writes, r.WriteBytes, r.WritesAvoided, r.WriteBytesAvoided,
			r.HeldBack, r.HeldBackBytes, *r.Regret, *r.RegretBytes, r.OriginRequests, r.OriginBytes, r.Errors,
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if got, want := doc.Results[1].HitRatio, 3.0/9; got != want {
		t.Errorf("hit ratio: got %v, want %v", got, want)
	}
	if got, want := doc.Results[1].ByteHitRatio, 3*float64(big)/(5*big+4*small); got != want {
		t.Errorf("byte hit ratio: got %v, want %v", got, want)
	}
	if f := doc.Results[1].FalsePositiveRatio; f == nil || *f != 0.0078 {
		t.Errorf("false-positive ratio of second-hit: got %v, want 0.0078, the measured one", f)
	}
	if f := doc.Results[0].FalsePositiveRatio; f != nil {
		t.Errorf("false-positive ratio of always: got %v, want none", *f)
	}
	if p := doc.Results[0].P99Seconds; p <= 0 || p < doc.Results[0].P50Seconds {
		t.Errorf("p99 %v below p50 %v or not measured", p, doc.Results[0].P50Seconds)
	}
	noWarnings(t, &doc)
	if !slices.ContainsFunc(doc.Warnings, func(w string) bool { return strings.HasPrefix(w, "always"+neverFilled) }) {
		t.Errorf("nothing was evicted, and no warning says so: %q", doc.Warnings)
	}
}

// neverFilled is in the warning of a run whose cache had room for all.
const neverFilled = ": the cache never filled: "

func TestTableAndJSONFileAgree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	code, stdout, stderr := runDriver(t, "", "--policies", "second-hit", "--json-file", file)
	if code != command.Done {
		t.Fatalf("exit %d, want 0: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 6 || !strings.Contains(lines[5], "2 (50.0%)") || !strings.Contains(lines[0], "9 requests for 4 objects") {
		t.Errorf("table:\n%s", stdout)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil || len(doc.Results) != 2 || doc.Results[1].WritesAvoided != 2 {
		t.Errorf("JSON file: %v\n%s", err, data)
	}
}

func TestExitCodeTellsWhatWentWrong(t *testing.T) {
	testkit.Slow(t, "it starts a proxy for each of several runs")
	testkit.Plain(t, "most of the time is the start of processes, and the detector watches the driver elsewhere")
	f := func(name, fault string, code int, want string, args ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			got, _, stderr := runDriver(t, fault, append([]string{"--policies", "second-hit"}, args...)...)
			if got != code || !strings.Contains(stderr, want) {
				t.Errorf("exit %d, want %d and %q on stderr:\n%s", got, code, want, stderr)
			}
		})
	}
	f("saving reached", "", command.Done, "", "--min-saved", "0.5")
	f("saving missed", "", command.Failed, "saved 50.0% of the writes of always; --min-saved: must be at least 75.0%", "--min-saved", "0.75")
	f("metric missing", "no-metric", command.Failed, "always: edgeproxy's /metrics lacks "+metricWrites)
	f("counts differ", "miscount", command.Done, "warning: always: edgeproxy counted 8 origin requests, the origin served 4")
	f("truncated bodies", "truncate", command.Failed, "always: 9 of 9 requests failed")
	f("another object", "wrong-object", command.Failed, "another object's response")
	f("refused config", "refuse", command.Failed, "this file is not liked")
	f("dies underway", "die", command.Failed, "edgeproxy ended with exit status 7")
	f("bad exit", "bad-exit", command.Done, "warning: always: edgeproxy ended with exit status 3")
	f("no such program", "", command.Failed, "start edgeproxy", "--edgeproxy", filepath.Join(t.TempDir(), "none"))
	f("out of time", "", command.Failed, "not done within --timeout 500ms", "--timeout", "500ms", "--rate", "0.1")
	f("capacity too small", "", command.Usage, "edgeproxy takes no less than 1 MiB", "--capacity", "5%")
	f("object over a quarter", "", command.Usage, "at most a quarter", "--max-object", "5MiB")
	f("no trace file", "", command.Usage, "open the trace", "--trace", filepath.Join(t.TempDir(), "none"))
	f("unknown flag", "", command.Usage, "flag provided but not defined: -shadow", "--shadow", "x")
}

func TestStageWritesStandApart(t *testing.T) {
	code, doc, stderr := runJSON(t, "--policies", "second-hit", "--stage", "25%")
	if code != command.Done {
		t.Fatalf("exit %d, want 0: %s", code, stderr)
	}
	always, second := doc.Results[0], doc.Results[1]
	if always.StageBytes != 0 || always.StageWrites != 0 || second.StageBytes != 4<<20 {
		t.Errorf("stage of always: %d bytes, %d writes, of second-hit %d bytes; want none, and 4 MiB of 16", always.StageBytes, always.StageWrites, second.StageBytes)
	}
	if second.Writes != 2 || second.StageWrites != 4 || second.StageWriteBytes != 2<<20+3*20000 {
		t.Errorf("got %d writes, %d into the stage (%d bytes); want 2 and 4 (first sightings)", second.Writes, second.StageWrites, second.StageWriteBytes)
	}
}

func TestPopularityModelIsReplayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "popularity.txt")
	if err := os.WriteFile(file, []byte("1\n4 0.5\n3\n8 0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, doc, stderr := runJSON(t, "--policies", "always", "--trace", "popularity:"+file+",objects=20,arrivals=bursty")
	if code != command.Done || doc.Trace.Objects != 20 || doc.Results[0].Requests != doc.Trace.Requests {
		t.Errorf("exit %d, %d objects, %d of %d requests: %s", code, doc.Trace.Objects, doc.Results[0].Requests, doc.Trace.Requests, stderr)
	}
}

func TestRunsAreRepeatedForTheirMeans(t *testing.T) {
	testkit.Slow(t, "it starts a proxy for each of several runs")
	_, once, _ := runJSON(t, "--policies", "second-hit")
	code, twice, stderr := runJSON(t, "--policies", "second-hit", "--runs", "2")
	if code != command.Done || twice.Run.Runs != 2 || len(twice.Results) != 2 {
		t.Fatalf("exit %d, %d runs, %d results: %s", code, twice.Run.Runs, len(twice.Results), stderr)
	}
	for i := range once.Results {
		a, b := &once.Results[i], &twice.Results[i]
		if a.Hits != b.Hits || a.Writes != b.Writes || a.WritesAvoided != b.WritesAvoided || a.HitRatio != b.HitRatio {
			t.Errorf("%s: got %d hits and %d writes of two runs, want those of one, %d and %d", a.Policy, b.Hits, b.Writes, a.Hits, a.Writes)
		}
	}
}

func TestHTMLHoldsTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := runDriver(t, "", "--policies", "second-hit", "--html", file, "--baselines", "none")
	if code != command.Done || !strings.Contains(stdout, "second-hit") {
		t.Fatalf("exit %d, want 0 and the table beside the page: %s%s", code, stdout, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"small.tr", "second-hit", "2 (50.0%)", "generation 0", "measured", "during the run", "Latency", "Origin", "max_bytes"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestBaselineThatIsNotThereIsLeftOut: edgeproxy's own figures stand without it.
func TestBaselineThatIsNotThereIsLeftOut(t *testing.T) {
	testkit.Slow(t, "it starts a proxy for each of several runs")
	none := filepath.Join(t.TempDir(), "none")
	broken := filepath.Join(t.TempDir(), "nginx")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho I am broken\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	html := filepath.Join(t.TempDir(), "report.html")
	f := func(code int, want string, args ...string) {
		t.Helper()
		got, stdout, stderr := runDriver(t, "", append([]string{"--policies", "always"}, args...)...)
		stderr = strings.TrimPrefix(stderr, "warning: always: the cache never filled: nothing was evicted, so this run cannot show the gain; --capacity makes it smaller\n")
		if got != code || !strings.Contains(stderr, want) || want == "" && stderr != "" {
			t.Errorf("%v: exit %d, want %d and %q on stderr: %s", args, got, code, want, stderr)
		}
		if code == command.Done && (!strings.Contains(stdout, "always") || strings.Contains(stdout, "nginx")) {
			t.Errorf("%v: want the row of always alone:\n%s", args, stdout)
		}
	}
	f(command.Done, "", "--nginx", broken)
	f(command.Done, "", "--nginx", broken, "--html", html, "--baselines", "none")
	f(command.Done, "note: no nginx, its rows are left out: ", "--nginx", none, "--baselines", "nginx")
	f(command.Done, "note: no nginx, its rows are left out: ", "--nginx", none, "--html", html)
	f(command.Done, "warning: nginx-min-uses-2 is left out: start nginx", "--nginx", broken, "--html", html)
	f(command.Failed, "I am broken", "--nginx", broken, "--baselines", "nginx")
}

func TestStartTriesAgainWhenItsPortIsTaken(t *testing.T) {
	t.Setenv(envOnce, filepath.Join(t.TempDir(), "once"))
	code, doc, stderr := runJSON(t, "--policies", "always")
	if code != command.Done || len(doc.Results) != 1 || doc.Results[0].Requests != 9 {
		t.Errorf("exit %d, results %+v: %s", code, doc.Results, stderr)
	}
}

// lifelineListener tells when a fake edge lives and when it does not.
type lifelineListener struct{ net.Listener }

func lifeline(t *testing.T) lifelineListener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	t.Setenv(envLifeline, ln.Addr().String())
	return lifelineListener{ln}
}

// accept returns once a fake edge lives.
func (l lifelineListener) accept(t *testing.T) net.Conn {
	t.Helper()
	_ = l.Listener.(*net.TCPListener).SetDeadline(time.Now().Add(testkit.Patience))
	conn, err := l.Accept()
	if err != nil {
		t.Fatalf("no fake edge was started: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// gone fails the test unless the fake edge of the connection is gone, or goes.
func gone(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(testkit.Patience))
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the fake edge lives on: %v", err)
	}
}

// startDriver starts the driver as a process of its own, in the middle of a run
// that would take minutes.
func startDriver(t *testing.T, tmp string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--trace", "zipf:requests=1000", "--edgeproxy", self, "--rate", "1", "--policies", "always", "--capacity", "16MiB")
	cmd.Env = append(os.Environ(), envDriver+"=1", "TMPDIR="+tmp)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func TestInterruptLeavesNothingBehind(t *testing.T) {
	alive, tmp := lifeline(t), t.TempDir()
	cmd := startDriver(t, tmp)
	conn := alive.accept(t)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != command.Failed {
		t.Errorf("driver: got %v, want exit 1", err)
	}
	gone(t, conn)
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
