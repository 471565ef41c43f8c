package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/admission/size"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
)

// runSizeWith runs the command in this process.
func runSizeWith(t *testing.T, args ...string) finished {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), append([]string{"size"}, args...), &stdout, &stderr)
	return finished{code, stdout.String(), stderr.String()}
}

// sized returns the answer as JSON.
func sized(t *testing.T, args ...string) sizeDocument {
	t.Helper()
	got := runSizeWith(t, append(args, "--json")...)
	if got.code != exitDone || got.stderr != "" {
		t.Fatalf("size %q: got %d %q", args, got.code, got.stderr)
	}
	var d sizeDocument
	in := json.NewDecoder(strings.NewReader(got.stdout))
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		t.Fatalf("size %q: %v in\n%s", args, err, got.stdout)
	}
	if in.More() {
		t.Errorf("size %q: got more than one document:\n%s", args, got.stdout)
	}
	return d
}

// entry returns the entry of one layout.
func (d sizeDocument) entry(t *testing.T, layout string) sizeEntry {
	t.Helper()
	for _, e := range d.Results {
		if e.Layout == layout && e.Filter != nil && e.Window != nil {
			return e
		}
	}
	t.Fatalf("no solution for %s in %+v", layout, d)
	return sizeEntry{}
}

// sizeNear compares a figure with one of the literature.
func sizeNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestSizeGivesTheFiguresOfTheLiterature(t *testing.T) {
	d := sized(t, "--keys", "1M", "--false-positive-rate", "1%")
	textbook := d.entry(t, "textbook")
	if textbook.Filter.Hashes != 7 {
		t.Errorf("hashes at 1 %%: got %d, want 7", textbook.Filter.Hashes)
	}
	sizeNear(t, "bits a key at 1 %, a whole number of hashes", textbook.Filter.BitsPerKey, 9.593, 0.001)
	sizeNear(t, "split block at 1 %", d.entry(t, "split-block").Filter.BitsPerKey, 10.5, 0.05)
	sizeNear(t, "partitioned, bits more than one array", float64(d.entry(t, "partitioned").Filter.Bits-textbook.Filter.Bits), 3.5, 3.5)
	if got := runSizeWith(t, "--keys", "1M", "--false-positive-rate", "1%"); !strings.Contains(got.stdout, "at 1 %: 9.585 bits/key, with 6.64 hashes.") {
		t.Errorf("got\n%s\nwant the bound of 9.585 bits a key", got.stdout)
	}

	// 30 rows of 2.5 million bits for 5 million keys: (1 - e^-2)^30.
	rows := sized(t, "--keys", "5M", "--bits", "75M", "--hashes", "30", "--layout", "partitioned").entry(t, "partitioned")
	sizeNear(t, "30 rows of n/2 bits", rows.Filter.Rate, 0.0127477, 1e-6)
	// 27 million bits, 30 rows of 900,000, are 3.375 MB.
	if got := sized(t, "--keys", "1M", "--bits", "27M", "--hashes", "30").entry(t, "partitioned").Filter.MemoryBytes; got != 3_375_000 {
		t.Errorf("30 rows of 900,000 bits: got %d bytes, want 3375000", got)
	}
	// One bit for each half key and one hash: 1 - e^(-1/2).
	one := sized(t, "--keys", "1M", "--bits", "2M", "--hashes", "1").entry(t, "textbook")
	sizeNear(t, "one hash, 2 bits a key", one.Filter.Rate, 0.3935, 0.00005)
}

// Bits for each key of the guaranteed window at a peak of 1 %.
func TestSizeOfTheWindow(t *testing.T) {
	f := func(generations string, textbook, block float64) {
		t.Helper()
		d := sized(t, "--keys", "1M", "--false-positive-rate", "0.01", "--generations", generations)
		sizeNear(t, generations+" generations, textbook", d.entry(t, "textbook").Window.BitsPerKey, textbook, 0.06)
		sizeNear(t, generations+" generations, split block", d.entry(t, "split-block").Window.BitsPerKey, block, 0.06)
		for _, e := range d.Results {
			w := e.Window
			sizeNear(t, e.Layout+", peak", w.Peak, 0.01, 0.0001)
			if !(w.Generation.Rate < w.Mean && w.Mean < w.Peak) {
				t.Errorf("%s: got a mean of %v, want it between one generation's %v and the peak %v", e.Layout, w.Mean, w.Generation.Rate, w.Peak)
			}
			if g := uint64(d.Generations); w.Guaranteed != (g-1)*1_000_000 || w.Most != g*1_000_000 {
				t.Errorf("%s, %d generations: got a window of %d to %d keys", e.Layout, g, w.Guaranteed, w.Most)
			}
			if want := uint64(d.Generations) * w.Generation.MemoryBytes; w.MemoryBytes != want {
				t.Errorf("%s: got %d bytes, want %d", e.Layout, w.MemoryBytes, want)
			}
		}
	}

	f("2", 22.1, 24.4)
	f("3", 17.8, 19.9)
	f("4", 16.6, 18.7)
}

