package size

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// Setting is the admission section for what was asked, with the memory that
// the proxy will take for it: the proxy keeps a reserve below the rate, so it is
// not quite that of the arithmetic.
type Setting struct {
	Policy  policy.Policy
	Layout  bloom.Layout
	Options bloom.Options
}

// maxSettingKeys is the bound of the configuration.
const maxSettingKeys = 1_000_000_000

// setting is the one for the proxy's layout among those asked for: that of
// second-hit, unless it is counting's alone.
func (r Request) setting() (Setting, error) {
	s := Setting{Policy: policy.SecondHit, Layout: bloom.SplitBlock}
	has := func(name string) bool {
		return slices.ContainsFunc(r.Layouts, func(l Layout) bool { return l.Name == name })
	}
	if has("counting-line") && !has("split-block") {
		s.Policy, s.Layout = policy.Counting, bloom.CountingLine
	}
	if r.Hashes != 0 {
		return s, errors.New("the proxy's layouts have a number of hashes of their own")
	}
	s.Options = bloom.Options{Generations: r.Generations, Capacity: int64(min(r.Keys, maxSettingKeys+1)), FalsePositiveRate: r.Rate}
	budget := r.GenerationBits() * uint64(r.Generations) / 8
	if r.Rate == 0 {
		s.Options.FalsePositiveRate = s.lowestRate(budget)
	}
	if r.Keys == 0 {
		s.Options.Capacity = s.mostKeys(budget)
	}
	switch {
	case s.Options.Capacity == 0:
		return s, errors.New("the memory holds no key at this rate with the proxy's reserve")
	case s.Options.Capacity > maxSettingKeys:
		return s, fmt.Errorf("the keys are more than the %d of a generation that the configuration takes", maxSettingKeys)
	case s.Options.FalsePositiveRate > bloom.MaxRate:
		return s, fmt.Errorf("the rate is above %v, the highest that the configuration takes", bloom.MaxRate)
	}
	return s, s.Options.Validate(s.Layout)
}

// Bytes is the memory of all generations; 0 where the layout cannot do it.
func (s Setting) Bytes(o bloom.Options) uint64 {
	units, _ := o.Size(s.Layout)
	return uint64(s.Layout.Bytes(units)) * uint64(o.Generations)
}

// fits reports whether o can be had within budget bytes.
func (s Setting) fits(o bloom.Options, budget uint64) bool {
	return o.Validate(s.Layout) == nil && s.Bytes(o) <= budget
}

// lowestRate is the lowest rate of two digits, from 1e-15 up, that fits; 1 where
// none does.
func (s Setting) lowestRate(budget uint64) float64 {
	rate := func(i int) float64 { return float64(10+i%90) / math.Pow10(16-i/90) }
	at := sort.Search(15*90, func(i int) bool {
		o := s.Options
		o.FalsePositiveRate = rate(i)
		return s.fits(o, budget)
	})
	return rate(at)
}

// mostKeys is the largest capacity that fits; 0 where none does.
func (s Setting) mostKeys(budget uint64) int64 {
	return int64(sort.Search(maxSettingKeys, func(n int) bool {
		o := s.Options
		o.Capacity = int64(n) + 1
		return !s.fits(o, budget)
	}))
}

// YAML is the setting as lines of the configuration file.
func (s Setting) YAML() string {
	return fmt.Sprintf("admission:\n  policy: %s\n  %s:\n    window: fixed\n    generations: %d\n    capacity: %d\n    false_positive_rate: %s\n",
		s.Policy, s.Policy.Section(), s.Options.Generations, s.Options.Capacity, yamlNumber(s.Options.FalsePositiveRate))
}

// yamlNumber writes a ratio without an exponent where it is readable so.
func yamlNumber(v float64) string {
	if math.Abs(v) >= 1e-6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
