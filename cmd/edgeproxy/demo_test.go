package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// keepMemoryLimit puts the limit of the test process back that the demo changes.
func keepMemoryLimit(t *testing.T) {
	t.Helper()
	limit := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(limit) })
}

// noGoroutineLeft fails if a goroutine of ours is left. One that has handed over
// its result may take a moment to be gone.
func noGoroutineLeft(t *testing.T) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		buf := make([]byte, 4<<20)
		left = left[:0]
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			running, _, _ := strings.Cut(stack, "created by ")
			if strings.Contains(running, "edgeproxy/internal/") || strings.Contains(running, "fasthttp.(*Server).Serve") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}

// summaryRow returns the numbers of a row of the summary's table.
func summaryRow(t *testing.T, out, name string) (secondHit, always int) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  ` + name + ` +([\d,]+) +([\d,]+)$`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no row %q in:\n%s", name, out)
	}
	number := func(s string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
		if err != nil {
			t.Fatalf("row %q: %v", name, err)
		}
		return n
	}
	return number(m[1]), number(m[2])
}

// barLine matches a bar of one of the two: its writes are what it ends with.
var barLine = regexp.MustCompile(`(?m)^  (edgeproxy|always) .*B +([\d,]+)\n`)

// The demo runs until it has something to show, however long that takes.
func TestDemoSavesWrites(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := startLiveDemo(ctx, t)
	for writes, always := "0", ""; writes == "0" || len(always) < len("100"); {
		writes, always = d.bar(t, "edgeproxy"), d.bar(t, "always")
	}
	cancel()
	rest, code := d.rest(t)
	if code != exitDone {
		t.Fatalf("got exit code %d, want %d:\n%s%s%s", code, exitDone, d.banner, rest, d.stderr)
	}
	out := d.banner + rest
	for _, want := range []string{
		`^edgeproxy demo: `,
		`\n  dashboard +http://127\.0\.0\.1:\d+/\n`,
		`\n  edgeproxy +http://127\.0\.0\.1:\d+ `,
		`\n  always +http://127\.0\.0\.1:\d+ `,
		`\n  origin +http://127\.0\.0\.1:\d+\n`,
		`\nBoth have 8\.0 MiB of memory before 32 MiB of disk`,
		`\n +\d+:\d\d +[\d.]+ % of the bytes and [\d.]+ % of the writes to the disk avoided\. The price: [\d.]+ % (more|fewer) requests to the origin; `,
		`\n  always +[█▏▎▍▌▋▊▉]+ +[\d.]+ \w+ +[\d,]+\n`,
		`\nAfter \d+:\d\d:\n`,
		`\n  saved +[\d,]+ cache writes \([\d.]+ %\) and [\d.]+ \w+ \([\d.]+ %\)\n`,
		`\n  written to disk +[\d.]+ \w+ +[\d.]+ \w+\n`,
		`\n  the disk   [\d.]+ \w+ fewer written to it \([\d.]+ %\)`,
		`\n  the price +`,
		`\n  estimate .* held back less .* \(regret\)\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("nothing matches %s in:\n%s", want, out)
		}
	}
	requests, alwaysRequests := summaryRow(t, out, "requests")
	if requests != alwaysRequests || requests < 100 {
		t.Errorf("the proxies had %d and %d requests, want the same number, 100 or more", requests, alwaysRequests)
	}
	writes, alwaysWrites := summaryRow(t, out, "cache writes")
	if writes == 0 || writes >= alwaysWrites/2 {
		t.Errorf("second-hit wrote %d and always %d, want some, and less than half", writes, alwaysWrites)
	}
	fetches, alwaysFetches := summaryRow(t, out, "origin requests")
	if fetches > requests || alwaysFetches != alwaysWrites {
		t.Errorf("second-hit fetched %d of %d, always %d and stored %d: want no more than asked for, and all stored",
			fetches, requests, alwaysFetches, alwaysWrites)
	}
	if d.stderr.Len() > 0 {
		t.Errorf("got on standard error, want nothing:\n%s", d.stderr)
	}
	noGoroutineLeft(t)
}

// liveDemo is a demo under way.
type liveDemo struct {
	banner string // what it has printed first
	lines  *bufio.Reader
	code   chan int
	stderr *bytes.Buffer
}

// startLiveDemo runs the demo, with empty caches, and returns when it has printed where to look.
func startLiveDemo(ctx context.Context, t *testing.T) *liveDemo {
	t.Helper()
	keepMemoryLimit(t)
	out, in := io.Pipe()
	d := &liveDemo{lines: bufio.NewReader(out), code: make(chan int, 1), stderr: &bytes.Buffer{}}
	go func() {
		d.code <- run(ctx, []string{"demo", "--warm-up", "0s"}, in, d.stderr)
		_ = in.Close()
	}()
	for !strings.Contains(d.banner, "requests a second") {
		d.line(t)
	}
	return d
}

// line reads a line, which joins the banner.
func (d *liveDemo) line(t *testing.T) string {
	t.Helper()
	line, err := d.lines.ReadString('\n')
	d.banner += line
	if err != nil {
		t.Fatalf("the demo has ended with %d after:\n%s%s", <-d.code, d.banner, d.stderr)
	}
	return line
}

// bar reads to the next bar of name, and returns its writes.
func (d *liveDemo) bar(t *testing.T, name string) string {
	t.Helper()
	for {
		if m := barLine.FindStringSubmatch(d.line(t)); m != nil && m[1] == name {
			return m[2]
		}
	}
}

// rest returns what is printed from now on, and the exit code.
func (d *liveDemo) rest(t *testing.T) (string, int) {
	t.Helper()
	out, err := io.ReadAll(d.lines)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), <-d.code
}

// address returns the address in the banner's line that begins with name.
func (d *liveDemo) address(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  ` + name + ` +(http://127\.0\.0\.1:\d+\S*)`).FindStringSubmatch(d.banner)
	if m == nil {
		t.Fatalf("no address of %s in:\n%s", name, d.banner)
	}
	return m[1]
}