// Whatever two figures are given, the third is the one that belongs to them.
func TestSizeAgreesWithItselfInEveryDirection(t *testing.T) {
	f := func(keys uint64, rate float64, layout string, extra ...string) {
		t.Helper()
		ask := func(args ...string) sizeEntry {
			return sized(t, append(append(args, "--layout", layout), extra...)...).entry(t, layout)
		}
		n, p := fmt.Sprint(keys), fmt.Sprint(rate)
		start := ask("--keys", n, "--false-positive-rate", p)

		check := func(what string, bits uint64, part func(sizeEntry) (sizeFilter, float64)) {
			t.Helper()
			m := fmt.Sprint(bits)
			full, got := part(ask("--keys", n, "--bits", m))
			if !(got <= rate && got >= rate*0.99) || full.Keys != keys {
				t.Errorf("%s %s: %s keys in %s bits: got the rate %v, want %s", layout, what, n, m, got, p)
			}
			full, got = part(ask("--false-positive-rate", p, "--bits", m))
			if !(got <= rate*(1+1e-9)) || full.Keys < keys || float64(full.Keys) > 1.001*float64(keys)+1 {
				t.Errorf("%s %s: %s in %s bits: got %d keys at %v, want %s", layout, what, p, m, full.Keys, got, n)
			}
		}
		check("filter", start.Filter.Bits, func(e sizeEntry) (sizeFilter, float64) { return *e.Filter, e.Filter.Rate })
		check("window", start.Window.Generation.Bits, func(e sizeEntry) (sizeFilter, float64) { return e.Window.Generation, e.Window.Peak })
	}

	for _, l := range size.Layouts() {
		f(1_000_000, 0.01, l.Name)
		f(250_000, 0.001, l.Name, "--generations", "3")
		f(200_000, 0.2, l.Name, "--generations", "4")
	}
	f(1_000_000, 0.01, "textbook", "--hashes", "4")
	f(1_000_000, 0.01, "partitioned", "--hashes", "12")
}

// --memory is for everything, --bits for one.
func TestSizeSharesTheMemoryAmongGenerations(t *testing.T) {
	d := sized(t, "--keys", "1M", "--memory", "4MiB", "--generations", "4")
	for _, e := range d.Results {
		if e.Filter.MemoryBytes > 4<<20 || e.Filter.MemoryBytes < 4<<20-64 {
			t.Errorf("%s: one filter: got %d bytes, want 4 MiB", e.Layout, e.Filter.MemoryBytes)
		}
		if e.Window.MemoryBytes > 4<<20 || e.Window.MemoryBytes < 4<<20-4*64 {
			t.Errorf("%s: window: got %d bytes, want 4 MiB", e.Layout, e.Window.MemoryBytes)
		}
	}
	d = sized(t, "--keys", "1M", "--bits", "1MiB", "--generations", "4")
	if got := d.entry(t, "textbook"); got.Filter.Bits != 8<<20 || got.Window.Generation.Bits != 8<<20 {
		t.Errorf("--bits 1MiB: got %d and %d bits, want %d in both", got.Filter.Bits, got.Window.Generation.Bits, 8<<20)
	}
}

