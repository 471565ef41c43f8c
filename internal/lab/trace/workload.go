package trace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// zipfWorkload is the workload zipf:. It has requests for objects whose popularity follows
// Zipf's law, mixed with requests for URLs that are requested once. Generating it takes 8
// bytes a rank.
type zipfWorkload struct {
	objects  int     // ranks of the law; those never drawn are not in the trace
	requests int     // in all
	exponent float64 // exponent of the law, 0 or more
	oneHit   float64 // share of requests for URLs that are requested once, in [0, 1]
	size     sizeDistribution
	seed     uint64
}

// newZipfWorkload reads the settings behind zipf:.
func newZipfWorkload(spec string, seed uint64) (*zipfWorkload, error) {
	w := &zipfWorkload{
		objects: 20_000, requests: 100_000, exponent: 0.9, oneHit: 0.2, seed: seed,
		size: sizeDistribution{median: 8 << 10, sigma: 1.2, cap: 4 << 20},
	}
	if err := eachSetting(spec, w.set); err != nil {
		return nil, fmt.Errorf("%s:%s: %w", schemeZipf, printable(spec), err)
	}
	return w, nil
}

func (w *zipfWorkload) set(key, value string) (err error) {
	switch key {
	case "objects":
		w.objects, err = settingCount(value, maxMadeUpObjects)
	case "requests":
		w.requests, err = settingCount(value, maxMadeUpRequests)
	case "exponent":
		w.exponent, err = settingWithin(value, 0, 5)
	case "one-hit":
		w.oneHit, err = settingWithin(value, 0, 1)
	case "size":
		w.size, err = parseSizes(value)
	case "seed":
		w.seed, err = settingSeed(value)
	default:
		err = errors.New("unknown key: must be objects, requests, exponent, one-hit, size or seed")
	}
	return err
}

func (w *zipfWorkload) total() int64 { return int64(w.requests) }

func (w *zipfWorkload) feed(ctx context.Context, b *builder, m *meter) error {
	rng := rand.New(rand.NewPCG(w.seed, 0))
	law := newZipf(rng, w.objects, w.exponent)
	var target []byte
	for i := 0; i < w.requests && m.left > 0; i++ {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// The size depends on the object alone, not on its first request.
		prefix, id, stream := "/w/", i, uint64(2)
		if rng.Float64() >= w.oneHit {
			prefix, id, stream = "/o/", law.draw(), 1
		}
		target = strconv.AppendInt(append(target[:0], prefix...), int64(id), 10)
		size := w.size.draw(rand.New(rand.NewPCG(w.seed, stream<<32|uint64(id))))
		if err := b.add(&request{target: target, size: size}); err != nil {
			return err
		}
		m.left--
		m.step(1)
	}
	return nil
}

// sizeDistribution is a lognormal distribution of sizes: median, shape (sigma of the
// logarithm) and cap. A sigma of 0 gives all objects the same size.
type sizeDistribution struct {
	median float64
	sigma  float64
	cap    float64
}

func (l sizeDistribution) draw(rng *rand.Rand) int64 {
	return int64(min(max(1, math.Round(l.median*math.Exp(l.sigma*rng.NormFloat64()))), l.cap))
}

// parseSizes reads `lognormal[:MEDIAN[:SIGMA[:CAP]]]` or `fixed:SIZE`.
func parseSizes(s string) (l sizeDistribution, err error) {
	name, rest, more := strings.Cut(s, ":")
	if name == "fixed" {
		n, err := settingSize(rest)
		return sizeDistribution{median: float64(n), cap: float64(n)}, err
	}
	l = sizeDistribution{median: 8 << 10, sigma: 1.2, cap: 4 << 20}
	if name != "lognormal" {
		return l, errors.New("must be lognormal:MEDIAN:SIGMA:CAP or fixed:SIZE, such as lognormal:8KiB:1.2:4MiB")
	}
	for i := 0; more && err == nil; i++ {
		var field string
		field, rest, more = strings.Cut(rest, ":")
		err = l.set(i, field)
	}
	return l, err
}

func (l *sizeDistribution) set(i int, field string) (err error) {
	var n int64
	switch i {
	case 0:
		n, err = settingSize(field)
		l.median = float64(n)
	case 1:
		l.sigma, err = settingWithin(field, 0, 5)
	case 2:
		n, err = settingSize(field)
		l.cap = float64(n)
	default:
		err = errors.New("must be at most MEDIAN:SIGMA:CAP")
	}
	return err
}
