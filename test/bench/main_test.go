package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// TestMain makes this test binary the bare server when it is started as such.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == bareCommand || len(os.Args) == 3 && os.Args[1] == bareProxyCommand {
		main()
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the program, built once for all tests of this process.
var built struct {
	once         sync.Once
	dir, program string
	err          error
}

// edgeproxy returns the built program. The test cache does not see what go build
// reads, and would go on saying ok after a change; so the source is walked here.
func edgeproxy(t *testing.T) string {
	t.Helper()
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program does the work")
	for _, dir := range []string{"cmd", "config", "internal"} {
		err := fs.WalkDir(os.DirFS("../.."), dir, func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "bench-"); built.err == nil {
			built.program, built.err = buildEdge(context.Background(), built.dir)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.program
}

func TestMeasureJudgesByTheLimit(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	program := edgeproxy(t)
	f := func(limit string, wantCode int, wantFailures int) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{
			"--edgeproxy", program, "--rounds", "1", "--round-time", "100ms", "--connections", "4", "--max-ratio", limit,
		}, &stdout, &stderr)
		if code != wantCode {
			t.Errorf("limit %s: exit code: got %d, want %d; %s", limit, code, wantCode, &stderr)
		}
		for _, size := range []string{"1 KiB", "16 KiB", "256 KiB"} {
			if !strings.Contains(stdout.String(), size) {
				t.Errorf("limit %s: no %s in the table:\n%s", limit, size, &stdout)
			}
		}
		if got := strings.Count(stderr.String(), "times the bare handler"); got != wantFailures {
			t.Errorf("limit %s: sizes that are too dear: got %d, want %d: %s", limit, got, wantFailures, &stderr)
		}
	}
	f("1000", exitDone, 0)
	f("0.001", exitFailed, 3)
}

func TestPairsJudgeByTheLimit(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	program := edgeproxy(t)
	f := func(limit, only string, wantCode, wantFailures int, works ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{
			"--edgeproxy", program, "--base", program, "--rounds", "2", "--round-time", "200ms", "--connections", "4", "--max-ratio", limit, "--only", only,
		}, &stdout, &stderr)
		if code != wantCode {
			t.Errorf("limit %s: exit code: got %d, want %d; %s", limit, code, wantCode, &stderr)
		}
		for _, want := range append(works, "2 pairs") {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("limit %s: no %s in the table:\n%s", limit, want, &stdout)
			}
		}
		if got := strings.Count(stderr.String(), "times that of the base"); got != wantFailures {
			t.Errorf("limit %s: sizes that are too dear: got %d, want %d: %s", limit, got, wantFailures, &stderr)
		}
	}
	f("1000", "", exitDone, 0, "hit of 1 KiB", "hit of 16 KiB", "miss of 1 KiB", "miss of 16 KiB", "stored miss of 16 KiB on a disk", "hit of 16 KiB on a disk", "hit of 256 KiB on a disk")
	// Works that need a cache filled first are judged as the others are, and take a minute.
	f("0.001", "^hit of (1|16) KiB$|^miss of 1 KiB$", exitFailed, 3, "hit of 1 KiB", "hit of 16 KiB", "miss of 1 KiB")
}

func TestTheLogIsMeasured(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"--edgeproxy", edgeproxy(t), "--log", "--rounds", "2", "--round-time", "100ms", "--connections", "4", "--max-ratio", "0.001", "--only", "1 KiB|16 KiB",
	}, &stdout, &stderr)
	if got := strings.Count(stderr.String(), "times that of the base"); code != exitFailed || got != 4 {
		t.Errorf("got exit code %d and %d works above the limit, want %d and 4: %s", code, got, exitFailed, &stderr)
	}
	for _, want := range []string{"2 pairs", "hit of 1 KiB, a line in json", "hit of 16 KiB, a line in combined"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %s in the table:\n%s", want, &stdout)
		}
	}
}

// TestPeersAreMeasured: whatever is installed has its lines in the table, and what is not is named.
func TestPeersAreMeasured(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"--edgeproxy", edgeproxy(t), "--peers", "--rounds", "1", "--round-time", "100ms", "--connections", "4",
	}, &stdout, &stderr)
	if code != exitDone {
		t.Fatalf("exit code: got %d, want %d; %s", code, exitDone, &stderr)
	}
	table, absent, _ := strings.Cut(stdout.String(), "Not installed")
	count := func(what string) (lines int) {
		for line := range strings.Lines(table) {
			if strings.Contains(line, "  "+what) {
				lines++
			}
		}
		return lines
	}
	for what, want := range map[string]int{"bare handler ": 4, "bare proxy ": 2, "HAProxy ": 6, "Varnish ": 5, "Varnish, file ": 2, "nginx ": 16, "nginx, min_uses 2 ": 1} {
		if strings.Contains(absent, strings.TrimSpace(strings.Split(what, ",")[0])) {
			want = 0
		}
		if what == "nginx " && want > 0 && strings.Contains(absent, "h2load") {
			want--
		}
		if got := count(what); got != want {
			t.Errorf("%s: got %d lines, want %d; %s\n%s", what, got, want, absent, table)
		}
	}
}

