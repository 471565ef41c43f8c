package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

const generatorPrefix = "zipf:"

const (
	maxGeneratedObjects  = 10_000_000
	maxGeneratedRequests = 100_000_000
)

// generatorSpec returns the settings of `zipf:KEY=V,...`, or false for a file.
func generatorSpec(s string) (string, bool) {
	if s == strings.TrimSuffix(generatorPrefix, ":") {
		return "", true
	}
	return strings.CutPrefix(s, generatorPrefix)
}

// workload is what the generator makes up: requests for objects whose popularity
// follows Zipf's law, mixed with requests for URLs that nobody asks for again.
type workload struct {
	objects  int     // ranks of the law; those never drawn are not in the trace
	requests int     // in all
	exponent float64 // of the law, 0 or more
	oneHit   float64 // share of the requests that are for a URL of their own, in [0, 1]
	size     sizeLaw
	seed     uint64
}

// sizeLaw is a lognormal law of sizes: median, shape (sigma of the logarithm) and
// cap. A sigma of 0 gives all objects the same size.
type sizeLaw struct {
	median float64
	sigma  float64
	cap    float64
}

func (l sizeLaw) draw(rng *rand.Rand) int64 {
	return int64(min(max(1, math.Round(l.median*math.Exp(l.sigma*rng.NormFloat64()))), l.cap))
}

// generate makes up the trace that spec describes. The same spec and seed make
// the same trace.
func generate(spec string, seed uint64, limit int) (*trace, error) {
	w := workload{
		objects: 20_000, requests: 100_000, exponent: 0.9, oneHit: 0.2, seed: seed,
		size: sizeLaw{median: 8 << 10, sigma: 1.2, cap: 4 << 20},
	}
	if err := w.parse(spec); err != nil {
		return nil, fmt.Errorf("--trace %s%s: %w", generatorPrefix, spec, err)
	}
	if limit > 0 {
		w.requests = min(w.requests, limit)
	}
	return w.trace(generatorPrefix + spec)
}

func (w *workload) trace(name string) (*trace, error) {
	rng := rand.New(rand.NewPCG(w.seed, 0))
	law := newZipf(rng, w.objects, w.exponent)
	b := newBuilder(name)
	var key []byte
	for i := range w.requests {
		// The size hangs on the object alone, not on when it is first asked for.
		prefix, id, stream := "/w/", i, uint64(2)
		if rng.Float64() >= w.oneHit {
			prefix, id, stream = "/o/", law.draw(), 1
		}
		key = strconv.AppendInt(append(key[:0], prefix...), int64(id), 10)
		size := w.size.draw(rand.New(rand.NewPCG(w.seed, stream<<32|uint64(id))))
		b.add(key, size)
	}
	return b.finish()
}

func (w *workload) parse(spec string) error {
	if spec == "" {
		return nil
	}
	for pair := range strings.SplitSeq(spec, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q: want KEY=VALUE", pair)
		}
		if err := w.set(key, value); err != nil {
			return fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	return nil
}

func (w *workload) set(key, value string) (err error) {
	switch key {
	case "objects":
		w.objects, err = parseCount(value, maxGeneratedObjects)
	case "requests":
		w.requests, err = parseCount(value, maxGeneratedRequests)
	case "exponent":
		w.exponent, err = parseWithin(value, 0, 5)
	case "one-hit":
		w.oneHit, err = parseWithin(value, 0, 1)
	case "size":
		w.size, err = parseSizeLaw(value)
	case "seed":
		w.seed, err = strconv.ParseUint(value, 10, 64)
	default:
		err = errors.New("unknown key: want objects, requests, exponent, one-hit, size or seed")
	}
	return err
}

func parseCount(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("want 1 to %d", most)
	}
	return n, nil
}

func parseWithin(s string, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= least && x <= most) {
		return 0, fmt.Errorf("want %g to %g", least, most)
	}
	return x, nil
}

// parseSizeLaw reads `lognormal[:MEDIAN[:SIGMA[:CAP]]]` or `fixed:SIZE`.
func parseSizeLaw(s string) (l sizeLaw, err error) {
	name, rest, more := strings.Cut(s, ":")
	if name == "fixed" {
		n, err := parseSize(rest)
		return sizeLaw{median: float64(n), cap: float64(n)}, err
	}
	l = sizeLaw{median: 8 << 10, sigma: 1.2, cap: 4 << 20}
	if name != "lognormal" {
		return l, errors.New("want lognormal:MEDIAN:SIGMA:CAP or fixed:SIZE, such as lognormal:8KiB:1.2:4MiB")
	}
	for i := 0; more && err == nil; i++ {
		var field string
		field, rest, more = strings.Cut(rest, ":")
		err = l.set(i, field)
	}
	return l, err
}

func (l *sizeLaw) set(i int, field string) (err error) {
	var n int64
	switch i {
	case 0:
		n, err = parseSize(field)
		l.median = float64(n)
	case 1:
		l.sigma, err = parseWithin(field, 0, 5)
	case 2:
		n, err = parseSize(field)
		l.cap = float64(n)
	default:
		err = errors.New("want at most MEDIAN:SIGMA:CAP")
	}
	return err
}
