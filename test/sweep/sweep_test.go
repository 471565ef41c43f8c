package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/lab/workload"
)

// committed returns the rows of a table in testdata.
func committed(t *testing.T, name string) []row {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parse(string(table))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := text(rows); got != string(table) {
		t.Errorf("%s: what is read from it is not what it says", name)
	}
	return rows
}

// The lengths that the proxy takes are those that the rule picks.
func TestTheProxyTakesWhatTheRulePicks(t *testing.T) {
	f := func(file string, choose func([]verdict) verdict, shipped fit.Length, rules ...policy.Rule) {
		t.Helper()
		if got := choose(judge(committed(t, file), rules...)); got.length != shipped {
			t.Errorf("%s, %s: the rule picks %+v, internal/admission/fit has %+v", file, name(rules[0]), got.length, shipped)
		}
	}
	f(multiplesFile, chooseMultiple, fit.SecondHit(), rules()[0])
	f(multiplesFile, chooseMultiple, fit.Counting(1), rules()[1:]...)
	f(floorsFile, chooseFloor, fit.SecondHit(), rules()[0])
	f(floorsFile, chooseFloor, fit.Counting(1), rules()[1:]...)
}

// Every length is tried in every cache, or the verdicts would not be comparable.
func TestTheTablesAreWhole(t *testing.T) {
	f := func(file string, models bool, sizes []float64, lengths func(policy.Rule) []fit.Length) {
		t.Helper()
		rows := committed(t, file)
		has := map[string]bool{}
		for i := range rows {
			r := &rows[i]
			has[fmt.Sprint(r.cell, r.length)] = true
		}
		want := 0
		for _, w := range workloads() {
			if w.Model() && !models {
				continue
			}
			for _, share := range sizes {
				for _, stage := range stages() {
					for _, c := range tried(cell{trace: w.Name, share: share, stage: stage}, lengths) {
						want++
						if !has[fmt.Sprint(c.cell, c.length)] {
							t.Errorf("%s: nothing of %s in %g %% of %s, stage %g, under %+v", file, name(c.rule), share, w.Name, stage, c.length)
						}
					}
				}
			}
		}
		if len(rows) != want {
			t.Errorf("%s: got %d rows, want %d", file, len(rows), want)
		}
	}
	f(multiplesFile, true, shares(), multiples)
	f(floorsFile, false, smallShares(), floors)
}

func TestTheRulePicksTheFewestWritesNearTheBest(t *testing.T) {
	at := func(multiple int64, worst, writes float64) verdict {
		return verdict{length: fit.Length{PerObject: multiple, Least: 100 * multiple}, mean: worst / 5, worst: worst, writes: writes}
	}
	far := func(v verdict, mean float64) verdict {
		v.mean = mean
		return v
	}
	f := func(want int64, choose func([]verdict) verdict, tried ...verdict) {
		t.Helper()
		if got := choose(tried); got.length.PerObject != want {
			t.Errorf("got %d, want %d", got.length.PerObject, want)
		}
	}
	f(2, chooseMultiple, far(at(1, 4.6, 0.1), 0.1), far(at(2, 4.5, 0.2), 0.8), at(3, 0, 0.3))
	f(2, chooseMultiple, far(at(1, 2, 0.1), 0.9), at(2, 2, 0.2), at(3, 0, 0.3))
	f(3, chooseMultiple, at(1, 6, 0.1), at(2, 5, 0.2), at(3, 4.7, 0.3))
	f(2, chooseFloor, at(1, 1, 0.1), at(2, 1.5, 0.11), at(3, 1.6, 0.11))
	f(2, chooseFloor, at(1, 1, 0.1), at(2, 1.5, 0.11), at(3, 1, 0.12))
	f(1, chooseFloor, at(1, 3, 0.1), at(2, 2, 0.11), at(3, 1, 0.12))
}

func TestJudgeNamesWhereALengthIsWorst(t *testing.T) {
	short, long := fit.Length{PerObject: 1}, fit.Length{PerObject: 2}
	secondHit, more2 := policy.Rule{Policy: policy.SecondHit}, policy.Rule{Policy: policy.Counting, MoreThan: 2}
	of := func(name string, r policy.Rule, l fit.Length, hits, writes int64) row {
		return row{cell: cell{trace: name, share: 5, rule: r}, length: l, requests: 100, outcome: outcome{hits: hits, writes: writes}}
	}
	got := judge([]row{
		of("a", always, fit.Length{}, 90, 40), of("a", secondHit, short, 50, 10), of("a", secondHit, long, 53, 40),
		of("b", always, fit.Length{}, 10, 90), of("b", secondHit, short, 30, 90), of("b", secondHit, long, 25, 90),
		of("b", more2, long, 99, 1),
	}, secondHit)
	if len(got) != 2 || got[0].worst != 3 || got[0].at.trace != "a" || got[1].worst != 5 || got[1].at.trace != "b" {
		t.Fatalf("got %+v, want 3 points at a, 5 at b", got)
	}
	if got[0].mean != 1.5 || got[1].mean != 2.5 {
		t.Errorf("got %g and %g points in the mean, want 1.5 and 2.5", got[0].mean, got[1].mean)
	}
	if got[0].writes != 0.5 || got[1].writes != 1 {
		t.Errorf("got %g and %g of the writes, want 0.5, the geometric mean of a quarter and all, and 1", got[0].writes, got[1].writes)
	}
}