// TestManyObjectsAreMeasured: each size has its row, and the last evicts.
func TestManyObjectsAreMeasured(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"--edgeproxy", edgeproxy(t), "--many", "12000", "--round-time", "2ms"}, &stdout, &stderr)
	if code != exitDone {
		t.Fatalf("exit code: got %d, want %d; %s", code, exitDone, &stderr)
	}
	if rows := strings.Count(stdout.String(), " MiB "); rows != 4 || !strings.Contains(stdout.String(), "10000") || !strings.Contains(stdout.String(), "12000") {
		t.Errorf("got %d rows, want 4, of 10,000 and 12,000 objects, of a full cache, and of one that is collected:\n%s", rows, &stdout)
	}
}

// TestCollected reads lines of gctrace.
func TestCollected(t *testing.T) {
	var g gcTrace
	for _, part := range []string{"gc 1 @0.018s 1%: 0.017+1.1+0.004 ms clock, 0.5+0.25/1.0/9.9+0.25 ms cpu, 4->4->", "1 MB, 4 MB goal\nscvg: 8 ms cpu,\n", "gc 2 @1s 0%: 1+1+1 ms clock, 1+0/0/7+1 ms cpu, 4\n"} {
		if n, err := g.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if got := g.total(); got != 4*time.Millisecond {
		t.Errorf("got %v, want 4ms without the idle time", got)
	}
	if got := g.count(); got != 2 {
		t.Errorf("got %d collections, want 2", got)
	}
}

// TestRank compares with the tables of the sign test.
func TestRank(t *testing.T) {
	for n, want := range map[int]int{1: 1, 5: 1, 6: 1, 8: 1, 9: 2, 12: 3, 15: 4, 20: 6, 21: 6, 24: 7, 25: 8, 30: 10, 40: 14, 41: 14, 100: 40} {
		if got := rank(n); got != want {
			t.Errorf("%d values: got %d, want %d", n, got, want)
		}
	}
	var c comparison
	for i := range 20 {
		c.pairs = append(c.pairs, pair{edge: float64(20 - i), bare: 1})
	}
	if low, high := c.interval(); low != 6 || high != 15 {
		t.Errorf("got %v to %v, want 6 to 15", low, high)
	}
}

func TestUsage(t *testing.T) {
	f := func(want int, wantText string, args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		if code := run(t.Context(), args, &bytes.Buffer{}, &stderr); code != want {
			t.Errorf("%q: exit code: got %d, want %d", args, code, want)
		}
		if !strings.Contains(stderr.String(), wantText) {
			t.Errorf("%q: got %q, want %q in it", args, &stderr, wantText)
		}
	}
	f(exitDone, "-max-ratio", "--help")
	f(exitUsage, "--rounds 0: want at least 1", "--rounds", "0")
	f(exitUsage, "--max-ratio 0: want", "--max-ratio", "0")
	f(exitUsage, "--round-time -1s: want", "--round-time", "-1s")
	f(exitUsage, "--connections 0: want", "--connections", "0")
	f(exitUsage, "--peers, --base and --log: want one of them", "--peers", "--base", "x")
	f(exitUsage, "--peers, --base and --log: want one of them", "--log", "--peers")
	f(exitUsage, "--only: wants --peers, --base or --log", "--only", "miss")
	f(exitUsage, "--real-time: wants --peers or --many", "--real-time")
	f(exitUsage, "--only: error parsing", "--peers", "--only", "(")
	f(exitUsage, `unexpected argument "x"`, "x")
	f(exitUsage, "-what", "--what")
	f(exitFailed, "no such file", "--edgeproxy", filepath.Join(t.TempDir(), "none"))
}

func TestMedianAndRatio(t *testing.T) {
	// The middle ratio is 1.2: not that of the medians, 2/2.
	c := comparison{size: 1 << 10, pairs: []pair{{2, 1}, {6, 5}, {1, 2}}}
	if got := c.ratio(); got != 1.2 {
		t.Errorf("ratio: got %v, want 1.2", got)
	}
	if low, high := c.extremes(); low != 0.5 || high != 2 {
		t.Errorf("extremes: got %v and %v, want 0.5 and 2", low, high)
	}
	even := comparison{pairs: []pair{{1, 1}, {3, 1}, {2, 1}, {9, 1}}}
	if got := even.ratio(); got != 2.5 {
		t.Errorf("ratio of an even number: got %v, want 2.5", got)
	}
	o := options{maxRatio: 1.2}
	if err := o.judge([]comparison{c}); err != nil {
		t.Errorf("judge at the limit: got %v, want nil", err)
	}
	o.maxRatio = 1.19
	if err := o.judge([]comparison{c}); err == nil || !strings.Contains(err.Error(), "a hit of 1 KiB costs 1.20 times") {
		t.Errorf("judge above the limit: got %v", err)
	}
}

func TestParseSchedstat(t *testing.T) {
	f := func(text string, want time.Duration, wantOK bool) {
		t.Helper()
		got, err := parseSchedstat(text)
		if (err == nil) != wantOK || got != want {
			t.Errorf("%q: got %v, error %v, want %v, ok %t", text, got, err, want, wantOK)
		}
	}
	f("1158458 12 3\n", 1158458, true)
	f("x 12 3", 0, false)
	f("1 2", 0, false)
	f("", 0, false)
}

// A choice that no work of the peers has measured nothing, and said nothing.
func TestAChoiceOfNoPeersWorkIsAnError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"--edgeproxy", edgeproxy(t), "--peers", "--only", "dance"}, &stdout, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "--only dance: no work of peers is called so") {
		t.Errorf("got %d, %s", code, &stderr)
	}
}
