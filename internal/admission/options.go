package admission

import (
	"errors"
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
)

// Names of the filters in Stats, in callbacks and as metric labels.
const (
	SecondHitFilter = "second_hit"
	CountingFilter  = "counting"
)

// minRotateEvery is the shortest period. Below it the window would consist of
// clearing.
const minRotateEvery = time.Millisecond

// Options says which filters a Gate has. A nil section builds none, and rules
// that need it are not supported.
type Options struct {
	SecondHit *FilterOptions
	Counting  *FilterOptions

	// OnEarlyRotation, if not nil, is called once for every rotation by fill
	// before RotateEvery was over: the window is shorter than configured. filter
	// is one of the filter names, age that of the generation that filled up. It
	// is called from the filter's own goroutine, which rotates nothing and
	// cannot be closed until it returns.
	OnEarlyRotation func(filter string, age time.Duration)
}

// FilterOptions is the size of a filter and the period of its rotation.
type FilterOptions struct {
	bloom.Options

	// RotateEvery is the longest a generation is the newest; it is rotated
	// before when it is full. 0 rotates by fill only; otherwise 1ms or more.
	RotateEvery time.Duration
}

// Validate returns nil or every fault at once, each an *bloom.OptionError.
func (o FilterOptions) Validate() error {
	err := o.Options.Validate()
	if o.RotateEvery < 0 || o.RotateEvery > 0 && o.RotateEvery < minRotateEvery {
		err = errors.Join(err, &bloom.OptionError{
			Option: "rotate_every", Value: o.RotateEvery,
			Want: fmt.Sprintf("0s (by fill only) or at least %v", minRotateEvery),
		})
	}
	return err
}

// validate checks every section that is there.
func (o Options) validate() error {
	var errs []error
	check := func(filter string, section *FilterOptions) {
		if section == nil {
			return
		}
		if err := section.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s filter: %w", filter, err))
		}
	}
	check(SecondHitFilter, o.SecondHit)
	check(CountingFilter, o.Counting)
	return errors.Join(errs...)
}
