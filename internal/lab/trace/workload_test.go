package trace

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestZipfFollowsTheFormula holds the draws against 1/r^s by Pearson's
// chi-square. With 99 degrees of freedom it stays under 99 + 5·sqrt(2·99) = 169
// but for one seed in about 10^5.
func TestZipfFollowsTheFormula(t *testing.T) {
	const n, draws = 100, 200_000
	for _, exponent := range []float64{0, 0.6, 0.9, 1, 1.3, 2} {
		z := newZipf(rand.New(rand.NewPCG(1, 2)), n, exponent)
		var got [n]float64
		for range draws {
			got[z.draw()]++
		}
		var norm, chi2 float64
		for r := range n {
			norm += math.Pow(float64(r+1), -exponent)
		}
		for r := range n {
			want := draws * math.Pow(float64(r+1), -exponent) / norm
			chi2 += (got[r] - want) * (got[r] - want) / want
		}
		if chi2 > 169 || chi2 < 30 {
			t.Errorf("exponent %v: chi-square %.1f, want 30 to 169", exponent, chi2)
		}
	}
}

func TestZipfOfOneRank(t *testing.T) {
	z := newZipf(rand.New(rand.NewPCG(1, 1)), 1, 0.9)
	for range 1000 {
		if got := z.draw(); got != 0 {
			t.Fatalf("got rank %d, want 0", got)
		}
	}
}

// makeUp makes a workload up.
func makeUp(t testing.TB, path string, o Options) *Trace {
	t.Helper()
	o.Keys = true
	tr, err := Read(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTrace(t, tr) })
	return tr
}

func TestWorkloadIsDeterministic(t *testing.T) {
	const spec = "zipf:objects=500,requests=3000,one-hit=0.3"
	a := plain(t, makeUp(t, spec, Options{Seed: 7}))
	if diff := cmp.Diff(a, plain(t, makeUp(t, spec, Options{Seed: 7}))); diff != "" {
		t.Errorf("same seed, other trace:\n%s", diff)
	}
	b, c := plain(t, makeUp(t, spec, Options{Seed: 8})), plain(t, makeUp(t, spec+",seed=8", Options{Seed: 7}))
	if cmp.Equal(a, b) || !cmp.Equal(b, c) {
		t.Error("another seed must make another trace, and seed= win over the option")
	}
	if !cmp.Equal(plain(t, makeUp(t, spec, Options{})), plain(t, makeUp(t, spec, Options{Seed: 1}))) {
		t.Error("without a seed it must be 1")
	}
	if short := plain(t, makeUp(t, spec, Options{Seed: 7, Limit: 1000})); !cmp.Equal(short, a[:1000]) {
		t.Error("a limit must give the beginning of the same trace")
	}
}

// TestWorkloadStaysTheSame: figures measured with a made-up workload hold for
// later versions.
func TestWorkloadStaysTheSame(t *testing.T) {
	f := func(path string, seed, want uint64) {
		t.Helper()
		h := fnv.New64a()
		for _, line := range plain(t, makeUp(t, path, Options{Seed: seed})) {
			fmt.Fprintln(h, line)
		}
		if got := h.Sum64(); got != want {
			t.Errorf("%s with seed %d: got digest %#x, want %#x", path, seed, got, want)
		}
	}
	f("zipf", 1, 0x6c2d996b9670775a)
	f("zipf:", 7, 0x3028072c008d5c56)
	f("zipf:objects=500,requests=3000,one-hit=0.3", 1, 0x1264af42ac872cd3)
	f("zipf:exponent=1.1,size=fixed:3KB,seed=9", 7, 0xaad92313e49370fd)
}

func TestWorkloadKeepsToItsShares(t *testing.T) {
	tr := makeUp(t, "zipf:objects=50,requests=20000,exponent=0,one-hit=0.25,size=lognormal:10KiB:1:64KiB", Options{})
	// Each of the 50 is drawn about 300 times, so those asked for once are the one-hit
	// URLs: binomial, sigma 61.
	if f := tr.Facts(); f.Requests != 20000 || f.OneHitObjects < 4700 || f.OneHitObjects > 5300 || f.Objects != f.OneHitObjects+50 {
		t.Errorf("got %+v, want about 5000 one-hit objects and 50 others", f)
	}
	if tr.HasTimes() {
		t.Error("want no times")
	}
	var logs, capped float64
	for _, o := range tr.Objects() {
		logs += math.Log(float64(o.Size))
		if o.Size > 64<<10 {
			t.Fatalf("object of %d bytes, over the cap", o.Size)
		}
		if o.Size == 64<<10 {
			capped++
		}
	}
	n := float64(len(tr.Objects()))
	// The cap at 1.83 sigma takes 3.3 % of the objects and 0.03 off the mean logarithm.
	if median := math.Exp(logs / n); median < 9300 || median > 10600 {
		t.Errorf("geometric mean size %.0f, want about 9900", median)
	}
	if share := capped / n; share < 0.02 || share > 0.05 {
		t.Errorf("%.3f of the objects at the cap, want about 0.033", share)
	}
}

func TestFixedSizes(t *testing.T) {
	for _, o := range makeUp(t, "zipf:objects=10,requests=50,size=fixed:3KB", Options{}).Objects() {
		if o.Size != 3000 {
			t.Fatalf("got %d bytes, want 3000", o.Size)
		}
	}
}

func TestBadSettingIsNamed(t *testing.T) {
	file := write(t, "p", []byte("1\n1 1\n"))
	f := func(path, want string) {
		t.Helper()
		if _, err := Read(t.Context(), []string{path}, Options{}); err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", path, err, want)
		}
	}
	f("zipf:objects", `"objects": must be KEY=VALUE`)
	f("zipf:objects=0", "objects=0: must be 1 to")
	f("zipf:objects=99999999999", "must be 1 to")
	f("zipf:requests=x", "requests=x: must be 1 to")
	f("zipf:exponent=-1", "must be 0 to 5")
	f("zipf:exponent=NaN", "must be 0 to 5")
	f("zipf:one-hit=1.5", "must be 0 to 1")
	f("zipf:seed=-1", "seed=-1: must be 0 to")
	f("zipf:sizes=1", "unknown key")
	f("zipf:size=pareto", "must be lognormal")
	f("zipf:size=fixed", "must be a size")
	f("zipf:size=fixed:0", "must be a size")
	f("zipf:size=fixed:2TiB", "at most 1 TiB")
	f("zipf:size=lognormal:1KiB:-1", "must be 0 to 5")
	f("zipf:size=lognormal:1KiB:1:2MiB:9", "at most MEDIAN:SIGMA:CAP")
	f("popularity:", "must be popularity:FILE")
	f("popularity:"+file+"none", "no such file")
	f("popularity:"+file+",objects=0", "objects=0: must be 1 to")
	f("popularity:"+file+",arrivals=late", "must be even or bursty")
	f("popularity:"+file+",max-count=0", "must be 1 to")
	f("popularity:"+file+",max-size=0", "must be a size")
	f("popularity:"+file+",seed=x", "must be 0 to")
	f("popularity:"+file+",exponent=1", "unknown key")
}
