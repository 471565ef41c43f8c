package admission

import (
	"time"

	"edgeproxy/internal/bloom"
)

// revive returns the filter of kind k as it was saved, aged to now, or a fresh
// one where none was saved or what was does not fit; then st keeps the reason.
// The error is that of the options.
func revive[F filter](k kind[F], st *State, o FilterOptions, now time.Time) (f F, restored bool, err error) {
	if section := st.section(k.name); section != nil {
		f, err = k.load(section, o.Options, now)
		if err == nil {
			age(f, o, now)
			return f, true, nil
		}
		st.fault("the %s filter begins anew: %w", k.name, err)
	}
	f, err = k.fresh(o.Options, now)
	return f, false, err
}

// age makes up for the rotations by time that were due while f was not in use:
// one for each whole period since its newest generation began, dated when it was
// due, so that the next is due when it would have been. Beyond the number of
// generations they change nothing more, so only the last of them are done.
func age(f filter, o FilterOptions, now time.Time) {
	if o.RotateEvery <= 0 {
		return
	}
	began := f.Start()
	due := now.Sub(began) / o.RotateEvery
	for n := max(due-time.Duration(o.Generations)+1, 1); n <= due; n++ {
		f.Rotate(began.Add(n*o.RotateEvery), bloom.CauseTime)
	}
}
