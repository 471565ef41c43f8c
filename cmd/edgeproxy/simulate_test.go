package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"edgeproxy/internal/lab/simulate"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// runHere runs the program in this process.
func runHere(t *testing.T, args ...string) finished {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return finished{code, stdout.String(), stderr.String()}
}

// webLog returns lines of a combined log: a few popular objects and many that
// are asked for once or twice, over some hours.
func webLog(lines int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	var b strings.Builder
	for range lines {
		at = at.Add(time.Duration(rng.IntN(20)) * time.Second)
		id := int(math.Exp(9 * rng.Float64()))
		fmt.Fprintf(&b, "192.0.2.1 - - [%s] \"GET /o/%d HTTP/1.1\" 200 %d \"-\" \"-\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), id, 500+id%7*4000)
	}
	return b.String()
}

// simulated is what simulate --json prints.
type simulated struct {
	Trace struct {
		Requests int64 `json:"requests"`
		BadLines int64 `json:"bad_lines"`
	} `json:"trace"`
	Results []simulate.Result `json:"results"`
}

// simulatedBy runs simulate --json, whose speeds are left out.
func simulatedBy(t *testing.T, args ...string) simulated {
	t.Helper()
	got := runHere(t, append([]string{"simulate", "--json"}, args...)...)
	if got.code != exitDone || got.stderr != "" {
		t.Fatalf("simulate %q: got %d %q", args, got.code, got.stderr)
	}
	return decoded(t, got.stdout)
}

func decoded(t *testing.T, text string) (doc simulated) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if d.More() {
		t.Errorf("got more than one document in %q", text)
	}
	for i := range doc.Results {
		doc.Results[i].RequestsPerSecond = 0
	}
	return doc
}

func compressed(t *testing.T, to io.WriteCloser, into *bytes.Buffer, text string) string {
	t.Helper()
	if _, err := io.WriteString(to, text); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return into.String()
}

func TestSimulateReadsALogInEveryWrapping(t *testing.T) {
	t.Parallel()
	log := webLog(3000)
	var gz, zst bytes.Buffer
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	const eviction = "--eviction=lru" // the default chooses by chance
	want := simulatedBy(t, eviction, writeFile(t, "access.log", log))
	if want.Trace.Requests != 3000 || len(want.Results) != 9 {
		t.Errorf("plain: got %d requests and %d results, want 3000 and 9", want.Trace.Requests, len(want.Results))
	}
	f := func(name string, got simulated) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.Comparer(sameResult)); diff != "" {
			t.Errorf("%s (-plain +this):\n%s", name, diff)
		}
	}
	f("gzip", simulatedBy(t, eviction, writeFile(t, "access.log.1", compressed(t, gzip.NewWriter(&gz), &gz, log))))
	f("zstd", simulatedBy(t, eviction, writeFile(t, "access.log.2", compressed(t, z, &zst, log))))
	half := len(log) / 2
	half += strings.IndexByte(log[half:], '\n') + 1
	f("two files", simulatedBy(t, eviction, writeFile(t, "a.log", log[:half]), writeFile(t, "b.log", log[half:])))

	cmd := exec.Command(program(t), "simulate", "--json", eviction, "-")
	cmd.Stdin = strings.NewReader(log)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	f("standard input", decoded(t, string(out)))
}

// sameResult compares what JSON carries.
func sameResult(a, b simulate.Result) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// What is recommended must be a file that edgeproxy check passes.
func TestSimulateRecommendsWhatCheckPasses(t *testing.T) {
	log := writeFile(t, "access.log", webLog(3000))
	f := func(wantPolicy string, args ...string) {
		t.Helper()
		got := runHere(t, append([]string{"simulate", log}, args...)...)
		_, advice, found := strings.Cut(got.stdout, "\nadmission:\n")
		if got.code != exitDone || !found {
			t.Fatalf("%q: got %d %q %q, want advice", args, got.code, got.stdout, got.stderr)
		}
		yaml, _, _ := strings.Cut("admission:\n"+advice, "\n\n")
		if !strings.Contains(yaml, "policy: "+wantPolicy+"\n") {
			t.Errorf("%q: got %q, want policy %s", args, yaml, wantPolicy)
		}
		file := writeFile(t, "recommended.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n"+yaml+"\n")
		if checked := runHere(t, "check", "-c", file); checked.code != exitDone {
			t.Errorf("%q: check got %d %q of\n%s", args, checked.code, checked.stderr, yaml)
		}
	}
	f("second-hit", "--policy", "second-hit", "--rotate-every", "30m")
	f("second-hit", "--policy", "second-hit", "--rotate-requests", "2c", "--stage", "50%", "--max-object", "17KB")
	f("counting", "--policy", "counting", "--more-than", "1", "--capacity", "100MiB", "--generations", "4", "--rotate-keys", "120")
	f("counting", "--policy", "counting", "--exact", "--more-than", "1", "--rotate-keys", "never,300")
	f("always", "--policy", "always")
	f("second-hit", "--policy", "second-hit", "--eviction", "ristretto", "--capacity", "2MiB")
	f("second-hit", "--policy", "second-hit", "--rotate-requests", "200", "--nodes", "3", "--share", "placement")
}

