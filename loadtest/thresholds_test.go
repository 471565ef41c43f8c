package main

import (
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/test/testkit"
)

// What simulate says of the requests that are sent stands beside what was measured of each policy.
func TestWhatSimulateForetellsStandsBesideWhatWasMeasured(t *testing.T) {
	testkit.Slow(t, "it starts a proxy for each of several runs")
	code, doc, stderr := runJSON(t, "--policies", "second-hit", "--disk", "16MiB")
	if code != command.Done {
		t.Fatalf("exit %d, want 0: %s", code, stderr)
	}
	for i := range doc.Results {
		r := &doc.Results[i]
		want := forecast{ByteHitRatio: 0.875, Writes: 9, WriteBytes: 5*2097152 + 4*20000, DeviceBytes: int64(len(r.Policy)) << 20}
		if r.Foretold == nil || *r.Foretold != want {
			t.Errorf("%s: got %+v, want %+v", r.Policy, r.Foretold, want)
		}
	}
	if doc.Bars != nil {
		t.Errorf("got bars %q, want none: nobody has asked", doc.Bars)
	}
	code, stdout, stderr := runDriver(t, "", "--policies", "second-hit", "--disk", "16MiB")
	if code != command.Done || !strings.Contains(stdout, "forecast: byte hits  to disk") || !strings.Contains(stdout, "87.50%   10 MiB  -66.67%") {
		t.Errorf("exit %d, want a column of what was foretold:\n%s%s", code, stdout, stderr)
	}
	if code, doc, _ := runJSON(t, "--policies", "second-hit"); code != command.Done || doc.Results[0].Foretold != nil {
		t.Errorf("without a disk: exit %d, got %+v, want nothing foretold", code, doc.Results[0].Foretold)
	}
	if _, doc, _ := runJSON(t, "--policies", "second-hit", "--disk", "16MiB", "--filter-capacity", "100"); doc.Results[0].Foretold != nil {
		t.Errorf("of a window that is not edgeproxy's own: got %+v, want nothing foretold", doc.Results[0].Foretold)
	}
}

func TestBarsThatDoNotHoldFailTheRun(t *testing.T) {
	testkit.Slow(t, "it starts a proxy for each of several runs")
	testkit.Plain(t, "most of the time is the start of processes, and the detector watches the driver elsewhere")
	f := func(fault string, code int, want string, args ...string) {
		t.Helper()
		got, stdout, stderr := runDriver(t, fault, append([]string{"--policies", "second-hit", "--disk", "16MiB"}, args...)...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%v: exit %d, want %d and %q:\n%s%s", args, got, code, want, stdout, stderr)
		}
	}
	// The trace has 10,565,760 bytes; always answers 4 times 2 MiB and 20,000 bytes from the cache, second-hit 3 times 2 MiB.
	f("", command.Done, "byte hits of always are 79.58%, the forecast is 87.50%, a difference of -7.92 points, it must be at most 30.00: holds", "--max-off", "0.3")
	f("", command.Failed, "byte hits of second-hit are 59.55%, the forecast is 87.50%, a difference of -27.95 points, it must be at most 20.00", "--max-off", "0.2")
	f("", command.Failed, "1 of 2 bars do not hold", "--max-off", "0.2")
	f("", command.Failed, "byte hits of second-hit are 59.55%, of always 79.58%, it must be at most 0.00 points less: DOES NOT HOLD", "--max-loss", "0")
	f("", command.Done, "it must be at most 25.00 points less: holds", "--max-loss", "0.25")
	f("refuse", command.Failed, "these flags are not liked")
}

func TestBytesToTheDiskAreHeldToTheirBar(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	f := func(always, second *int64, want string, holds bool) {
		t.Helper()
		less := 0.44
		d := &document{Results: []result{{Policy: policyAlways, DeviceBytes: always}, {Policy: policySecondHit, DeviceBytes: second}}}
		got := thresholds{minLess: &less}.check(d)
		if len(got) != 1 || got[0].holds != holds || !strings.Contains(got[0].text, want) || (missedThresholds(got) == nil) != holds {
			t.Errorf("got %v, want %q, and that it holds: %v", got, want, holds)
		}
	}
	f(n(100<<20), n(55<<20), "second-hit wrote 55 MiB to the disk, always 100 MiB, which is 45.00% less, it must be at least 44.00%", true)
	f(n(100<<20), n(57<<20), "43.00% less", false)
	f(n(100<<20), nil, "does not report", false)
	f(n(0), n(0), "does not report", false)
}

func TestSimulateIsAskedAboutWhatIsSet(t *testing.T) {
	p, err := newPlan(parse(t, "--capacity", "4MiB", "--disk", "32MiB", "--stage", "1MiB", "--policies", "second-hit,counting", "--more-than", "2"), objects(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	const want = "simulate --json --format seq --capacity 4194304B --disk 33554432B --window auto --policy always,second-hit,counting --stage 1048576B --more-than 2 -"
	if got := p.simulateArgs(); !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("got %q, want %q", got, want)
	}
}