// fetch returns what is at url, over a connection of its own.
func fetch(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	res, err := http.DefaultClient.Do(r)
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

// hold takes address for the length of the test. It reports false if another process
// has it, which may let go of it at any time.
func hold(t *testing.T, address string) bool {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return true
}

func TestDemoTakesFreePortsAndShowsWhereToLook(t *testing.T) {
	usual := defaultAddresses()
	dataHeld, adminHeld := hold(t, usual.data), hold(t, usual.admin)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := startLiveDemo(ctx, t)
	proxy, admin := d.address(t, "edgeproxy"), strings.TrimSuffix(d.address(t, "dashboard"), "/")
	noted := func(held bool, want string) {
		t.Helper()
		if held && !strings.Contains(d.banner, want) {
			t.Errorf("no %q in:\n%s", want, d.banner)
		}
	}
	noted(dataHeld, usual.data+" is taken, so the proxy is at "+strings.TrimPrefix(proxy, "http://")+".\n")
	noted(adminHeld, usual.admin+" is taken, so its admin listener is at ")
	for i, want := range []string{"detail=first-sighting", "hit;", "hit;"} {
		if res, _ := fetch(t, proxy+"/mine"); !strings.Contains(res.Header.Get("Cache-Status"), want) {
			t.Errorf("request %d: got Cache-Status %q, want %q in it", i+1, res.Header.Get("Cache-Status"), want)
		}
	}
	if _, body := fetch(t, admin+"/metrics"); !strings.Contains(body, "edgeproxy_cache_writes_total") {
		t.Errorf("no edgeproxy_cache_writes_total in the metrics:\n%s", body)
	}
	if _, body := fetch(t, admin+"/status"); !strings.Contains(body, `"held_back"`) {
		t.Errorf("no held_back in the status:\n%s", body)
	}
	for _, name := range []string{"always", "origin"} {
		if res, _ := fetch(t, d.address(t, name)+"/mine"); res.StatusCode != http.StatusOK {
			t.Errorf("%s: got status %d, want 200", name, res.StatusCode)
		}
	}
	cancel()
	if out, code := d.rest(t); code != exitDone || !strings.Contains(out, "\nAfter 0:") {
		t.Errorf("got exit code %d, want %d and a summary:\n%s%s", code, exitDone, out, d.stderr)
	}
	noGoroutineLeft(t)
}

func TestDemoEndsWithASummaryOnASignal(t *testing.T) {
	f := func(s syscall.Signal) {
		t.Helper()
		folder := t.TempDir()
		t.Setenv("TMPDIR", folder)
		d := startLiveDemo(t.Context(), t)
		if disks, err := filepath.Glob(filepath.Join(folder, "edgeproxy-demo-*", "*", "*")); err != nil || len(disks) == 0 {
			t.Errorf("%s: the disks are not in the temporary folder: %v, %v", s, disks, err)
		}
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		if out, code := d.rest(t); code != exitDone || !strings.Contains(out, "\nAfter 0:") {
			t.Errorf("%s: got exit code %d, want %d and a summary:\n%s%s", s, code, exitDone, out, d.stderr)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", s, left, err)
		}
	}
	f(syscall.SIGINT)
	if !testing.Short() {
		f(syscall.SIGTERM)
	}
}

func TestASecondSignalDoesNotWait(t *testing.T) { synctest.Test(t, secondSignalDoesNotWait) }

func secondSignalDoesNotWait(t *testing.T) {
	signals := make(chan os.Signal, 2)
	done := make(chan error, 1)
	stops := 0
	signals <- syscall.SIGINT
	err := waitOrInterrupt(done, signals, func() {
		stops++
		time.AfterFunc(doubledWithin, func() { signals <- syscall.SIGTERM })
	})
	if err == nil || !strings.Contains(err.Error(), "second terminated") || stops != 1 {
		t.Errorf("got %v and %d calls of stop, want an error that names the signal, and one", err, stops)
	}
	signals <- syscall.SIGINT
	err = waitOrInterrupt(done, signals, func() { done <- nil })
	if err != nil {
		t.Errorf("got %v after one signal, want nil", err)
	}
}

// One Ctrl-C that the terminal and a script both delivered ended the demo without its summary.
func TestOneSignalThatCameTwiceDidNotDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 2)
		done := make(chan error, 1)
		stops := 0
		signals <- syscall.SIGINT
		err := waitOrInterrupt(done, signals, func() {
			stops++
			time.AfterFunc(doubledWithin-1, func() { signals <- syscall.SIGINT })
			time.AfterFunc(time.Second, func() { done <- nil }) // a stop takes its time
		})
		if err != nil || stops != 1 {
			t.Errorf("got %v and %d calls of stop, want a stop that is waited for", err, stops)
		}
	})
}

