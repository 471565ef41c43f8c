package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = testkit.RemoveBuilt()
	os.Exit(code)
}

// otherTraces returns a folder with traces of the usual names and nothing of
// what is claimed of them in it.
func otherTraces(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&b, "%d %d 10000\n", n+1, n%500) // a loop: nothing is hit
	}
	for _, name := range []string{adaptsize, nasa, apache} {
		write(name, b.String())
	}
	write(popularity, "1\n10 0.9\n2\n10 0.1\n")
	return dir
}

func TestWhatDoesNotHoldIsAFailure(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"--edgeproxy", testkit.Built(t), "--traces", otherTraces(t), "--objects", "20000"}, &stdout, &stderr)
	if code != command.Failed || !strings.Contains(stderr.String(), "claims do not hold") {
		t.Errorf("got %d %q, want %d and how many claims do not hold", code, &stderr, command.Failed)
	}
	if got := strings.Count(stdout.String(), "\n## "); got != 4 || !strings.HasPrefix(stdout.String(), "## ") {
		t.Errorf("got %d tables behind the first, want 4:\n%s", got, &stdout)
	}
	for _, want := range []string{
		"to the last digit: **DOES NOT HOLD** (0 of 45)",
		"adaptsize: with a stage of 10 % the hit ratio is above that of always: **DOES NOT HOLD** (+0.00 points)",
		"even arrivals, filters: its byte hit ratio is above that of always: **DOES NOT HOLD**",
		"edgeproxy simulate --exact --policy always,second-hit,counting --capacity 1%,5%,20% --rotate-requests 4c --rotate-keys never,1c --get-only --max-object 1000GiB --eviction lru adaptsize.tr\n",
		"arrivals=bursty,objects=20000\n",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &stdout)
		}
	}
}

func TestWhatCannotBeLookedAtIsAFailure(t *testing.T) {
	var stdout, stderr bytes.Buffer
	program, empty := testkit.Built(t), t.TempDir()
	f := func(want int, says string, args ...string) {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		code := run(t.Context(), args, &stdout, &stderr)
		if code != want || !strings.Contains(stderr.String(), says) || stdout.Len() > 0 {
			t.Errorf("%q: got %d %q %q, want %d and %q", args, code, &stdout, &stderr, want, says)
		}
	}
	f(command.Failed, "adaptsize.tr: no such file", "--edgeproxy", program, "--traces", empty)
	f(command.Failed, "no-such-program", "--edgeproxy", filepath.Join(empty, "no-such-program"), "--traces", empty)
	f(command.Usage, "--traces must be given")
	f(command.Usage, `unexpected argument "more"`, "--traces", empty, "more")
	f(command.Usage, "--objects be at least 1", "--traces", empty, "--objects", "0")
	f(command.Usage, "not defined", "--trace", empty)
	f(command.Done, "with the traces", "--help")
}

func TestFindTakesTheSettingThatIsMeant(t *testing.T) {
	r := &report{command: "the command", Results: []result{
		{Policy: "always", CapacityBytes: 50, Writes: 1},
		{Policy: "second-hit", Rotate: "never", CapacityBytes: 50, Writes: 2},
		{Policy: "second-hit", Rotate: "every 40 requests (4c)", CapacityBytes: 50, Writes: 3},
		{Policy: "second-hit", Rotate: "every 40 requests (4c)", CapacityBytes: 50, StageBytes: 5, Writes: 4},
		{Policy: "second-hit", Rotate: "at 10 keys (1c)", CapacityBytes: 50, Writes: 5},
		{Policy: "always", CapacityBytes: 200, Writes: 6},
	}}
	r.Trace.UniqueBytes = 1000
	f := func(s setting, want int64) {
		t.Helper()
		got, err := r.find(s)
		if err != nil || got.Writes != want {
			t.Errorf("%+v: got %+v, %v, want the one with %d writes", s, got, err, want)
		}
	}
	f(setting{5, "always", "", 0}, 1)
	f(setting{5, "second-hit", never, 0}, 2)
	f(setting{5, "second-hit", byRequests, 0}, 3)
	f(setting{5, "second-hit", byRequests, 10}, 4)
	f(setting{5, "second-hit", byKeys, 0}, 5)
	f(setting{20, "always", "", 0}, 6)
	for _, s := range []setting{{1, "always", "", 0}, {5, "second-hit", byKeys, 1}, {5, "counting", never, 0}, {5, "second-hit", "", 0}} {
		if got, err := r.find(s); err == nil || !strings.Contains(err.Error(), "the command: has no result") {
			t.Errorf("%+v: got %+v and %v, want an error that names the command", s, got, err)
		}
	}
}

