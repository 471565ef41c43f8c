package textbook

import (
	"errors"
	"fmt"

	"edgeproxy/internal/bloom"
)

// Params says what a filter's bits mean. Two filters can be merged, and the
// bits of one read as another's, only where all of it is equal.
type Params struct {
	// Cells is the number of bits a probe falls into, MinCells..MaxCells: of the
	// whole filter, or of one row where it is partitioned.
	Cells uint64

	// Probes is the number of probes a key has, 1..MaxProbes.
	Probes int

	// Rule is how they follow from the hash.
	Rule bloom.Rule

	// Folds is how often the filter was halved. Walks are made for
	// Cells * 2^Folds cells and folded onto Cells, so a fresh filter with Folds
	// matches one that was halved so often. Cells * 2^Folds is at most MaxCells.
	Folds int

	// Seed is the seed of the hash that the caller makes keys with. The filter
	// hashes nothing and only remembers it, so that filters whose keys were
	// hashed differently are never merged.
	Seed uint64
}

// ParamsFor returns the parameters of a Filter for n keys whose rate, measured
// with all n in, is at most p: Size for DesignRate(p). The error is an
// *OptionError.
func ParamsFor(n uint64, p float64) (Params, error) { return paramsFor(n, p, bloom.Size, kindFilter) }

// PartitionedParamsFor does the same for a Partitioned, by PartitionedSize.
func PartitionedParamsFor(n uint64, p float64) (Params, error) {
	return paramsFor(n, p, bloom.PartitionedSize, kindPartitioned)
}

func paramsFor(n uint64, p float64, size func(uint64, float64) (uint64, int), kind kind) (Params, error) {
	if n == 0 {
		return Params{}, &bloom.OptionError{Option: "keys", Value: n, Want: "a number above 0"}
	}
	if !(p > 0 && p < 1) {
		return Params{}, &bloom.OptionError{Option: "false_positive_rate", Value: p, Want: "a ratio above 0 and below 1"}
	}
	m, k := size(n, bloom.DesignRate(p))
	out := Params{Cells: max(m, bloom.MinCells), Probes: k}
	if m == 0 || out.validate(kind) != nil {
		return Params{}, &bloom.OptionError{
			Option: "keys", Value: n,
			Want: fmt.Sprintf("a filter of at most %d bits; fewer keys or a higher false_positive_rate", uint64(bloom.MaxCells)),
		}
	}
	return out, nil
}

// span is the number of cells that walks are made for.
func (p Params) span() uint64 { return p.Cells << p.Folds }

// bits is the length of the whole array.
func (p Params) bits(k kind) uint64 { return p.Cells * k.rows(p.Probes) }

// validate returns nil or every fault at once, each an *OptionError.
func (p Params) validate(k kind) error {
	var errs []error
	wrong := func(option string, value any, want string) {
		errs = append(errs, &bloom.OptionError{Option: option, Value: value, Want: want})
	}
	if p.Cells < bloom.MinCells || p.Cells > bloom.MaxCells {
		wrong("cells", p.Cells, fmt.Sprintf("%d to %d", bloom.MinCells, uint64(bloom.MaxCells)))
	}
	if p.Probes < 1 || p.Probes > bloom.MaxProbes {
		wrong("probes", p.Probes, fmt.Sprintf("1 to %d", bloom.MaxProbes))
	}
	if !p.Rule.Known() {
		wrong("rule", uint8(p.Rule), fmt.Sprintf("0 to %d", bloom.RuleSquare))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if p.Folds < 0 || p.Folds > maxFolds || p.span() > bloom.MaxCells {
		wrong("folds", p.Folds, fmt.Sprintf("0 or more, from at most %d cells", uint64(bloom.MaxCells)))
	}
	if p.bits(k) > bloom.MaxCells {
		wrong("probes", p.Probes, fmt.Sprintf("rows of at most %d bits together", uint64(bloom.MaxCells)))
	}
	return errors.Join(errs...)
}

// maxFolds keeps the shift of span within 64 bits: MaxCells and these many.
const maxFolds = 28

// MismatchError is one parameter in which two filters differ that were to be
// merged.
type MismatchError struct {
	Param     string // "cells", "probes", "rule", "folds" or "seed"
	Got, Want any    // values of the filter handed over, and of the one to change
}

// Error returns parameter, value and what is wanted, in this order.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: %v: must be %v", e.Param, e.Got, e.Want)
}

// match returns nil or every difference of got, each a *MismatchError.
func (p Params) match(got Params) error {
	var errs []error
	same := func(param string, got, want any) {
		if got != want {
			errs = append(errs, &MismatchError{Param: param, Got: got, Want: want})
		}
	}
	same("cells", got.Cells, p.Cells)
	same("probes", got.Probes, p.Probes)
	same("rule", got.Rule, p.Rule)
	same("folds", got.Folds, p.Folds)
	same("seed", got.Seed, p.Seed)
	return errors.Join(errs...)
}
