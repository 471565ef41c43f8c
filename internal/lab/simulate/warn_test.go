package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
)

// fromText reads a log with one line for each.
func fromText(t *testing.T, lines ...string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(t.Context(), []string{"-"}, trace.Options{Input: strings.NewReader(strings.Join(lines, "\n"))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func TestWarningsNameWhatMakesTheFiguresLess(t *testing.T) {
	f := func(name string, tr *trace.Trace, capacity Amount, want ...string) {
		t.Helper()
		g := Grid{Policies: []admission.Policy{admission.Always}, Capacities: []Amount{capacity}}
		r := replayed(t, tr, g)
		report := text(t, r, "log")
		for _, w := range want {
			if !strings.Contains(report, "\nwarning   "+w) || !strings.Contains(r.Page("log").Lead, "Warning: "+w) {
				t.Errorf("%s: got\n%s\nwant %q there and on the page", name, report, w)
			}
		}
		if len(r.Warnings) != len(want) {
			t.Errorf("%s: got %q, want %d warnings", name, r.Warnings, len(want))
		}
	}
	all := Amount{Percent: 400} // whose quarter all fits into
	half := []string{"url,bytes,status", "a,100,200", "a,100,200", "b,1,404", "b,1,404"}
	f("half is used", fromText(t, half...), all)
	f("less is used", fromText(t, append(half, "c,100")...), all,
		"3 of 5 lines were not used (1 bad, 2 skipped): only a GET or HEAD that was answered with 200 or 304 counts")
	f("one object, and nothing fits", fromText(t, "1 a 1000", "2 a 1000"), Amount{Percent: 5},
		"at 50 B, lru, more than half of what the origin sent was too large to be stored: objects up to 12 B are")
	f("one object, and a quarter is less than it", fromText(t, "1 a 1000", "2 a 1000"), Amount{Percent: 399},
		"at 3.9 KiB, lru, more than half of what the origin sent was too large to be stored: objects up to 997 B are")

	var odd []string
	for i := range 200 {
		odd = append(odd, fmt.Sprintf("a,100,%d", 1_700_000_000+i))
	}
	odd[100] = "a,100,4000000000"
	f("odd times", fromText(t, append([]string{"url,bytes,time"}, odd...)...), all,
		"1 line had a time over an hour before or 30 days after the lines around it")
}

// TestALogWithoutSizesWasRecommendedOneByte: a log whose sizes were not found had max_object_bytes: 1B recommended, and no word of that.
func TestALogWithoutSizesWasRecommendedOneByte(t *testing.T) {
	f := func(name string, empty, whole int, want bool) {
		t.Helper()
		lines := make([]string, 0, 4000)
		for i := range 4000 {
			id, size := i*i%(empty+whole), 0
			if id >= empty {
				size = 100_000
			}
			lines = append(lines, fmt.Sprintf("%d %d %d", i, id, size))
		}
		tr := fromText(t, lines...)
		r := replayed(t, tr, Grid{Policies: []admission.Policy{admission.Always}, Capacities: []Amount{{Bytes: 100}, {Percent: 100}}})
		warned := slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "objects have the size 0: ") })
		refused := len(r.Unadvised) == len(r.Groups) && strings.Contains(r.Unadvised[0].Why, "nearly all objects have the size 0")
		if warned != want || refused != want || want && len(r.Advice) > 0 {
			t.Errorf("%s: got warnings %q, %d recommendations, %+v not given; want a warning and none: %v", name, r.Warnings, len(r.Advice), r.Unadvised, want)
		}
	}
	f("all", 997, 0, true)
	f("nearly all", 950, 47, true)
	f("many", 500, 497, false)
	f("none", 0, 997, false)
}

// A count of one is written in the singular.
func TestOneIsNotCalledMany(t *testing.T) {
	r := replayed(t, fromText(t, "1 a 1000"), Grid{Capacities: []Amount{{Bytes: 1000}}, Policies: []admission.Policy{admission.Always}})
	got := text(t, r, "log")
	for _, want := range []string{"1 request for 1 object, 100.00% of them", "1c = 1 object of mean size", "there are 1 of 2,500 requests", "0 bad lines"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}

// Capacities in percent charge an empty object a byte, as the cache does; what is
// said of the log is what was sent.
func TestEmptyObjectsAreChargedInTheCapacityAlone(t *testing.T) {
	r := replayed(t, fromText(t, "1 a 0", "2 b 0", "3 c 98", "4 a 0"), Grid{Policies: []admission.Policy{admission.Always}, Capacities: []Amount{{Percent: 100}}, MaxObjects: []int64{100}})
	g := r.Groups[0]
	if g.CapacityBytes != 100 || g.CachedObjects != 3 || r.Trace.UniqueBytes != 98 || r.Trace.RequestBytes != 98 {
		t.Errorf("got a capacity of %d, C = %d and %+v, want 100, 3 and 98 bytes", g.CapacityBytes, g.CachedObjects, r.Trace)
	}
	if a := g.Results[0]; a.Writes != 3 || a.WriteBytes != 98 || a.Hits != 1 {
		t.Errorf("got %+v, want 3 writes of 98 bytes and a hit", a)
	}
}
