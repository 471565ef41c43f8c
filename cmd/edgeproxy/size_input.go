package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/config"
	"edgeproxy/internal/admission/size"
	"edgeproxy/internal/bloom"
)

// request parses the flags. Its errors name the flag and what it wants.
func (f sizeFlags) request() (size.Request, error) {
	r := size.Request{Hashes: f.hashes, Generations: f.generations}
	if err := f.twoOfThree(); err != nil {
		return r, err
	}
	var errs [4]error
	r.Keys, errs[0] = parseFlag(f.keys, "--keys", parseSizeNumber)
	r.Rate, errs[1] = parseFlag(f.rate, "--false-positive-rate", parseRate)
	r.Bits, errs[2] = parseFlag(f.bits, "--bits", parseBits)
	r.Bytes, errs[3] = parseFlag(f.memory, "--memory", parseMemory)
	if err := errors.Join(errs[:]...); err != nil {
		return r, err
	}
	if g := f.generations; g < bloom.MinGenerations || g > bloom.MaxGenerations {
		return r, fmt.Errorf("--generations: %d: must be %d to %d", g, bloom.MinGenerations, bloom.MaxGenerations)
	}
	if k := f.hashes; k < 0 || k > bloom.MaxProbes {
		return r, fmt.Errorf("--hashes: %d: must be 1 to %d, or 0 for the best number", k, bloom.MaxProbes)
	}
	var err error
	r.Layouts, r.Chosen, err = f.chosenLayouts()
	return r, err
}

// twoOfThree refuses too few figures and too many.
func (f sizeFlags) twoOfThree() error {
	if f.bits != "" && f.memory != "" {
		return errors.New("--bits and --memory both give the memory: must be one of them")
	}
	var given, missing []string
	for _, g := range []struct {
		name string
		set  bool
	}{{"--keys", f.keys != ""}, {"--false-positive-rate", f.rate != ""}, {"--bits or --memory", f.bits+f.memory != ""}} {
		if g.set {
			given = append(given, g.name)
		} else {
			missing = append(missing, g.name)
		}
	}
	switch len(given) {
	case 0:
		return errors.New("size wants two of --keys, --false-positive-rate and --memory (or --bits), and computes the third")
	case 1:
		return fmt.Errorf("%s alone: size wants two of the three, so add %s", given[0], strings.Join(missing, ", or "))
	case 2:
		return nil
	}
	return errors.New("--keys, --false-positive-rate and the memory are all given: any two make the third, so leave one out")
}

// chosenLayouts returns the layouts that --layout names. Without --layout it
// returns all that support --hashes.
func (f sizeFlags) chosenLayouts() (layouts []size.Layout, chosen bool, err error) {
	for _, l := range size.Layouts() {
		if f.hashes == 0 || l.Hashes == 0 {
			layouts = append(layouts, l)
		}
	}
	if len(f.layouts) == 0 {
		return layouts, false, nil
	}
	layouts = nil
	for _, name := range f.layouts {
		at := slices.IndexFunc(size.Layouts(), func(l size.Layout) bool { return l.Name == name })
		if at < 0 {
			return nil, true, fmt.Errorf("--layout: %q: must be one of %s", name, size.LayoutNames())
		}
		l := size.Layouts()[at]
		if f.hashes != 0 && l.Hashes != 0 {
			return nil, true, fmt.Errorf("--hashes: the layout %s always has %d; --hashes is for the textbook's", name, l.Hashes)
		}
		layouts = append(layouts, l)
	}
	return layouts, true, nil
}

// parseFlag reads a flag that may be left out, as the zero value.
func parseFlag[T any](text, flag string, parse func(string) (T, error)) (v T, err error) {
	if text == "" {
		return v, nil
	}
	if v, err = parse(text); err != nil {
		return v, fmt.Errorf("%s: %q: %w", flag, text, err)
	}
	return v, nil
}

// parseSizeNumber reads a whole number above 0. It may have an exponent or a
// suffix k, M or G (powers of 1000).
func parseSizeNumber(text string) (uint64, error) {
	digits, factor := text, 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9} {
		if head, ok := strings.CutSuffix(text, suffix); ok {
			digits, factor = head, f
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	v = math.Round(v*factor*1e3) / 1e3 // 1.1M is exactly 1100000, although 1.1 has no exact binary form
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(v):
		return 0, errors.New("must be a whole number, such as 1000000, 1e6 or 1M")
	case v < 1 || v != math.Trunc(v):
		return 0, errors.New("must be a whole number above 0")
	case v > size.MaxNumber:
		return 0, fmt.Errorf("must be at most %d", uint64(size.MaxNumber))
	}
	return uint64(v), nil
}

// parseRate reads a false positive rate, 0.01 or 1%.
func parseRate(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !bloom.AskedRate(v) {
		return 0, errors.New(bloom.WantRate + " or 1%")
	}
	return v, nil
}

// parseBits reads a number of bits, or a size in bytes with a unit that ends in
// B.
func parseBits(text string) (uint64, error) {
	if strings.HasSuffix(strings.ToLower(text), "b") {
		n, err := parseMemory(text)
		return 8 * n, err
	}
	return parseSizeNumber(text)
}

func parseMemory(text string) (uint64, error) {
	n, err := config.ParseSize(text)
	switch {
	case err != nil:
		return 0, err
	case n <= 0:
		return 0, errors.New("must be a size above 0")
	case n > size.MaxNumber/8:
		return 0, fmt.Errorf("must be at most %s", config.Size(size.MaxNumber/8))
	}
	return uint64(n), nil
}
