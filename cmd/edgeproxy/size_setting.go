package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/bloom"
)

// sizeSetting is the admission section for what was asked, with the memory that
// the proxy will take for it: the proxy keeps a reserve below the rate, so it is
// not quite that of the arithmetic.
type sizeSetting struct {
	policy  config.Policy
	layout  bloom.Layout
	options bloom.Options
}

// Bounds of the configuration.
const (
	maxSettingKeys = 1_000_000_000
	maxSettingRate = 0.5
)

// setting is the one for the proxy's layout among those asked for: that of
// second-hit, unless it is counting's alone.
func (r sizeRequest) setting() (sizeSetting, error) {
	s := sizeSetting{policy: config.PolicySecondHit, layout: bloom.SplitBlock}
	has := func(name string) bool {
		return slices.ContainsFunc(r.layouts, func(l sizeLayout) bool { return l.name == name })
	}
	if has("counting-line") && !has("split-block") {
		s.policy, s.layout = config.PolicyCounting, bloom.CountingLine
	}
	if r.hashes != 0 {
		return s, errors.New("the proxy's layouts have a number of hashes of their own")
	}
	s.options = bloom.Options{Generations: r.generations, Capacity: int64(min(r.keys, maxSettingKeys+1)), FalsePositiveRate: r.rate}
	budget := r.generationBits() * uint64(r.generations) / 8
	if r.rate == 0 {
		s.options.FalsePositiveRate = s.lowestRate(budget)
	}
	if r.keys == 0 {
		s.options.Capacity = s.mostKeys(budget)
	}
	switch {
	case s.options.Capacity == 0:
		return s, errors.New("the memory holds no key at this rate with the proxy's reserve")
	case s.options.Capacity > maxSettingKeys:
		return s, fmt.Errorf("the keys are more than the %d of a generation that the configuration takes", maxSettingKeys)
	case s.options.FalsePositiveRate > maxSettingRate:
		return s, fmt.Errorf("the rate is above %v, the highest that the configuration takes", maxSettingRate)
	}
	return s, s.options.Validate(s.layout)
}

// bytes is the memory of all generations; 0 where the layout cannot do it.
func (s sizeSetting) bytes(o bloom.Options) uint64 {
	units, _ := o.Size(s.layout)
	return uint64(s.layout.Bytes(units)) * uint64(o.Generations)
}

// fits reports whether o can be had within budget bytes.
func (s sizeSetting) fits(o bloom.Options, budget uint64) bool {
	return o.Validate(s.layout) == nil && s.bytes(o) <= budget
}

// lowestRate is the lowest rate of two digits, from 1e-15 up, that fits; 1 where
// none does.
func (s sizeSetting) lowestRate(budget uint64) float64 {
	rate := func(i int) float64 { return float64(10+i%90) / math.Pow10(16-i/90) }
	at := sort.Search(15*90, func(i int) bool {
		o := s.options
		o.FalsePositiveRate = rate(i)
		return s.fits(o, budget)
	})
	return rate(at)
}

// mostKeys is the largest capacity that fits; 0 where none does.
func (s sizeSetting) mostKeys(budget uint64) int64 {
	return int64(sort.Search(maxSettingKeys, func(n int) bool {
		o := s.options
		o.Capacity = int64(n) + 1
		return !s.fits(o, budget)
	}))
}

// yaml is the setting as lines of the configuration file.
func (s sizeSetting) yaml() string {
	section := strings.ReplaceAll(string(s.policy), "-", "_")
	return fmt.Sprintf("admission:\n  policy: %s\n  %s:\n    window: fixed\n    generations: %d\n    capacity: %d\n    false_positive_rate: %s\n",
		s.policy, section, s.options.Generations, s.options.Capacity, yamlNumber(s.options.FalsePositiveRate))
}

// yamlNumber writes a ratio without an exponent where it is readable so.
func yamlNumber(v float64) string {
	if math.Abs(v) >= 1e-6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
