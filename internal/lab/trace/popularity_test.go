package trace

import (
	"bufio"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// distribution has 60 % of the objects asked for once, 30 % twice and 10 % 200
// times, half of those with 3 kB.
const distribution = "1\n1.0 0.4\n2.5 0.2\n\n2\n0 0.3\n200\n3 0.05\n10000 0.05\n"

func TestPopularityKeepsToItsShares(t *testing.T) {
	path := "popularity:" + write(t, "p", []byte(distribution)) + ",objects=1000,max-count=100,max-size=1MiB"
	f := func(arrivals string, seed uint64) {
		t.Helper()
		tr := makeUp(t, path+",arrivals="+arrivals, Options{Seed: seed})
		want := Facts{
			Requests: 600 + 2*300 + 100*100, Objects: 1000, OneHitObjects: 600,
			UniqueBytes:  400*1000 + 200*2500 + 50*3000 + 50<<20,
			RequestBytes: 400*1000 + 200*2500 + 100*50*3000 + 100*50<<20, EmptyObjects: 300,
		}
		if got := tr.Facts(); got != want {
			t.Errorf("%s: got %+v, want %+v", arrivals, got, want)
		}
		if tr.HasTimes() {
			t.Errorf("%s: want no times", arrivals)
		}
	}
	for seed := range uint64(5) {
		f(arriveEvenly, seed)
		f(arriveInBursts, seed)
	}
}

// TestFewObjectsHaveTheSharesToo: a class gets its share rounded up or down,
// whatever the seed.
func TestFewObjectsHaveTheSharesToo(t *testing.T) {
	path := "popularity:" + write(t, "p", []byte(distribution)) + ",objects=7,max-count=3"
	for seed := range uint64(50) {
		once := 0
		tr := makeUp(t, path, Options{Seed: seed})
		for _, o := range tr.Objects() {
			if o.Size == 1000 || o.Size == 2500 {
				once++
			}
		}
		if once < 4 || once > 5 {
			t.Errorf("seed %d: %d of 7 objects asked for once, want 4 or 5 (4.2)", seed, once)
		}
	}
}

func TestPopularityIsDeterministic(t *testing.T) {
	path := "popularity:" + write(t, "p", []byte(distribution)) + ",objects=200"
	for _, arrivals := range []string{arriveEvenly, arriveInBursts} {
		spec := path + ",arrivals=" + arrivals
		a := plain(t, makeUp(t, spec, Options{Seed: 7}))
		if !cmp.Equal(a, plain(t, makeUp(t, spec+",seed=7", Options{}))) {
			t.Errorf("%s: same seed, other trace", arrivals)
		}
		if cmp.Equal(a, plain(t, makeUp(t, spec, Options{Seed: 8}))) {
			t.Errorf("%s: another seed, the same trace", arrivals)
		}
		if !cmp.Equal(a[:100], plain(t, makeUp(t, spec, Options{Seed: 7, Limit: 100}))) {
			t.Errorf("%s: a limit must give the beginning of the same trace", arrivals)
		}
	}
}

// lives returns the first and the last time of each object, as shares of the
// trace.
func lives(p *popularity) (first, last []float64) {
	requests, _ := p.makeRequests()
	first, last = make([]float64, p.objects), make([]float64, p.objects)
	for i := range first {
		first[i] = 2
	}
	for _, r := range requests {
		at := float64(r.At) / (1 << 62)
		first[r.Object], last[r.Object] = min(first[r.Object], at), max(last[r.Object], at)
	}
	return first, last
}

// TestArrivalsFollowTheirLaw takes 1000 objects of 400 requests each: their
// lives are 0.05·Exp(1)·20, an Exp(1) cut at 1, of which 400 requests show
// 399/401. The mean of min(1, Exp(1)) is 1 − 1/e, its standard deviation 0.34.
func TestArrivalsFollowTheirLaw(t *testing.T) {
	p := &popularity{objects: 1000, arrivals: arriveInBursts, maxCount: 400, maxSize: 1, seed: 3}
	if err := p.read(bufio.NewScanner(strings.NewReader("400\n1 1\n"))); err != nil {
		t.Fatal(err)
	}
	first, last := lives(p)
	var length, slack float64
	whole := 0
	for i := range first {
		if first[i] < 0 || last[i] > 1 {
			t.Fatalf("object %d lives from %v to %v, want within the trace", i, first[i], last[i])
		}
		life := last[i] - first[i]
		length += life / 1000
		slack += first[i] / 1000
		if life > 0.98 {
			whole++
		}
	}
	if want := (1 - 1/math.E) * 399 / 401; math.Abs(length-want) > 5*0.34/math.Sqrt(1000) {
		t.Errorf("mean life %.3f, want %.3f", length, want)
	}
	if share := float64(whole) / 1000; math.Abs(share-math.Exp(-0.98)) > 0.07 {
		t.Errorf("%.3f of the objects live as long as the trace, want about %.3f", share, math.Exp(-1))
	}
	// Births are uniform in what the life leaves: half of 1/e on average, and the
	// first of 400 requests comes 1/401 of the life later.
	if want := (1/math.E)/2 + (1-1/math.E)/401; math.Abs(slack-want) > 0.04 {
		t.Errorf("mean first request at %.3f, want %.3f", slack, want)
	}
	p.arrivals = arriveEvenly
	first, last = lives(p)
	if early, late := slices.Max(first), slices.Min(last); early > 0.05 || late < 0.95 {
		t.Errorf("even: some object lives from %.3f only, or to %.3f", early, late)
	}
}

func TestRequestsOfAnObjectAreSpreadOverItsLife(t *testing.T) {
	const n = 100_000
	p := &popularity{objects: 1, arrivals: arriveEvenly, maxCount: n, maxSize: 1, seed: 3}
	if err := p.read(bufio.NewScanner(strings.NewReader("100000\n1 1\n"))); err != nil {
		t.Fatal(err)
	}
	requests, _ := p.makeRequests()
	worst := 0.0 // Kolmogorov-Smirnov; 1.95/sqrt(n) is passed once in 1000
	for i, r := range requests {
		worst = max(worst, math.Abs(float64(r.At)/(1<<62)-float64(i)/n))
	}
	if worst > 1.95/math.Sqrt(n) {
		t.Errorf("distance from uniform %.5f, want below %.5f", worst, 1.95/math.Sqrt(n))
	}
}

func TestBadDistributionNamesItsLine(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Read(t.Context(), []string{"popularity:" + write(t, "p", []byte(text))}, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	f("", "no shares in it")
	f("1\n2\n", "no shares in it")
	f("1\n1 0\n", "no shares in it")
	f("1 0.5\n", "line 1: a share before the first count")
	f("1\n1 0.5\n0\n", "line 3: must be 1 to")
	f("1.5\n1 0.5\n", "line 1: must be 1 to")
	f("1\n\nx 0.5\n", `line 3: size "x"`)
	f("1\n-1 0.5\n", `line 2: size "-1"`)
	f("1\nNaN 0.5\n", `line 2: size "NaN"`)
	f("1\n1 1.5\n", `line 2: share "1.5"`)
	f("1\n1 NaN\n", `line 2: share "NaN"`)
	f("1\n1 2 3\n", "line 2: must be `count`")
	f("1\n"+strings.Repeat("1", maxLineBytes+1), "token too long")
	f("20000\n1 1\n", "lower objects or max-count")
}
