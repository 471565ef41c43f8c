package sliding

import (
	"io"
	"time"

	"edgeproxy/internal/bloom"
)

// Save writes the window to w for Load, as bloom.SaveState says: it holds up
// neither sightings nor rotations, and may run beside both. What the keys are
// hashed with is the caller's to keep.
func (f *Filter) Save(w io.Writer, now time.Time) error {
	return bloom.SaveState(w, bloom.SplitBlock, f.options, f.ring, now)
}

// Load returns a filter with the window that Save wrote, for the same options; if they
// are Resizable, of any capacity.
// Its serial numbers begin anew and its rotations are counted from 0. The time
// since the save is part of every generation's age; rotating what is due is the
// caller's. Errors are those of New and of bloom.LoadState, and with an error
// there is no filter.
func Load(r io.Reader, o bloom.Options, now time.Time) (*Filter, error) {
	if err := validate(o, bloom.SplitBlock); err != nil {
		return nil, err
	}
	held, starts, err := bloom.LoadState(r, bloom.SplitBlock, o, now, func(capacities []int64) []*generation { return generations(o, capacities) })
	if err != nil {
		return nil, err
	}
	return newFilter(o, held, starts), nil
}