func TestSimulateWritesThePage(t *testing.T) {
	log, page := writeFile(t, "access.log", webLog(3000)), filepath.Join(t.TempDir(), "out.html")
	got := runHere(t, "simulate", "--json", "--html", page, log)
	if got.code != exitDone {
		t.Fatalf("got %d %q", got.code, got.stderr)
	}
	decoded(t, got.stdout) // nothing else is on standard output
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!doctype html", "access.log", "policy: ", "Recommended at "} {
		if !strings.Contains(strings.ToLower(string(html)), strings.ToLower(want)) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// A page that is there must not be lost to a run that cannot write the next.
func TestSimulatePutsThePageInPlaceWhole(t *testing.T) {
	log, folder := writeFile(t, "access.log", webLog(50)), t.TempDir()
	path := filepath.Join(folder, "out.html")
	for range 2 {
		if got := runHere(t, "simulate", "--html", path, log); got.code != exitDone {
			t.Fatalf("got %d %q", got.code, got.stderr)
		}
	}
	link := filepath.Join(folder, "link.html")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("through a link: got %q, %v, want what was written", got, err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "full", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(filepath.Join(folder, "full"), []byte("new")); err == nil {
		t.Error("a folder in its place: got no error")
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 3 {
		t.Errorf("got %v, %v, want the page, the link and the folder alone", left, err)
	}
}

// The document has no place for warnings, and they must not be lost.
func TestSimulateWarnsBesideTheDocument(t *testing.T) {
	log := writeFile(t, "access.log", webLog(50)+strings.Repeat("odd\n", 60))
	got := runHere(t, "simulate", "--json", "--format", "combined", "--capacity", "1MiB", log)
	want := "edgeproxy: warning: 60 of 110 lines were not used (60 bad, 0 skipped): only a GET or HEAD that was answered with 200 or 304 counts\n"
	if got.code != exitDone || got.stderr != want {
		t.Errorf("got %d %q, want %q", got.code, got.stderr, want)
	}
	decoded(t, got.stdout)
}

// A folder for temporary files that is not there is no fault of the usage, as a
// log that is not there is.
func TestSimulateTellsAMissingLogFromAMissingFolder(t *testing.T) {
	f := func(err error, want bool) {
		t.Helper()
		_, got := errors.AsType[*usageError](asReadError(err))
		if got != want {
			t.Errorf("%v: got bad usage %v, want %v", err, got, want)
		}
	}
	f(&trace.SourceError{Err: fs.ErrNotExist}, true)
	f(fmt.Errorf("make a temporary file: %w", fs.ErrNotExist), false)
}

func TestSimulateExitCodes(t *testing.T) {
	log, seq := writeFile(t, "access.log", webLog(300)), writeFile(t, "a.tr", "1 a 10\n2 b 20\n3 a 10\n")
	folder := t.TempDir()
	f := func(want int, says string, args ...string) {
		t.Helper()
		got := runHere(t, append([]string{"simulate"}, args...)...)
		if got.code != want || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("%q: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, want, says)
		}
		if want != exitDone && got.stdout != "" {
			t.Errorf("%q: got %q on standard output, want nothing", args, got.stdout)
		}
	}
	f(exitDone, "300 requests", log)
	f(exitDone, "nothing is recommended at 30 B: too little to go by; there are 3 of 2,500 requests", "--capacity", "100%", seq)
	f(exitDone, "1 of 2,500 requests", "--goal", "most_hits", "--capacity", "1MiB", writeFile(t, "one.tr", "1 a 10\n"))
	f(exitDone, "--rotate-keys", "--help")
	f(exitUsage, "simulate needs a LOG")
	f(exitUsage, "no such file", log+".not")
	f(exitUsage, "this is a folder", folder)
	f(exitUsage, "zipf:objects=0: objects=0: must be 1 to", "zipf:objects=0")
	f(exitUsage, "no such file", "popularity:"+log+".not")
	f(exitUsage, "See 'edgeproxy simulate --help'.", "--capacity", "5", log)
	// Mistakes in flags are found before the log is opened.
	missing := log + ".not"
	f(exitUsage, "--false-positive-rate 1e-14: must be at least", "--false-positive-rate", "1e-14", missing)
	f(exitUsage, "--capacity 65535 bytes: must be at least 65536 bytes under ristretto", "--eviction", "ristretto", "--capacity", "65535B", missing)
	f(exitUsage, "--max-object 16385 bytes: must be at most 16384 bytes, a quarter", "--eviction", "lru,ristretto", "--capacity", "64KiB", "--max-object", "16385B", missing)
	f(exitUsage, "--disk 8388608 bytes: must be 0 under clairvoyant", "--eviction", "lru,clairvoyant", "--disk", "8MiB", missing)
	f(exitUsage, "--max-object 16385 bytes: must be at most 16384 bytes, a quarter", "--capacity", "64KiB", "--max-object", "16385B", missing)
	f(exitUsage, "--fields target=a,bytes=b: must have no other format than json, tsv or csv", "--fields", "target=a,bytes=b", "--format", "combined", missing)
	f(exitUsage, "--ignore-times: must have no --rotate-every beside it", "--ignore-times", "--rotate-every", "30m", missing)
	f(exitUsage, "--rotate-every 1h: must be a log with times", "--rotate-every", "1h", seq)
	f(exitUsage, "--more-than 3: must be counting among the policies", "--policy", "second-hit", "--more-than", "3", missing)
	f(exitUsage, "--false-positive-rate 0.05: must be without --exact", "--exact", "--false-positive-rate", "5%", missing)
	f(exitUsage, "--generations 3: must be second-hit or counting", "--policy", "always", "--generations", "3", missing)
	f(exitUsage, "--html \"-\": must be a file", "--html", "-", missing)
	f(exitUsage, "given twice", "-", log, "-")
	f(exitUsage, "--rotate-every 30m: must be a log with times", "--rotate-every", "30m", seq)
	f(exitUsage, "rotation never: must be a rotation, or --exact", "--rotate-keys", "never", log)
	f(exitUsage, "grid of 889 settings: must be at most 500", "--generations", strings.Repeat("2,3,", 55)+"2", log)
	f(exitUsage, "at most half of the capacity", "--stage", "1GiB", log)
	f(exitUsage, "capacity 1%: must be more than 0 bytes", "--capacity", "1%", seq)
	f(exitUsage, "--false-positive-rate 1e-14", "--false-positive-rate", "1e-14", log)
	f(exitUsage, "no such folder", "--html", filepath.Join(folder, "not", "a.html"), log)
	f(exitUsage, "this is a folder", "--html", folder, log)
	f(exitUsage, "unknown flag", "--polcy", "always", log)
	f(exitFailed, "format not recognised", writeFile(t, "b.log", "what is this\n"))
	f(exitFailed, "no usable request", "--format", "combined", writeFile(t, "c.log", "what is this\n"))
}

func TestSimulateFlagsSayWhatTheyWant(t *testing.T) {
	log := writeFile(t, "access.log", webLog(20))
	f := func(flag, value, want string) {
		t.Helper()
		got := runHere(t, "simulate", "--"+flag, value, log)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "--"+flag) {
			t.Errorf("--%s %s: got %d %q, want %d and %q", flag, value, got.code, got.stderr, exitUsage, want)
		}
	}
	f("policy", "sometimes", "must be always, second-hit, counting, chance or never")
	f("policy", "always,", `"": must be always`)
	for _, v := range []string{"0", "15", "two", "1.5", ""} {
		f("more-than", v, "must be a whole number from 1 to 14")
	}
	for _, v := range []string{"1", "5", "-2"} {
		f("generations", v, "must be a whole number from 2 to 4")
	}
	for _, v := range []string{"0", "0%", "0B"} {
		f("capacity", v, "must be more than nothing")
	}
	f("capacity", "5", "must be a size with a unit")
	f("capacity", "5%,x", `"x": must be a size with a unit`)
	for _, v := range []string{"-1%", "1001%", "NaN%", "x%", "%"} {
		f("capacity", v, "must be 0% to 1000%, or a size")
	}
	for _, v := range []string{"-1%", "1001%", "5"} {
		f("disk", v, "must be")
	}
	f("disk", "1MiB", "must be at least 4194304 bytes, or 0 for none")
	for _, v := range []string{"51%", "-1%", "NaN%"} {
		f("stage", v, "must be 0% to 50%, or a size such as 64MiB, or auto, the proxy's own")
	}
	for _, v := range []string{"30", "500ms", "-1h", "8761h", "soon"} {
		f("rotate-every", v, "must be a duration of 1s to 8760h")
	}
	for _, name := range []string{"rotate-requests", "rotate-keys"} {
		for _, v := range []string{"0", "-1", "1000000001", "0c", "-4c", "Infc", "NaNc", "c", "4x", "1.5", ""} {
			f(name, v, "must be a number of at most 1000000000, a multiple of c such as 4c, or never")
		}
	}
	for _, v := range []string{"0", "0.51", "51%", "-0.1", "NaN", "1%%"} {
		f("false-positive-rate", v, "must be a ratio from 1e-15 to 0.5, such as 0.01 or 1%")
	}
	f("max-object", "0", "must be more than nothing")
	f("max-object", "9", "must be a size with a unit")
	f("eviction", "fifo", "must be size-aware, size-aware-for-hits, size-aware-for-bytes, recency, ristretto, lru, s3fifo, sieve, gdsf or clairvoyant")
	f("goal", "cheap", "must be fewest_writes, balanced, most_hits")
	f("format", "xml", "must be seq, combined")
	f("fields", "url", `"url": must be ROLE=FIELD with a role of target, host, bytes`)
	for _, v := range []string{"0", "65", "-1", "two", "2,3", ""} {
		f("nodes", v, "must be a whole number from 1 to 64")
	}
	f("balance", "least", "must be random or hash")
	f("share", "all", "must be none, placement, digests or sightings")
	f("window", "none", "must be auto or fixed")
}

func TestSimulateFlagsTakeListsByCommasAndByRepetition(t *testing.T) {
	log := writeFile(t, "access.log", webLog(400))
	f := func(want int, args ...string) {
		t.Helper()
		if got := simulatedBy(t, append(args, log)...); len(got.Results) != want {
			t.Errorf("%q: got %d results, want %d", args, len(got.Results), want)
		}
	}
	// One more than asked for where always is not, which is in every run.
	f(2, "--policy", "always,second-hit", "--rotate-keys", "120")
	f(2, "--policy", "always", "--policy", "second-hit", "--rotate-keys", "120")
	f(1+1, "--policy", "second-hit", "--rotate-keys", "120")
	f(1+3, "--policy", "second-hit", "--rotate-keys", "120", "--rotate-requests", " 200", "--rotate-every", "1h")
	f(2+4, "--policy", "second-hit", "--rotate-keys", "120,0.9c", "--capacity", "50%", "--capacity", "60%")
	f(1+8, "--policy", "counting", "--more-than", "1,2", "--rotate-keys", "120", "--generations", "2,3", "--false-positive-rate", "0.01,2%")
	f(1+2, "--policy", "second-hit", "--rotate-keys", "120", "--stage", "auto,0", "--eviction", "lru")
	f(2+6, "--policy", "second-hit", "--rotate-keys", "120", "--stage", "0,10%,3KiB", "--eviction", "lru,s3fifo")
	f(2+2, "--policy", "second-hit", "--rotate-keys", "120", "--max-object", "4KiB,30KiB")
	f(3+3, "--policy", "second-hit", "--rotate-keys", "120", "--disk", "0,5MiB", "--disk", "1000%")
	f(1+2, "--exact", "--policy", "second-hit", "--rotate-keys", "never,120", "--rotate-requests", "never")
}

// endless is standard input that does not end; with its first bytes it sends this
// process an interrupt.
type endless struct{ begun bool }

func (e *endless) Read(p []byte) (int, error) {
	if !e.begun {
		e.begun = true
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return 0, err
		}
		if err := self.Signal(os.Interrupt); err != nil {
			return 0, err
		}
	}
	return copy(p, "1 a 10\n"), nil
}

// TestAlwaysWithTheWindowOfTheProxyWasAnError: --window auto says what the proxy does, which policies without a window do not need.
func TestAlwaysWithTheWindowOfTheProxyWasAnError(t *testing.T) {
	log := writeFile(t, "access.log", webLog(400))
	for _, window := range []string{"auto", "fixed"} {
		got := simulatedBy(t, "--policy", "always,chance", "--window", window, log)
		if len(got.Results) != 2 || got.Results[0].Rotate != "" {
			t.Errorf("%s: got %+v, want always and chance without a window", window, got.Results)
		}
	}
	got := runHere(t, "simulate", "--policy", "always", "--window", "auto", "--rotate-every", "1h", log)
	if got.code != exitUsage || !strings.Contains(got.stderr, "must be second-hit or counting among the policies") {
		t.Errorf("a length of the window beside it: got %d %q", got.code, got.stderr)
	}
}

// The command's own default: what the proxy evicts by, where it takes the capacity.
func TestSimulateEvictsAsTheProxyDoes(t *testing.T) {
	log := writeFile(t, "access.log", webLog(3000))
	got := simulatedBy(t, "--policy", "always", "--capacity", "1MiB,63KiB", log).Results
	if len(got) != 2 || got[0].Eviction != "size-aware" || got[1].Eviction != "lru" {
		t.Errorf("got %+v, want size-aware at 1 MiB and lru at 63 KiB", got)
	}
}

// A log of anybody, by the names of its fields; and one whose times go back.
func TestSimulateReadsByTheNamesOfFieldsAndWithoutTimes(t *testing.T) {
	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "{\"when\":%d,\"req\":{\"url\":\"https://www.example.org/%d\"},\"len\":1000}\n", 1_717_236_000-i/150*86_400+i, i%7)
	}
	file := writeFile(t, "requests.json", log.String())
	flags := []string{"--fields", "target=req.url,bytes=len", "--fields", "time=when", "--policy", "always", "--capacity", "1MiB", file}
	if got := runHere(t, append([]string{"simulate"}, flags...)...); got.code != exitFailed || !strings.Contains(got.stderr, "with --ignore-times the order of the lines counts") {
		t.Errorf("got %d %q, want the flag to be named", got.code, got.stderr)
	}
	if got := simulatedBy(t, append([]string{"--ignore-times"}, flags...)...); got.Trace.Requests != 300 || got.Trace.BadLines != 0 {
		t.Errorf("got %+v, want 300 requests", got.Trace)
	}
}

