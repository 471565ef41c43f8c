package trace

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	arriveEvenly   = "even"
	arriveInBursts = "bursty"

	kilobyte = 1000 // unit of the sizes in a distribution
)

// popularity is the workload popularity:. The numbers of requests and the sizes of its
// objects have a measured distribution, as TRAGEN (Sabnis and Sitaraman, IMC 2021)
// publishes for production traces. The arrivals are a model:
//
//   - even: each request has a uniform time within the trace.
//   - bursty: an object lives for min(1, 0.05·Exp(1)·√count) of the trace. Its birth is
//     uniform over the times that leave room for its life, and its requests are uniform
//     over its life.
//
// Generating it takes 16 bytes a request and 8 an object, in addition to the trace.
// The trace has no times: its length is unknown.
type popularity struct {
	path     string
	objects  int
	arrivals string
	maxCount int     // requests of one object
	maxSize  float64 // bytes
	seed     uint64
	classes  []class
}

// class is a share of the objects, all with the same size and number of requests.
type class struct {
	count int
	size  int64
	upTo  float64 // cumulative share; 1 for the last class
}

// newPopularity reads FILE[,KEY=V,...] behind popularity:, and the file.
func newPopularity(spec string, seed uint64) (*popularity, error) {
	path, settings, _ := strings.Cut(spec, ",")
	p := &popularity{path: path, objects: 400_000, arrivals: arriveEvenly, maxCount: 20_000, maxSize: 4 << 20, seed: seed}
	if err := p.prepare(settings); err != nil {
		return nil, fmt.Errorf("%s:%s: %w", schemePopularity, printable(spec), err)
	}
	return p, nil
}

func (p *popularity) prepare(settings string) error {
	if p.path == "" {
		return errors.New("must be popularity:FILE, a file of blocks of `size share`")
	}
	if err := eachSetting(settings, p.set); err != nil {
		return err
	}
	file, err := os.Open(p.path)
	if err != nil {
		return pathError(p.path, err)
	}
	defer func() { _ = file.Close() }() // read only: nothing to lose
	if err := p.read(bufio.NewScanner(file)); err != nil {
		return err
	}
	if n := p.total(); n > maxMadeUpRequests {
		return fmt.Errorf("%d requests for %d objects, must be at most %d: lower objects or max-count", n, p.objects, maxMadeUpRequests)
	}
	return nil
}

func (p *popularity) set(key, value string) (err error) {
	switch key {
	case "objects":
		p.objects, err = settingCount(value, maxMadeUpObjects)
	case "arrivals":
		p.arrivals = value
		if value != arriveEvenly && value != arriveInBursts {
			err = errors.New("must be even or bursty")
		}
	case "max-count":
		p.maxCount, err = settingCount(value, maxMadeUpRequests)
	case "max-size":
		var n int64
		n, err = settingSize(value)
		p.maxSize = float64(n)
	case "seed":
		p.seed, err = settingSeed(value)
	default:
		err = errors.New("unknown key: must be objects, arrivals, max-count, max-size or seed")
	}
	return err
}

// read reads the distribution. A line with one number, the count of requests, begins a
// block. Each line `size share` in it is the share of all objects with this count and
// this size in kB. The shares are scaled to a sum of 1, because they are rounded in files.
func (p *popularity) read(lines *bufio.Scanner) error {
	count, sum := 0, 0.0
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		var err error
		switch len(words) {
		case 0:
		case 1:
			count, err = settingCount(words[0], math.MaxInt)
		case 2:
			sum, err = p.addClass(count, sum, words[0], words[1])
		default:
			err = errors.New("must be `count`, or `size share`")
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if sum == 0 {
		return errors.New("no shares in it")
	}
	for i := range p.classes {
		p.classes[i].upTo /= sum
	}
	return nil
}

func (p *popularity) addClass(count int, sum float64, size, share string) (float64, error) {
	if count == 0 {
		return 0, errors.New("a share before the first count")
	}
	kB, err := strconv.ParseFloat(size, 64)
	if err != nil || !(kB >= 0) {
		return 0, fmt.Errorf("size %q: must be 0 kB or more", size)
	}
	x, err := strconv.ParseFloat(share, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("share %q: must be 0 to 1", share)
	}
	sum += x
	p.classes = append(p.classes, class{
		count: min(count, p.maxCount), size: int64(min(kB*kilobyte, p.maxSize)), upTo: sum,
	})
	return sum, nil
}

// each calls f with the class of each object. The objects are spread evenly over
// the shares (systematic sampling): a class gets its share of them, rounded up or
// down, so a small trace has the distribution's shape too.
func (p *popularity) each(f func(object int, c *class)) {
	start := rand.New(rand.NewPCG(p.seed, 0)).Float64()
	i, last := 0, len(p.classes)-1
	for object := range p.objects {
		at := (float64(object) + start) / float64(p.objects)
		for i < last && p.classes[i].upTo <= at {
			i++
		}
		f(object, &p.classes[i])
	}
}

func (p *popularity) total() (requests int64) {
	p.each(func(_ int, c *class) { requests += int64(c.count) })
	return requests
}

func (p *popularity) feed(ctx context.Context, b *builder, m *meter) error {
	requests, sizes := p.makeRequests()
	var target []byte
	for i := range requests {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.left <= 0 {
			return nil
		}
		object := requests[i].Object
		target = strconv.AppendInt(append(target[:0], "/p/"...), int64(object), 10)
		if err := b.add(&request{target: target, size: sizes[object]}); err != nil {
			return err
		}
		m.left--
		m.step(1)
	}
	return nil
}

// makeRequests returns the requests in order of their times, and the sizes by object. Times
// are in units of 2^-62 of the trace's length.
func (p *popularity) makeRequests() (requests []Access, sizes []int64) {
	requests = make([]Access, 0, p.total())
	sizes = make([]int64, p.objects)
	rng := rand.New(rand.NewPCG(p.seed, 1))
	p.each(func(object int, c *class) {
		sizes[object] = c.size
		birth, life := 0.0, 1.0
		if p.arrivals == arriveInBursts {
			life = min(1, 0.05*rng.ExpFloat64()*math.Sqrt(float64(c.count)))
			birth = rng.Float64() * (1 - life)
		}
		for range c.count {
			at := birth + life*rng.Float64()
			requests = append(requests, Access{Object: uint32(object), At: int64(at * (1 << 62))})
		}
	})
	slices.SortFunc(requests, func(x, y Access) int {
		if x.At != y.At {
			return cmp.Compare(x.At, y.At)
		}
		return cmp.Compare(x.Object, y.Object)
	})
	return requests, sizes
}