func TestSizeSaysWhatItWants(t *testing.T) {
	f := func(says string, args ...string) {
		t.Helper()
		got := runSizeWith(t, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, says) || got.stdout != "" {
			t.Errorf("size %q: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, exitUsage, says)
		}
	}

	f("size wants two of --keys, --false-positive-rate and --memory (or --bits)")
	f("size wants two of --keys", "--hashes", "3")
	f("--keys alone: size wants two of the three, so add --false-positive-rate, or --bits or --memory", "--keys", "5")
	f("--false-positive-rate alone: size wants two of the three, so add --keys, or --bits or --memory", "--false-positive-rate", "5%")
	f("--bits or --memory alone: size wants two of the three, so add --keys, or --false-positive-rate", "--memory", "5MiB")
	f("any two make the third, so leave one out", "--keys", "5", "--false-positive-rate", "5%", "--bits", "5")
	f("--bits and --memory both give the memory", "--keys", "5", "--memory", "5MiB", "--bits", "5")
	f(`--keys: "0": must be a whole number above 0`, "--keys", "0", "--false-positive-rate", "1%")
	f(`--keys: "1.5": must be a whole number above 0`, "--keys", "1.5", "--false-positive-rate", "1%")
	f(`--keys: "many": must be a whole number, such as 1000000, 1e6 or 1M`, "--keys", "many", "--false-positive-rate", "1%")
	f(`--keys: "1e99": must be at most`, "--keys", "1e99", "--false-positive-rate", "1%")
	for _, rate := range []string{"1", "0", "0%", "-0.01", "99%", "0.500001", "1e-20", "1e-300", "0.9e-15", "1e-400", "Inf", "0x"} {
		f(`--false-positive-rate: "`+rate+`": must be a ratio from 1e-15 to 0.5, such as 0.01 or 1%`, "--false-positive-rate", rate, "--keys", "5")
	}
	f("textbook: no such filter: it takes more than 2^50 bits, needs a higher rate or fewer keys", "--keys", "1125899906842624", "--false-positive-rate", "1e-15")
	f("textbook: no such filter: it takes more than 2^50 bits", "--keys", "1e14", "--false-positive-rate", "1%", "--hashes", "64")
	f(`--false-positive-rate: "NaN": must be a ratio`, "--false-positive-rate", "NaN", "--keys", "5")
	f(`--bits: "12XB": must be a size with a unit`, "--bits", "12XB", "--keys", "5")
	f(`--memory: "12": must be a size with a unit`, "--memory", "12", "--keys", "5")
	f(`--memory: "0": must be a size above 0`, "--memory", "0", "--keys", "5")
	f("--keys: ", "--keys", "x", "--false-positive-rate", "y")
	f("--false-positive-rate: ", "--keys", "x", "--false-positive-rate", "y")
	f("--generations: 5: must be 2 to 4", "--keys", "5", "--false-positive-rate", "1%", "--generations", "5")
	f("--hashes: 65: must be 1 to 64", "--keys", "5", "--false-positive-rate", "1%", "--hashes", "65")
	f("--hashes: the layout split-block always has 8", "--keys", "5", "--false-positive-rate", "1%", "--hashes", "8", "--layout", "split-block")
	f(`--layout: "cuckoo": must be one of textbook, partitioned, split-block, counting-line`, "--keys", "5", "--false-positive-rate", "1%", "--layout", "cuckoo")
	f("counting-line: no such filter: the rate is out of reach", "--keys", "10k", "--false-positive-rate", "1e-14", "--layout", "textbook,counting-line")
	f("split-block: no such filter: the memory is less than one block", "--keys", "5", "--bits", "255", "--layout", "split-block")
	f("textbook: no such filter: the memory holds no key at this rate", "--false-positive-rate", "1%", "--bits", "1")
	f("unexpected argument", "--keys", "5", "--false-positive-rate", "1%", "extra")
	f("unknown flag", "--kyes", "5")
}

// A layout that nobody asked for by name may have no solution.
func TestSizeShowsWhatLayoutsCannotDo(t *testing.T) {
	got := runSizeWith(t, "--keys", "10k", "--false-positive-rate", "1e-14")
	for _, want := range []string{
		"\n  counting-line       –       –            –         –          –           –\n",
		"\ncounting-line: no such filter: the rate is out of reach within 2^34 cells, needs a higher one or fewer keys.\n",
		"\nNo setting for the proxy: false_positive_rate: 1e-14: must be at least ",
	} {
		if got.code != exitDone || !strings.Contains(got.stdout, want) {
			t.Errorf("got %d\n%s\nwant %q in it", got.code, got.stdout, want)
		}
	}
	if d := sized(t, "--keys", "10k", "--false-positive-rate", "1e-14"); d.Config != nil || d.Results[3].Error == "" || d.Results[3].Filter != nil {
		t.Errorf("got %+v, want no configuration and an error for the counting line", d)
	}
}

func TestSizePrints(t *testing.T) {
	f := func(golden string, args ...string) {
		t.Helper()
		want, err := os.ReadFile(filepath.Join("testdata", golden))
		if err != nil {
			t.Fatal(err)
		}
		if got := runSizeWith(t, args...); got.code != exitDone || got.stdout != string(want) {
			t.Errorf("size %q: got %d\n%s\nwant testdata/%s:\n%s", args, got.code, got.stdout, golden, want)
		}
	}

	f("size_keys_rate.txt", "--keys", "1M", "--false-positive-rate", "1%")
	f("size_keys_memory.txt", "--keys", "1M", "--memory", "4MiB", "--generations", "3", "--layout", "textbook,counting-line")
	f("size_rate_bits.txt", "--false-positive-rate", "0.001", "--bits", "12M", "--hashes", "5")
}

// filterBytes is the memory of the filter that the proxy builds.
func filterBytes(t *testing.T, c *config.Config) uint64 {
	t.Helper()
	var filter interface{ Bytes() int64 }
	var err error
	if c.Admission.Policy == policy.Counting {
		filter, err = counting.New(c.Admission.Counting.Window.Options, time.Unix(0, 0))
	} else {
		filter, err = sliding.New(c.Admission.SecondHit.Options, time.Unix(0, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	return uint64(filter.Bytes())
}

// The setting is one that the proxy takes, within the memory given.
func TestSizeSettingIsOneTheProxyTakes(t *testing.T) {
	f := func(args ...string) {
		t.Helper()
		got := runSizeWith(t, args...)
		_, yaml, found := strings.Cut(got.stdout, "\nadmission:\n")
		if got.code != exitDone || !found {
			t.Fatalf("size %q: got %d\n%s\nwant a setting", args, got.code, got.stdout)
		}
		file := writeFile(t, "edgeproxy.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nadmission:\n"+yaml)
		c, err := config.Load(file)
		if err != nil {
			t.Fatalf("size %q: %v in\n%s", args, err, yaml)
		}
		d := sized(t, args...)
		w := c.Admission.SecondHit
		if c.Admission.Policy == policy.Counting {
			w = c.Admission.Counting.Window
		}
		want := sizeConfig{c.Admission.Policy.String(), w.Generations, w.Capacity, w.FalsePositiveRate, filterBytes(t, c)}
		if d.Config == nil || *d.Config != want {
			t.Errorf("size %q: got the configuration %+v, want what was printed: %+v", args, d.Config, want)
		}
		if d.MemoryBytes > 0 && (want.MemoryBytes > d.MemoryBytes || float64(want.MemoryBytes) < 0.95*float64(d.MemoryBytes)) {
			t.Errorf("size %q: got a setting of %d bytes, want it to use the %d given", args, want.MemoryBytes, d.MemoryBytes)
		}
	}

	f("--keys", "1M", "--false-positive-rate", "0.01")
	f("--keys", "1M", "--memory", "4MiB")
	f("--keys", "1M", "--memory", "4MiB", "--generations", "3", "--layout", "textbook")
	f("--false-positive-rate", "0.001", "--memory", "4MiB", "--generations", "4")
	f("--false-positive-rate", "0.01", "--bits", "12M")
	f("--keys", "200k", "--false-positive-rate", "0.0001")
	f("--keys", "200k", "--false-positive-rate", "0.01", "--layout", "counting-line")
	f("--keys", "200k", "--memory", "4MB", "--layout", "counting-line")
	f("--false-positive-rate", "0.02", "--memory", "4MB", "--layout", "counting-line")
}

func TestSizeSaysWhyThereIsNoSetting(t *testing.T) {
	f := func(says string, args ...string) {
		t.Helper()
		got := runSizeWith(t, args...)
		if got.code != exitDone || !strings.Contains(got.stdout, "No setting for the proxy: "+says) || strings.Contains(got.stdout, "admission:") {
			t.Errorf("size %q: got %d\n%s\nwant no setting, as %q", args, got.code, got.stdout, says)
		}
	}

	f("the proxy's layouts have a number of hashes of their own.", "--keys", "1M", "--false-positive-rate", "1%", "--hashes", "5")
	f("the keys are more than the 1000000000 of a generation", "--keys", "1000000001", "--false-positive-rate", "1%")
	f("the rate is above 0.5, the highest", "--keys", "1M", "--memory", "100KiB")
	f("the memory holds no key at this rate", "--false-positive-rate", "1e-12", "--memory", "64B")
}

func TestSizePlotIsOneFile(t *testing.T) {
	f := func(args ...string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "size.html")
		plain, plotted := runSizeWith(t, args...), runSizeWith(t, append(args, "--plot", file)...)
		if plotted.code != exitDone || plotted.stdout != plain.stdout || plotted.stderr != "the curves are in "+file+"\n" {
			t.Errorf("size %q: got %d %q\n%s\nwant the same text as without --plot", args, plotted.code, plotted.stderr, plotted.stdout)
		}
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		html := string(written)
		for _, want := range []string{
			"<title>Size of a Bloom filter</title>", "default-src &#39;none&#39;", "Rate by number of hashes, textbook",
			"Rate of one full filter by bits for each key", "Rate of the window of 2 generations",
		} {
			if !strings.Contains(html, want) {
				t.Errorf("size %q: no %q in the page", args, want)
			}
		}
		if got := strings.Count(html, `<script type="application/json">`); got != 3 {
			t.Errorf("size %q: got %d charts, want 3", args, got)
		}
		if found := regexp.MustCompile(`(?i)\s(src|href)=|<(link|img|iframe)\b`).FindString(html); found != "" {
			t.Errorf("size %q: got %q in the page, want nothing outside it", args, found)
		}
	}

	f("--keys", "1M", "--false-positive-rate", "1%")
	f("--keys", "1M", "--false-positive-rate", "1%", "--json")
	f("--keys", "1", "--bits", "512")
	f("--keys", "1M", "--bits", "1", "--hashes", "1", "--layout", "textbook")
	f("--false-positive-rate", "1e-14", "--memory", "1GiB", "--layout", "split-block")
	f("--keys", "1e12", "--false-positive-rate", "50%", "--hashes", "64")

	wrong := func(path, says string) {
		t.Helper()
		got := runSizeWith(t, "--keys", "5", "--false-positive-rate", "1%", "--plot", path)
		if got.code != exitUsage || !strings.Contains(got.stderr, says) || got.stdout != "" {
			t.Errorf("--plot %s: got %d %q %q, want %d and %q before any work", path, got.code, got.stdout, got.stderr, exitUsage, says)
		}
	}
	wrong(filepath.Join(t.TempDir(), "no", "size.html"), "there is no such folder")
	wrong(t.TempDir(), "this is a folder")
	wrong("-", "must be a file")
}

// A rate that is as good as none has no sign.
func TestSizeHasNoNegativeZero(t *testing.T) {
	args := []string{"--keys", "1", "--bits", "1G"}
	got := runSizeWith(t, args...)
	if got.code != exitDone || strings.Contains(got.stdout, "-0") {
		t.Errorf("got %d\n%s\nwant no -0", got.code, got.stdout)
	}
	if got := runSizeWith(t, append(args, "--json")...); strings.Contains(got.stdout, "-0,") || strings.Contains(got.stdout, "-0\n") {
		t.Errorf("got\n%s\nwant no -0", got.stdout)
	}
}

func TestSizeReadsNumbers(t *testing.T) {
	f := func(got uint64, err error, want uint64) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	number := func(text string, want uint64) {
		t.Helper()
		got, err := parseSizeNumber(text)
		f(got, err, want)
	}
	bits := func(text string, want uint64) {
		t.Helper()
		got, err := parseBits(text)
		f(got, err, want)
	}

	number("1", 1)
	number("1000000", 1_000_000)
	number("1e6", 1_000_000)
	number("1.1M", 1_100_000)
	number("2k", 2_000)
	number("0.3G", 300_000_000)
	number("1.001k", 1_001)
	number("1125899906842624", 1<<50)
	bits("12M", 12_000_000)
	bits("12MB", 96_000_000)
	bits("1MiB", 8<<20)
	bits("64b", 512)
}