func TestSimulateEndsOnAnInterrupt(t *testing.T) {
	var stdout, stderr bytes.Buffer
	s := simulation{logs: []string{"-"}, format: "seq"}
	err := s.runWatched(t.Context(), &endless{}, &stdout, &stderr)
	if err == nil || !strings.Contains(err.Error(), "interrupted") || stdout.Len() > 0 {
		t.Errorf("got %v and %q, want it interrupted, and no report", err, stdout.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, []string{"simulate", "zipf:"}, &stdout, &stderr); code != exitFailed {
		t.Errorf("a context that has ended: got %d, want %d", code, exitFailed)
	}
}

// The values that an independent simulator found, through the command line.
func TestSimulateGivesTheReferenceValues(t *testing.T) {
	log := testkit.Trace(t, "adaptsize.tr")
	got := simulatedBy(t, "--exact", "--policy", "always,second-hit", "--rotate-requests", "4c", "--capacity", "5%", "--max-object", "1000GiB", "--eviction", "lru", log).Results
	if len(got) != 2 {
		t.Fatalf("got %d results, want 2", len(got))
	}
	f := func(r simulate.Result, policy string, percent float64, writes, avoided int64) {
		t.Helper()
		if r.Policy != policy || math.Round(1e4*r.HitRatio) != math.Round(100*percent) || r.Writes != writes || r.WritesAvoided != avoided {
			t.Errorf("got %s %.4f %d, %d avoided, want %s %.2f %% %d, %d", r.Policy, r.HitRatio, r.Writes, r.WritesAvoided, policy, percent, writes, avoided)
		}
	}
	f(got[0], "always", 31.27, 46_040, 0)
	f(got[1], "second-hit", 30.87, 5_897, 46_040-5_897)
	if got[1].CapacityBytes != 14_021_562 || got[1].Rotate != "every 7360 requests (4c)" {
		t.Errorf("got %d bytes, rotated %q, want 14021562 and every 7360 requests (4c)", got[1].CapacityBytes, got[1].Rotate)
	}
}
