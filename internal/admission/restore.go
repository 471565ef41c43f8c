package admission

import (
	"time"

	"edgeproxy/internal/bloom"
)

// revive returns the saved filter of kind k, aged to now, or a new one if none was saved or the saved one does not fit;
// then st keeps the reason. The error is that of the options.
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

// age makes the rotations by time that were due while f was not in use: one for each whole period since its newest
// generation began, dated when it was due, so that the next is due when it would have been. More rotations than there
// are generations change nothing more, so only the last ones are done.
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
