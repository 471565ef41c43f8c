package main

import (
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

func TestGeneratorIsDeterministic(t *testing.T) {
	const spec = "objects=500,requests=3000,one-hit=0.3"
	a, err := generate(spec, 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := generate(spec, 7, 0)
	if diff := cmp.Diff(replayed(a), replayed(b)); diff != "" {
		t.Errorf("same seed, other trace:\n%s", diff)
	}
	c, _ := generate(spec, 8, 0)
	d, _ := generate(spec+",seed=8", 7, 0)
	if cmp.Equal(replayed(a), replayed(c)) || !cmp.Equal(replayed(c), replayed(d)) {
		t.Error("another seed must make another trace, and seed= win over --seed")
	}
	short, _ := generate(spec, 7, 1000)
	if got := replayed(short); !cmp.Equal(got, replayed(a)[:1000]) {
		t.Error("--limit must give the beginning of the same trace")
	}
}

func TestGeneratorKeepsToItsShares(t *testing.T) {
	tr, err := generate("objects=50,requests=20000,exponent=0,one-hit=0.25,size=lognormal:10KiB:1:64KiB", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := tr.facts()
	// Each of the 50 is drawn about 300 times, so those asked for once are the one-hit
	// URLs: binomial, sigma 61.
	if f.Requests != 20000 || f.OneHitObjects < 4700 || f.OneHitObjects > 5300 || f.Objects != f.OneHitObjects+50 {
		t.Errorf("got %+v, want about 5000 one-hit objects and 50 others", f)
	}
	var logs, capped float64
	for _, o := range tr.objects {
		logs += math.Log(float64(o.bytes))
		if o.bytes > 64<<10 {
			t.Fatalf("object of %d bytes, over the cap", o.bytes)
		}
		if o.bytes == 64<<10 {
			capped++
		}
	}
	// The cap at 1.83 sigma takes 3.3 % of the objects and 0.03 off the mean logarithm.
	if median := math.Exp(logs / float64(len(tr.objects))); median < 9300 || median > 10600 {
		t.Errorf("geometric mean size %.0f, want about 9900", median)
	}
	if share := capped / float64(len(tr.objects)); share < 0.02 || share > 0.05 {
		t.Errorf("%.3f of the objects at the cap, want about 0.033", share)
	}
}

func TestFixedSizes(t *testing.T) {
	tr, err := generate("objects=10,requests=50,size=fixed:3KB", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range tr.objects {
		if o.bytes != 3000 {
			t.Fatalf("got %d bytes, want 3000", o.bytes)
		}
	}
}

func TestBadGeneratorSettingIsNamed(t *testing.T) {
	f := func(spec, want string) {
		t.Helper()
		if _, err := generate(spec, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", spec, err, want)
		}
	}
	f("objects", `"objects": want KEY=VALUE`)
	f("objects=0", "objects=0: want 1 to")
	f("objects=99999999999", "want 1 to")
	f("requests=x", "requests=x: want 1 to")
	f("exponent=-1", "want 0 to 5")
	f("exponent=NaN", "want 0 to 5")
	f("one-hit=1.5", "want 0 to 1")
	f("seed=-1", "seed=-1")
	f("sizes=1", "unknown key")
	f("size=pareto", "want lognormal")
	f("size=fixed", "want a size")
	f("size=fixed:0", "want a size")
	f("size=lognormal:1KiB:-1", "want 0 to 5")
	f("size=lognormal:1KiB:1:2MiB:9", "at most MEDIAN:SIGMA:CAP")
}

func TestGeneratorIsToldFromAFile(t *testing.T) {
	f := func(arg, spec string, want bool) {
		t.Helper()
		if got, ok := generatorSpec(arg); got != spec && ok || ok != want {
			t.Errorf("%q: got %q, %v; want %q, %v", arg, got, ok, spec, want)
		}
	}
	f("zipf", "", true)
	f("zipf:", "", true)
	f("zipf:seed=1", "seed=1", true)
	f("./zipf", "", false)
	f("zipfian.log", "", false)
}
