package bloom

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of Options.Generations. One generation is no window: all would be
// forgotten at once. Beyond four the memory saved no longer pays for the
// further look-ups.
const (
	MinGenerations = 2
	MaxGenerations = 4
)

// Bounds of a false positive rate that somebody may ask for: of the configuration, and of the
// commands that recommend one. Beyond the lower one no number of keys, and no blocked layout, comes
// to it. A filter that takes every second new key for a known one is of no use.
const (
	MinRate = 1e-15
	MaxRate = 0.5
)

// WantRate is what an error says of a rate that is not between MinRate and MaxRate.
const WantRate = "must be a ratio from 1e-15 to 0.5, such as 0.01"

// AskedRate reports whether p is a rate that somebody may ask for. NaN is none.
func AskedRate(p float64) bool { return p >= MinRate && p <= MaxRate }

// Options says how large a sliding filter is. It says nothing of time: the
// owner of the filter rotates it.
type Options struct {
	// Generations is the number of generations in the window,
	// MinGenerations..MaxGenerations. More make the window's end sharper and the
	// filter smaller for the same guarantee, and each look-up longer.
	Generations int

	// Capacity is the number of distinct keys one generation holds, above 0. A
	// generation with that many is full and ought to be rotated.
	Capacity int64

	// Resizable makes Capacity that of the first generations only: those that
	// follow are made for the limit of the filter, and a saved state of any
	// capacity is loaded.
	Resizable bool

	// FalsePositiveRate is that of the whole window when every generation is
	// full, within (0, 1).
	FalsePositiveRate float64
}

// OptionError is one option with a value that cannot work.
type OptionError struct {
	Option string // name in the configuration, such as "capacity"
	Value  any
	Want   string
}

// Error returns option, value and what is wanted, in this order.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %v: must be %s", e.Option, e.Value, e.Want)
}

// Validate returns nil or every fault at once, each an *OptionError. With
// layouts it also says what those cannot do: a blocked layout has a lowest rate,
// and every one a largest size. Without any it looks at the ranges and at the
// size of TextbookBits.
func (o Options) Validate(layouts ...Layout) error {
	errs := o.outOfRange()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if len(layouts) == 0 {
		layouts = []Layout{TextbookBits}
	}
	for _, l := range layouts {
		if err := o.misfit(l); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// outOfRange returns the options that no layout can do.
func (o Options) outOfRange() []error {
	var errs []error
	wrong := func(option string, value any, want string) {
		errs = append(errs, &OptionError{Option: option, Value: value, Want: want})
	}
	if o.Generations < MinGenerations || o.Generations > MaxGenerations {
		wrong("generations", o.Generations, fmt.Sprintf("%d to %d", MinGenerations, MaxGenerations))
	}
	if o.Capacity <= 0 {
		wrong("capacity", o.Capacity, "a number of keys above 0")
	}
	if !(o.FalsePositiveRate > 0 && o.FalsePositiveRate < 1) {
		wrong("false_positive_rate", o.FalsePositiveRate, "a ratio above 0 and below 1")
	}
	return errs
}

// misfit returns what the layout cannot do, nil if it can do everything.
func (o Options) misfit(l Layout) error {
	if lowest := l.lowestRate(); o.generationRate() < lowest {
		rates := make([]float64, o.Generations)
		for i := range rates {
			rates[i] = lowest
		}
		return &OptionError{
			Option: "false_positive_rate", Value: o.FalsePositiveRate,
			// Two digits are at most 5 % too low.
			Want: fmt.Sprintf("at least %.2g in the layout %v; below that a key takes more than %d bits",
				WindowRate(rates...)/DesignRate(1)*1.05, l, maxBitsPerKey),
		}
	}
	if units, _ := o.Size(l); units == 0 {
		return &OptionError{
			Option: "capacity", Value: o.Capacity,
			Want: fmt.Sprintf("a generation of at most %d cells; fewer keys or a higher false_positive_rate", uint64(MaxCells)),
		}
	}
	return nil
}

// generationRate is what one full generation is sized for.
func (o Options) generationRate() float64 {
	return GenerationRate(DesignRate(o.FalsePositiveRate), o.Generations)
}

// minSizedKeys is the least number of keys a generation has room for, whatever
// its capacity. With so few keys chance alone may double the rate, and the room
// costs some kilobytes.
const minSizedKeys = 1024

// NextCapacity returns the number of keys that a generation is made for when it shall
// hold keys, and the previous one was made for before. It returns before if that is enough
// and at most twice as much: generations of one size can take each other's place.
// Otherwise it adds a quarter, for a limit that moves a little.
func NextCapacity(before, keys int64) int64 {
	if keys <= before && keys >= before/2 {
		return before
	}
	return keys + keys/4
}

// Next returns the options of the generation that follows one made for before
// keys, when it is to hold keys of them: those of o with another Capacity. Where the
// layout cannot do that many, it stays.
func (o Options) Next(l Layout, before, keys int64) Options {
	o.Capacity = before
	next := o
	next.Capacity = NextCapacity(before, keys)
	if units, _ := next.Size(l); units == 0 {
		return o
	}
	return next
}

// Size returns what one generation takes in a layout: the number of the layout's
// units and of a key's probes. It is sized for the DesignRate of the window, so
// that a filter which errs a little more than the mean of its kind still keeps
// to FalsePositiveRate. The options must be valid for the layout; where a
// generation would pass MaxCells cells both results are 0.
func (o Options) Size(l Layout) (units uint64, probes int) {
	n, p := uint64(max(o.Capacity, minSizedKeys)), o.generationRate()
	if lanes, _, blocked := l.lanes(); blocked {
		if units = blockedSize(lanes, n, p); units == 0 {
			return 0, 0
		}
		return units, lanes
	}
	m, k := Size(n, p)
	if m == 0 || m > MaxCells {
		return 0, 0
	}
	return max(m, MinCells), k
}

// Starts returns the starts of generations that all begin now.
func (o Options) Starts(now time.Time) []time.Time {
	starts := make([]time.Time, o.Generations)
	for i := range starts {
		starts[i] = now
	}
	return starts
}
