package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/fit"
	"edgeproxy/internal/trace"
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
	f := func(file string, policy string, choose func([]verdict) verdict, shipped fit.Length) {
		t.Helper()
		if got := choose(judge(committed(t, file), policy)); got.length != shipped {
			t.Errorf("%s, %s: the rule picks %+v, internal/fit has %+v", file, policy, got.length, shipped)
		}
	}
	f(multiplesFile, secondHit, chooseMultiple, fit.SecondHit())
	f(multiplesFile, counting, chooseMultiple, fit.Counting())
	f(floorsFile, secondHit, chooseFloor, fit.SecondHit())
	f(floorsFile, counting, chooseFloor, fit.Counting())
}

// Every length is tried in every cache, or the verdicts would not be comparable.
func TestTheTablesAreWhole(t *testing.T) {
	f := func(file string, models bool, sizes []float64, lengths func(string) []fit.Length) {
		t.Helper()
		rows := committed(t, file)
		has := map[string]bool{}
		for i := range rows {
			r := &rows[i]
			has[fmt.Sprint(r.cell(), r.length)] = true
		}
		want := 0
		for _, w := range workloads() {
			if w.model && !models {
				continue
			}
			for _, share := range sizes {
				want++
				for _, policy := range []string{secondHit, counting} {
					for _, l := range lengths(policy) {
						want++
						if !has[fmt.Sprint(cell{w.name, share, policy}, l)] {
							t.Errorf("%s: nothing of %s in %g %% of %s under %+v", file, policy, share, w.name, l)
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
		return verdict{length: fit.Length{PerObject: multiple, Least: 100 * multiple}, worst: worst, writes: writes}
	}
	f := func(want int64, choose func([]verdict) verdict, tried ...verdict) {
		t.Helper()
		if got := choose(tried); got.length.PerObject != want {
			t.Errorf("got %d, want %d", got.length.PerObject, want)
		}
	}
	f(2, chooseMultiple, at(1, 2.5, 0.1), at(2, 2, 0.2), at(3, 0, 0.3))
	f(3, chooseMultiple, at(1, 4, 0.1), at(2, 3, 0.2), at(3, 2.5, 0.3))
	f(2, chooseFloor, at(1, 1, 0.1), at(2, 1.25, 0.2), at(3, 1.5, 0.3))
}

func TestJudgeNamesWhereALengthIsWorst(t *testing.T) {
	short, long := fit.Length{PerObject: 1}, fit.Length{PerObject: 2}
	of := func(name, policy string, l fit.Length, hits, writes int64) row {
		return row{trace: name, share: 5, policy: policy, length: l, requests: 100, outcome: outcome{hits: hits, writes: writes}}
	}
	got := judge([]row{
		of("a", always, fit.Length{}, 90, 40), of("a", secondHit, short, 50, 10), of("a", secondHit, long, 53, 40),
		of("b", always, fit.Length{}, 10, 90), of("b", secondHit, short, 30, 90), of("b", secondHit, long, 25, 90),
		of("b", counting, long, 99, 1),
	}, secondHit)
	if len(got) != 2 || got[0].worst != 3 || got[0].at.trace != "a" || got[1].worst != 5 || got[1].at.trace != "b" {
		t.Fatalf("got %+v, want 3 points at a, 5 at b", got)
	}
	if got[0].writes != 0.5 || got[1].writes != 1 {
		t.Errorf("got %g and %g of the writes, want 0.5, the geometric mean of a quarter and all, and 1", got[0].writes, got[1].writes)
	}
}

// made returns requests for objects of 1,000 bytes by their numbers.
func made(objects int, asked ...uint32) *requests {
	r := &requests{objects: make([]trace.Object, objects), unique: int64(1000 * objects)}
	for i := range r.objects {
		r.objects[i].Size = 1000
	}
	for _, i := range asked {
		r.accesses = append(r.accesses, trace.Access{Object: i})
	}
	return r
}

func TestPlay(t *testing.T) {
	const room = 4 * (1000 + fit.EntryBytes) // four objects
	f := func(name, policy string, l fit.Length, hits, writes int64, asked ...uint32) {
		t.Helper()
		got := made(10, asked...).play(room, policy, l)
		if got.hits != hits || got.writes != writes {
			t.Errorf("%s: got %d hits and %d writes, want %d and %d", name, got.hits, got.writes, hits, writes)
		}
	}
	long := fit.Length{Least: 100, Keys: 1}
	f("all is stored at once", always, long, 1, 2, 0, 1, 0)
	f("the least recently used goes", always, long, 2, 6, 0, 1, 2, 3, 0, 4, 0, 1)
	f("the second one is stored", secondHit, long, 1, 1, 0, 1, 0, 0)
	f("the fifth one is stored", counting, long, 1, 1, 0, 0, 0, 0, 0, 0)
	f("two generations back is forgotten", secondHit, fit.Length{Least: 2, Keys: 1}, 0, 0, 0, 1, 2, 3, 0)
	f("a generation is full", secondHit, fit.Length{Least: 4, Keys: 0.25}, 0, 0, 0, 1, 0, 1)
	f("one generation back is not", secondHit, fit.Length{Least: 2, Keys: 1}, 1, 1, 0, 1, 2, 0, 0)
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
	f(exitUsage, "want --traces")
	f(exitUsage, "no arguments", "--traces", "x", "more")
	f(exitUsage, "not defined", "--trace", "x")
	f(exitDone, "with the traces", "--help")
	f(exitFailed, "adaptsize.tr: no such file", "--traces", t.TempDir())
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
	f(columns+"\na\t5\talways\t0\t0\t0\t0\t1\t1\t1\t1\na\t5\talways\tx\t0\t0\t0\t1\t1\t1\t1\n", "line 3")
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
		_, err := fmt.Sscanf(line, "%s\t%g\t%s\t%d\t%d\t%g\t%g\t%d\t%d\t%d\t%d", &r.trace, &r.share, &r.policy, &r.length.PerObject, &r.length.Least, &r.length.Distinct, &r.length.Keys,
			&r.requests, &r.hits, &r.writes, &r.objects)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, err)
		}
		out = append(out, r)
	}
	return out, nil
}
