package main

import (
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/sliding"
	"edgeproxy/internal/bloom/textbook"
)

// The window of every filter: that of the usual configuration.
const (
	generations = 2
	windowRate  = 0.01
)

// subject is one filter to measure. sight is a loop of its own for each kind, so
// that the calls in it are the ones a program would make.
type subject struct {
	name   string
	sight  func(keys []key)
	full   func() bool
	rotate func()
	bytes  int64
}

// pairing says which subject is to be how much faster than which.
type pairing struct{ production, textbook string }

// Names of the subjects.
const (
	slidingName          = "sliding"
	slidingTextbookName  = "sliding, textbook"
	rivalName            = "bits-and-blooms, mutex"
	countingName         = "counting"
	countingTextbookName = "counting, textbook"
)

func pairings() []pairing {
	return []pairing{{slidingName, slidingTextbookName}, {countingName, countingTextbookName}}
}

// subjects builds every filter for so many keys a generation.
func subjects(keys int) ([]*subject, error) {
	o := bloom.Options{Generations: generations, Capacity: int64(keys), FalsePositiveRate: windowRate}
	now := time.Now()
	production, err1 := sliding.New(o, now)
	classic, err2 := textbook.NewSliding(o, now)
	counter, err3 := counting.New(o, now)
	classicCounter, err4 := textbook.NewCounting(o, now)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return nil, fmt.Errorf("filters for %d keys: %w", keys, err)
		}
	}
	other := newRival(keys)
	all := []*subject{
		describe(slidingName, production, func(keys []key) {
			for _, k := range keys {
				production.Seen(k.hi, k.lo)
			}
		}),
		describe(slidingTextbookName, classic, func(keys []key) {
			for _, k := range keys {
				classic.Seen(k.hi, k.lo)
			}
		}),
		describe(rivalName, other, func(keys []key) {
			for _, k := range keys {
				other.seen(k)
			}
		}),
		describe(countingName, counter, func(keys []key) {
			for _, k := range keys {
				counter.Add(k.hi, k.lo)
			}
		}),
		describe(countingTextbookName, classicCounter, func(keys []key) {
			for _, k := range keys {
				classicCounter.Add(k.hi, k.lo)
			}
		}),
	}
	return all, nil
}

// filter is what all of them have besides the sighting.
type filter interface {
	Full() bool
	Rotate(now time.Time, cause bloom.Cause) bool
	Bytes() int64
}

func describe(name string, f filter, sight func([]key)) *subject {
	return &subject{
		name: name, sight: sight, full: f.Full, bytes: f.Bytes(),
		rotate: func() { f.Rotate(time.Now(), bloom.CauseFull) },
	}
}

// bitsPerKey is the memory of the whole window for each key of a generation.
func (s *subject) bitsPerKey(keys int) float64 { return float64(s.bytes) * 8 / float64(keys) }
