package trace

import (
	"math"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestRealTraces checks the readers against the facts known of the real files.
// The files are no part of the project; where they are not there, the samples of
// the other tests have to do.
func TestRealTraces(t *testing.T) {
	f := func(file string, want Facts, fivePercent int64, times bool) {
		t.Helper()
		t.Run(file, func(t *testing.T) {
			path := sharedTrace(t, file)
			tr, err := Read(t.Context(), []string{path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer closeTrace(t, tr)
			if got := tr.Facts(); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got := tr.Facts().ChargedBytes() * 5 / 100; got != fivePercent {
				t.Errorf("5 %% of what a cache of all would hold: got %d, want %d", got, fivePercent)
			}
			if tr.HasTimes() != times {
				t.Errorf("HasTimes: got %v, want %v", tr.HasTimes(), times)
			}
		})
	}
	f("adaptsize.tr", Facts{Requests: 66987, Objects: 36815, RequestBytes: 504495684, UniqueBytes: 280431244, OneHitObjects: 29858}, 14_021_562, false)
	f("nasa-1995-08-01.tsv", Facts{Requests: 30297, Objects: 1739, RequestBytes: 553347136, UniqueBytes: 109359310, OneHitObjects: 660, Skipped: 672, EmptyObjects: 8}, 5_467_965, true)
	f("apache-combined-2015.log", Facts{Requests: 9536, Objects: 1387, RequestBytes: 3201524302, UniqueBytes: 561277715, OneHitObjects: 757, Skipped: 464, EmptyObjects: 48}, 28_063_888, true)
}

func TestRealTimes(t *testing.T) {
	f := func(file string, first, last int64) {
		t.Helper()
		path := sharedTrace(t, file)
		tr, err := Read(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closeTrace(t, tr)
		all := accesses(t, tr)
		if from, to := all[0].At, all[len(all)-1].At; from != first*1e9 || to != last*1e9 {
			t.Errorf("%s: got %d to %d, want %d to %d s", file, from/1e9, to/1e9, first, last)
		}
	}
	f("nasa-1995-08-01.tsv", 807256800, 807303121)
	f("apache-combined-2015.log", 1431857103, 1432155959) // 17/May/2015:10:05:03 to 20/May/2015:21:05:59 +0000
}

// TestRealPopularity: 74.3 % of the objects of the production trace were asked
// for once, 91.5 % at most four times.
func TestRealPopularity(t *testing.T) {
	testkit.Plain(t, "one goroutine draws millions of numbers")
	path := sharedTrace(t, "akamai-tc-popularity.txt")
	for _, arrivals := range []string{arriveEvenly, arriveInBursts} {
		tr, err := Read(t.Context(), []string{"popularity:" + path + ",arrivals=" + arrivals}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closeTrace(t, tr)
		f := tr.Facts()
		if share := float64(f.OneHitObjects) / float64(f.Objects); f.Objects != 400_000 || math.Abs(share-0.743) > 0.001 {
			t.Errorf("%s: %d objects, %.4f of them asked for once; want 400000 and 0.743", arrivals, f.Objects, share)
		}
		counts := make([]int, f.Objects)
		err = tr.Each(t.Context(), func(batch []Access) error {
			for _, a := range batch {
				counts[a.Object]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		few := 0
		for _, n := range counts {
			if n <= 4 {
				few++
			}
			if n > 20_000 {
				t.Fatalf("%s: an object is asked for %d times, want at most 20000", arrivals, n)
			}
		}
		if share := float64(few) / float64(f.Objects); math.Abs(share-0.915) > 0.001 {
			t.Errorf("%s: %.4f asked for at most four times, want 0.915", arrivals, share)
		}
	}
}