// The demo did not hear a second signal while it removed its disks, which is most of the time that it takes to end.
func TestASecondSignalWhileTheDisksAreRemoved(t *testing.T) {
	synctest.Test(t, secondSignalWhileDisksAreRemoved)
}

func secondSignalWhileDisksAreRemoved(t *testing.T) {
	signals := make(chan os.Signal, 2)
	removing, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	got := make(chan error, 1)
	go func() {
		got <- runInterruptible(t.Context(), signals, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}, func() {
			close(removing)
			<-over
		})
	}()
	signals <- syscall.SIGINT
	<-removing
	time.Sleep(doubledWithin)
	signals <- syscall.SIGINT
	select {
	case err := <-got:
		if err == nil || !strings.Contains(err.Error(), "second interrupt") {
			t.Errorf("got %v, want an error that names the signal", err)
		}
	case <-time.After(patience):
		t.Error("the second signal was not heard")
	}
}

func TestTheDisksOfTheDemoAreRemovedAfterASecondSignal(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "disks")
	if err := os.MkdirAll(filepath.Join(folder, "always", "purges"), 0o700); err != nil {
		t.Fatal(err)
	}
	removed := false
	_ = runInterruptible(t.Context(), nil, func(context.Context) error { return nil }, func() { removed = true })
	removeWithin(folder, nil)
	if _, err := os.Stat(folder); !removed || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("remove was called: %v; and then: %v, want no folder", removed, err)
	}
}

func TestDemoRefusesBadUsage(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"demo"}, args...), &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("demo %q: got exit code %d and %q, want %d, %q and no output", args, code, stderr.String(), exitUsage, want)
		}
	}
	f("--seconds -1: must be 0", "--seconds", "-1")
	f("--warm-up -1s: must be 0s", "--warm-up", "-1s")
	f("invalid argument", "--seconds", "soon")
	f("unexpected argument", "now")
	f("unknown flag", "--minutes", "1")
}

// blocked runs until its context ends.
type blocked struct{ err error }

func (b blocked) Run(ctx context.Context) error {
	<-ctx.Done()
	return b.err
}

func TestAFailedListenerEndsTheDemo(t *testing.T) {
	errListener, errRun := errors.New("listener"), errors.New("run")
	quiet, broken := make(chan error), make(chan error, 1)
	f := func(name string, one, other <-chan error, b blocked, want ...error) {
		t.Helper()
		broken <- errListener
		err := runWatched(t.Context(), b, one, other)
		for _, w := range want {
			if !errors.Is(err, w) {
				t.Errorf("%s: got %v, want %v in it", name, err, w)
			}
		}
	}
	f("the first", broken, quiet, blocked{}, errListener)
	f("the second", quiet, broken, blocked{}, errListener)
	f("with an error of its own", quiet, broken, blocked{errRun}, errListener, errRun)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runWatched(ctx, blocked{}, quiet, quiet); err != nil {
		t.Errorf("got %v when interrupted, want nil", err)
	}
}
