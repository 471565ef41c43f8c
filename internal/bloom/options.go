package bloom

import (
	"errors"
	"fmt"
)

// Bounds of Options.Generations. One generation is no window: all would be
// forgotten at once. Beyond four the memory saved no longer pays for the
// further look-ups.
const (
	MinGenerations = 2
	MaxGenerations = 4
)

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

	// FalsePositiveRate is that of the whole window when every generation is
	// full, within (0, 1).
	FalsePositiveRate float64
}

// OptionError is one option with a value that cannot work.
type OptionError struct {
	Option string // as in the configuration, such as "capacity"
	Value  any
	Want   string
}

// Error returns option, value and what is wanted, in this order.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %v: want %s", e.Option, e.Value, e.Want)
}

// Validate returns nil or every fault at once, each an *OptionError.
func (o Options) Validate() error {
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
	if len(errs) == 0 {
		if m, _ := o.size(); m == 0 || m > MaxCells {
			wrong("capacity", o.Capacity, fmt.Sprintf("a generation of at most %d cells; fewer keys or a higher false_positive_rate",
				uint64(MaxCells)))
		}
	}
	return errors.Join(errs...)
}

// size returns cells and probes of one generation.
func (o Options) size() (m uint64, k int) {
	m, k = Size(uint64(o.Capacity), GenerationRate(o.FalsePositiveRate, o.Generations))
	if m == 0 {
		return 0, 0
	}
	return max(m, MinCells), k
}
