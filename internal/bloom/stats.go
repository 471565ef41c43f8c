package bloom

import "time"

// Cause is why a window was rotated.
type Cause uint8

// The causes. Their words are metric labels.
const (
	CauseTime   Cause = iota // the period was over
	CauseFull                // the master held its capacity
	CauseFitted              // the master held as many keys as suit the cache behind the filter

	causes
)

// String returns "time", "full" or "fitted".
func (c Cause) String() string {
	switch c {
	case CauseTime:
		return "time"
	case CauseFull:
		return "full"
	case CauseFitted:
		return "fitted"
	default:
		return "unknown"
	}
}

// Stats is the state of a sliding filter at one moment. The figures are read
// one after the other while the filter works, so they may differ by the keys
// recorded meanwhile.
type Stats struct {
	// Generations has one element for each generation held, newest first. While
	// a rotation clears the oldest it is one shorter.
	Generations []GenerationStats

	// FalsePositiveRatio is the share of unseen keys the filter is expected to
	// report now; in [0, 1]. The textbook layouts work it out from the cells in
	// use, the blocked ones from the keys recorded (BlockRate, LineRate).
	FalsePositiveRatio float64

	// Window is the time since the oldest generation held began, at least 0.
	Window time.Duration

	// Keys is the sum over the generations; a key sighted in several counts in
	// each.
	Keys int64

	// Bytes is the memory of all generations.
	Bytes int64

	// Limit is the number of keys at which the newest generation is full, and Room
	// the number that it was made for: with less it is full at Room.
	Limit, Room int64

	// Rotations counts those completed since the filter was made.
	Rotations Rotations
}

// GenerationStats is the state of one generation.
type GenerationStats struct {
	FillRatio float64 // cells in use, in [0, 1]
	Keys      int64   // distinct keys recorded
	Start     time.Time
}

// Rotations are numbers of rotations by cause; their sum is the number of all.
type Rotations struct {
	Time, Full, Fitted int64
}

// Stats returns the state as of now. It costs a few loads for each generation,
// never a scan.
func (r *Ring[T, V]) Stats(now time.Time) Stats {
	w := r.window.Load()
	s := Stats{
		Generations: make([]GenerationStats, len(w.held)),
		Window:      max(now.Sub(w.starts[len(w.starts)-1]), 0),
		Bytes:       w.bytes,
		Limit:       r.limit.Load(),
		Rotations:   Rotations{Time: r.count[CauseTime].Load(), Full: r.count[CauseFull].Load(), Fitted: r.count[CauseFitted].Load()},
	}
	s.Room = s.Limit
	if r.form.Room != nil {
		s.Room = r.form.Room(w.held[0])
	}
	rates := make([]float64, len(w.held))
	for i, g := range w.held {
		s.Generations[i] = GenerationStats{FillRatio: g.Fill(), Keys: g.Keys(), Start: w.starts[i]}
		s.Keys += s.Generations[i].Keys
		rates[i] = r.form.Rate(g)
	}
	s.FalsePositiveRatio = WindowRate(rates...)
	return s
}
