package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/test/testkit"
)

// TestMain makes this test binary the bare server when it is started as such.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == bareCommand || len(os.Args) == 3 && os.Args[1] == bareProxyCommand {
		main()
	}
	code := m.Run()
	_ = testkit.RemoveBuilt()
	os.Exit(code)
}

func TestMeasureJudgesByTheLimit(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	program := testkit.Built(t)
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
	f("1000", command.Done, 0)
	f("0.001", command.Failed, 3)
}

func TestPairsJudgeByTheLimit(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	program := testkit.Built(t)
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
	f("1000", "", command.Done, 0, "hit of 1 KiB", "hit of 16 KiB", "miss of 1 KiB", "miss of 16 KiB", "stored miss of 16 KiB on a disk", "hit of 16 KiB on a disk", "hit of 256 KiB on a disk")
	// Works that need a cache filled first are judged as the others are, and take a minute.
	f("0.001", "^hit of (1|16) KiB$|^miss of 1 KiB$", command.Failed, 3, "hit of 1 KiB", "hit of 16 KiB", "miss of 1 KiB")
}

func TestTheLogIsMeasured(t *testing.T) {
	testkit.Alone(t, "it measures CPU time")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"--edgeproxy", testkit.Built(t), "--log", "--rounds", "2", "--round-time", "100ms", "--connections", "4", "--max-ratio", "0.001", "--only", "1 KiB|16 KiB",
	}, &stdout, &stderr)
	if got := strings.Count(stderr.String(), "times that of the base"); code != command.Failed || got != 4 {
		t.Errorf("got exit code %d and %d works above the limit, want %d and 4: %s", code, got, command.Failed, &stderr)
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
		"--edgeproxy", testkit.Built(t), "--peers", "--rounds", "1", "--round-time", "100ms", "--connections", "4",
	}, &stdout, &stderr)
	if code != command.Done {
		t.Fatalf("exit code: got %d, want %d; %s", code, command.Done, &stderr)
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
	code := run(t.Context(), []string{"--edgeproxy", testkit.Built(t), "--many", "12000", "--round-time", "2ms"}, &stdout, &stderr)
	if code != command.Done {
		t.Fatalf("exit code: got %d, want %d; %s", code, command.Done, &stderr)
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
	f(command.Done, "-max-ratio", "--help")
	f(command.Usage, "--rounds 0: must be at least 1", "--rounds", "0")
	f(command.Usage, "--max-ratio 0: must be", "--max-ratio", "0")
	f(command.Usage, "--round-time -1s: must be", "--round-time", "-1s")
	f(command.Usage, "--connections 0: must be", "--connections", "0")
	f(command.Usage, "--peers, --base and --log: must be one of them", "--peers", "--base", "x")
	f(command.Usage, "--peers, --base and --log: must be one of them", "--log", "--peers")
	f(command.Usage, "--only: must be with --peers, --base or --log", "--only", "miss")
	f(command.Usage, "--real-time: must be with --peers or --many", "--real-time")
	f(command.Usage, "--only: error parsing", "--peers", "--only", "(")
	f(command.Usage, `unexpected argument "x"`, "x")
	f(command.Usage, "-what", "--what")
	f(command.Failed, "no such file", "--edgeproxy", filepath.Join(t.TempDir(), "none"))
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

// A choice that no work of the peers has measured nothing, and said nothing.
func TestAChoiceOfNoPeersWorkIsAnError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"--edgeproxy", testkit.Built(t), "--peers", "--only", "dance"}, &stdout, &stderr)
	if code != command.Failed || !strings.Contains(stderr.String(), "--only dance: no work of peers is called so") {
		t.Errorf("got %d, %s", code, &stderr)
	}
}