// arrivalsReport is a report of always, second-hit and a stage of 10 %.
func arrivalsReport(always, second, staged result) *report {
	always.Policy, second.Policy, staged.Policy = "always", "second-hit", "second-hit"
	second.Rotate, staged.Rotate = "every 100 requests", "every 100 requests"
	staged.StageBytes = 5
	r := &report{Results: []result{always, second, staged}}
	for i := range r.Results {
		r.Results[i].CapacityBytes = 50
	}
	r.Trace.UniqueBytes = 1000
	return r
}

func TestArrivalsHoldUpToTheirBounds(t *testing.T) {
	f := func(arrivals string, secondBytes int64, second, staged float64, want ...bool) {
		t.Helper()
		p := &proof{}
		r := arrivalsReport(
			result{WriteBytes: 1000, ByteHitRatio: 0.80}, result{WriteBytes: secondBytes, ByteHitRatio: second}, result{ByteHitRatio: staged})
		if err := p.claimArrivals(arrivals, "filters", r); err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, c := range p.claims {
			got = append(got, c.holds)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s, %d bytes, %.3f and %.3f: got %v, want %v", arrivals, secondBytes, second, staged, got, want)
		}
	}
	f("even", 559, 0.801, 0, true, true)
	f("even", 561, 0.799, 0, false, false)
	f("bursty", 559, 0.765, 0.786, true, true, true)
	f("bursty", 559, 0.759, 0.784, true, false, false) // more than 4 points, and more than 1.5
	f("bursty", 559, 0.771, 0.790, true, false, true)  // less than 3: then the claim is not what was found
	f("bursty", 900, 0.765, 0.790, false, true, true)
}

func TestComparisonCountsCellsAndKeepsTheWorst(t *testing.T) {
	c := comparison{proof: &proof{}}
	want := reference{31.27, 34.62, 100}
	got := result{CapacityBytes: 50, HitRatio: 0.31274, ByteHitRatio: 0.34616, Writes: 100}
	off := func(change func(r *result)) *result {
		r := got
		change(&r)
		return &r
	}
	c.count(&got, 50, want)
	c.count(off(func(r *result) { r.HitRatio = 0.31276 }), 50, want)
	c.count(off(func(r *result) { r.ByteHitRatio = 0.34614 }), 50, want)
	c.count(off(func(r *result) { r.Writes++ }), 50, want)
	c.count(off(func(r *result) { r.CapacityBytes++ }), 50, want)
	if c.same != 1 || c.cells != 5 {
		t.Errorf("got %d of %d cells the same, want 1 of 5", c.same, c.cells)
	}
	always := reference{writes: 1000}
	c.measure(off(func(r *result) { r.Writes += 8 }), &got, always)
	c.measure(off(func(r *result) { r.Writes -= 9; r.HitRatio -= 0.002 }), &got, always)
	if c.writes != 0.009 || c.hits < 0.19 || c.hits > 0.21 {
		t.Errorf("got %v of the stores and %v points at most, want 0.009 and 0.2", c.writes, c.hits)
	}
}

func TestProofIsWrittenAsMarkdown(t *testing.T) {
	p := newProof("A title", "a", "b")
	p.commands, p.notes = []string{"one", "two"}, []string{"A note."}
	p.row("1", "2")
	p.claim("it is so", true, "%d of %d", 1, 1)
	p.claim("it is otherwise", false, "not")
	var b bytes.Buffer
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	want := "## A title\n\n```sh\none\ntwo\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nA note.\n\n" +
		"- it is so: **holds** (1 of 1)\n- it is otherwise: **DOES NOT HOLD** (not)\n\n"
	if b.String() != want || p.failures() != 1 {
		t.Errorf("got %q and %d failures, want %q and 1", b.String(), p.failures(), want)
	}
}

func TestEachTraceHasItsReferenceValues(t *testing.T) {
	for _, r := range traces() {
		for i, v := range r.rows {
			if share := []int64{1, 5, 20}[i]; len(r.rows) != 3 || v.share != share || v.capacity == 0 || v.always.hits == 0 || v.counting.writes == 0 || v.stage10.writes >= 0 {
				t.Errorf("%s: got %+v, want the values of %d %% in the place %d of 3", r.name, v, share, i)
			}
		}
	}
	v := traces()[1].rows[2]
	if v.capacity != 21_871_863 || v.requests != (reference{86.67, 54.97, 938}) || v.stage1 != (staged{87.05, 55.51, -77.3}) {
		t.Errorf("got %+v", v)
	}
}
