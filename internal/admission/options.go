package admission

import (
	"errors"
	"fmt"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/bloom"
)

// Names of the filters in Stats, in callbacks and as metric labels.
const (
	SecondHitFilter = "second_hit"
	CountingFilter  = "counting"
)

// minRotateEvery is the shortest period. Below it the filter would spend its time
// clearing.
const minRotateEvery = time.Millisecond

// Options says which filters a Gate has. A nil section builds none, and rules
// that need it are not supported.
type Options struct {
	SecondHit *FilterOptions
	Counting  *FilterOptions

	// MoreThan is the largest MoreThan of the rules that use Counting, 1 or more; 0 is 1. They share the filter, so this
	// one decides how long the generations of a Fitted filter are.
	MoreThan int

	// TierBytes is the size of the tier behind the gate, which holds what is stored; a stage before it does not count.
	// Filters that are Fitted use it.
	TierBytes int64

	// Held says how many objects that tier holds, and their bytes. It is called for one of sixteen responses that were
	// stored or held back. Nil: the windows go by the sizes of responses alone.
	Held fit.Held

	// OnFit, if not nil, is called when the number of objects that the tier holds when it is full is first known, and
	// whenever it has moved by more than a quarter since. Its arguments are that number and the sightings after which a
	// generation of the filter then ends. It is called for each filter that is Fitted, from the filter's own goroutine,
	// like OnEarlyRotation.
	OnFit func(filter string, objects, sightings int64)

	// OnEarlyRotation, if not nil, is called for every rotation of a full filter before RotateEvery was over: the
	// window is shorter than configured. Filter is one of the filter names, age that of the generation that filled up.
	// It is called from the filter's own goroutine, which rotates nothing and cannot be closed until it returns.
	OnEarlyRotation func(filter string, age time.Duration)

	// Guard, if not nil, runs each step of the goroutines of a Gate, a rotation or a save. It must return even if the
	// step panics: the next step runs nevertheless. Nil runs steps unguarded.
	Guard func(step func())

	// WarmingUp, if not nil, reports whether the gate is open because the cache is still too empty to refuse anything.
	// It is called for every sighting that would be refused, except those of policy Never. It must be fast and safe for
	// concurrent use. Sightings are recorded nevertheless.
	WarmingUp func() bool

	// State, if not nil, keeps the filters in a file, from Gate.StartSaving on.
	State *StateOptions

	// Restore, if not nil, is what LoadState read. New uses the parts that fit the sections above and ages them;
	// Gate.Problems says which do not fit. It needs State, with the Seed that the sightings were saved under. New
	// closes it.
	Restore *State
}

// FilterOptions is the size of a filter and the period of its rotation.
type FilterOptions struct {
	bloom.Options

	// Fitted fits the length of a generation to the tier behind the gate, as package fit computes it; Capacity is
	// ignored then.
	Fitted Fitted

	// RotateEvery is the longest time that a generation is the newest; it is rotated earlier when it is full. 0 rotates
	// only full ones; otherwise 1ms or more.
	RotateEvery time.Duration
}

// Fitted says what decides how long a generation is: what the tier behind the gate holds, or Capacity and RotateEvery.
type Fitted bool

// String returns the word of f in the configuration.
func (f Fitted) String() string {
	if f {
		return "auto"
	}
	return "fixed"
}

// StateOptions says where the filters are saved over a restart, and how often.
type StateOptions struct {
	// Path is the file. Its directory must exist and be writable.
	Path string

	// Every is the time between two saves; 0 is 5 minutes. They begin with
	// Gate.StartSaving; the gate saves once more when it is closed.
	Every time.Duration

	// Seed is the seed of the key hash, without which the filters mean nothing. It is stored with them, so the file is
	// as secret as the seed.
	Seed uint64

	// OnError, if not nil, is called with the error of every save that Gate
	// itself began and that failed. It is called from the gate's own goroutine,
	// or from Close.
	OnError func(error)
}

// defaultSaveEvery bounds what a crash loses, at the cost of writing some megabytes.
const defaultSaveEvery = 5 * time.Minute

// needsTier reports whether a filter is fitted to the tier.
func (o Options) needsTier() bool { return o.SecondHit.fitted() || o.Counting.fitted() }

func (o *FilterOptions) fitted() bool { return o != nil && bool(o.Fitted) }

// Validate returns nil or every fault at once, each an *bloom.OptionError.
func (o FilterOptions) Validate() error {
	if o.Fitted {
		o.Capacity = 1 // any valid value
	}
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
	if o.needsTier() && o.TierBytes <= 0 {
		errs = append(errs, &bloom.OptionError{Option: "tier", Value: fmt.Sprintf("%d bytes", o.TierBytes), Want: "the size of what the filters are fitted to"})
	}
	if s := o.State; s != nil && s.Path == "" {
		errs = append(errs, &bloom.OptionError{Option: "state", Value: `""`, Want: "the path of a file"})
	}
	if s := o.State; s != nil && s.Every < 0 {
		errs = append(errs, &bloom.OptionError{Option: "save_every", Value: s.Every, Want: "0s (5m) or more"})
	}
	if o.Restore != nil && o.State == nil {
		errs = append(errs, &bloom.OptionError{Option: "restore", Value: "a saved state", Want: "a state with the seed in use"})
	}
	return errors.Join(errs...)
}