// made returns requests for objects of 1,000 bytes by their numbers.
func made(objects int, asked ...uint32) requests {
	r := requests{&workload.Requests{Objects: make([]trace.Object, objects), Unique: int64(1000 * objects)}}
	for i := range r.Objects {
		r.Objects[i] = trace.Object{Size: 1000, Hi: uint64(i) * 0x9e3779b97f4a7c15, Lo: uint64(i) * 0xbf58476d1ce4e5b9}
	}
	for _, i := range asked {
		r.Accesses = append(r.Accesses, trace.Access{Object: i})
	}
	return r
}

func TestPlay(t *testing.T) {
	const objects = 400 // each has 1,000 bytes, so a cache of a quarter of their bytes holds some 50 with what entries take
	f := func(name string, r policy.Rule, stage float64, l fit.Length, hits, writes int64, asked ...uint32) {
		t.Helper()
		got, err := made(objects, asked...).play(cell{trace: name, share: 25, stage: stage, rule: r}, l)
		if err != nil || got.hits != hits || got.writes != writes {
			t.Errorf("%s: got %d hits, %d writes and %v, want %d and %d", name, got.hits, got.writes, err, hits, writes)
		}
	}
	secondHit, more4 := policy.Rule{Policy: policy.SecondHit}, policy.Rule{Policy: policy.Counting, MoreThan: 4}
	long := fit.Length{Least: 100, Keys: 1}
	f("all is stored at once", always, 0, long, 1, 2, 0, 1, 0)
	f("the second one is stored", secondHit, 0, long, 1, 1, 0, 1, 0, 0)
	f("the second one is a hit in the stage", secondHit, 10, long, 2, 1, 0, 1, 0, 0)
	f("the fifth one is stored", more4, 0, long, 1, 1, 0, 0, 0, 0, 0, 0)
	f("two generations back is forgotten", secondHit, 0, fit.Length{Least: 2, Keys: 1}, 0, 0, 0, 1, 2, 3, 0)
	f("a generation is full", secondHit, 0, fit.Length{Least: 4, Keys: 0.25}, 0, 0, 0, 1, 0, 1)
	f("one generation back is not", secondHit, 0, fit.Length{Least: 2, Keys: 1}, 1, 1, 0, 1, 2, 0, 0)
	if _, err := made(1, 0).play(cell{trace: "tiny", share: 1, rule: always}, long); err == nil || !strings.Contains(err.Error(), "always in 1 % of tiny") {
		t.Errorf("got %v, want an error for a cache that is too small", err)
	}
}

// Rules of counting are judged together, by the length for each sighting that they wait for.
func TestCountingIsJudgedByWhatItWaitsFor(t *testing.T) {
	of := func(moreThan int, l fit.Length, hits int64) row {
		return row{cell: cell{trace: "a", share: 5, rule: policy.Rule{Policy: policy.Counting, MoreThan: moreThan}}, length: l, requests: 100, outcome: outcome{hits: hits, writes: 1}}
	}
	at := func(multiple int64) fit.Length { return fit.Length{PerObject: multiple, Least: 50 * multiple} }
	got := judge([]row{of(1, at(4), 50), of(1, at(8), 54), of(3, at(12), 42), of(3, at(24), 40)}, rules()[1:]...)
	if len(got) != 2 || got[0].length != at(4) || got[0].mean != 2 || got[1].length != at(8) || got[1].mean != 1 {
		t.Errorf("got %+v, want lengths of 4 and 8 for each", got)
	}
}

func TestCommandLine(t *testing.T) {
	var stdout, stderr bytes.Buffer
	f := func(want int, says string, args ...string) {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := run(t.Context(), args, &stdout, &stderr); got != want || !strings.Contains(stderr.String(), says) || stdout.Len() > 0 {
			t.Errorf("%q: got %d %q %q, want %d and %q", args, got, &stdout, &stderr, want, says)
		}
	}
	f(command.Usage, "--traces must be given")
	f(command.Usage, `unexpected argument "more"`, "--traces", "x", "more")
	f(command.Usage, "not defined", "--trace", "x")
	f(command.Done, "with the traces", "--help")
	f(command.Failed, "adaptsize.tr: no such file", "--traces", t.TempDir())
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	f := func(table, says string) {
		t.Helper()
		if rows, err := parse(table); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v and %v, want an error with %q", table, rows, err, says)
		}
	}
	f("", "columns")
	f("trace\tshare\n", "columns")
	f(columns+"\nadaptsize\t5\n", "line 2")
	f(columns+"\na\t5\t0\talways\t0\t0\t0\t0\t0\t1\t1\t1\t1\na\t5\t0\talways\t0\tx\t0\t0\t0\t1\t1\t1\t1\n", "line 3")
	f(columns+"\na\t5\t0\tsometimes\t0\t0\t0\t0\t0\t1\t1\t1\t1\n", "line 2")
}

// parse reads what text wrote.
func parse(table string) ([]row, error) {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if lines[0] != columns {
		return nil, fmt.Errorf("columns %q: want %q", lines[0], columns)
	}
	var out []row
	for n, line := range lines[1:] {
		var r row
		var rule string
		_, err := fmt.Sscanf(line, "%s\t%g\t%g\t%s\t%d\t%d\t%d\t%g\t%g\t%d\t%d\t%d\t%d", &r.trace, &r.share, &r.stage, &rule, &r.rule.MoreThan,
			&r.length.PerObject, &r.length.Least, &r.length.Distinct, &r.length.Keys, &r.requests, &r.hits, &r.writes, &r.objects)
		if err == nil {
			r.rule.Policy, err = policy.Parse(rule)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, err)
		}
		out = append(out, r)
	}
	return out, nil
}
