package config

import "time"

// Policy says which storable responses are stored.
type Policy string

// The policies.
const (
	PolicyAlways    Policy = "always"     // each
	PolicySecondHit Policy = "second-hit" // whose key was sighted before within the window
	PolicyCounting  Policy = "counting"   // whose key was sighted more than MoreThan times
	PolicyNever     Policy = "never"      // none
)

// Admission is the policy of all routes that do not say otherwise, and the
// filters, which are process-wide.
type Admission struct {
	Policy    Policy
	SecondHit Window
	Counting  Counting
	OpenBelow float64 // the gate is open while the cache is below this share of its size; 0 to 1, 0 is never
	State     string  // the file that keeps the sightings over a restart; "" is none
	Shadow    []Rule  // tried on a sample of the traffic, storing nothing; at most MaxShadow, no two alike
}

// MaxShadow is the largest number of shadow policies.
const MaxShadow = 8

// WindowMode is how long the generations of a window are.
type WindowMode string

// The modes.
const (
	WindowAuto  WindowMode = "auto"  // as long as suits the cache
	WindowFixed WindowMode = "fixed" // as RotateEvery and Capacity say
)

// Window is the memory of a filter: generations that are rotated after a time
// or when the newest is full, whichever comes first.
type Window struct {
	Mode              WindowMode    // the file's window; absent it is auto, or fixed where capacity is given
	Generations       int           // 2 to 4
	RotateEvery       time.Duration // 0 is not by time, else 1s or more
	Capacity          int           // distinct keys a generation holds, 1 to 1e9; 0 under WindowAuto
	FalsePositiveRate float64       // of the whole window when full; above 0, at most 0.5
}

// fixedCapacity is that of a fixed window for which none is given, and fixedSecondHit and
// fixedCounting are its periods.
const (
	fixedCapacity  = 1_000_000
	fixedSecondHit = 30 * time.Minute
	fixedCounting  = 6 * time.Hour
)

// resolve fills in what the file leaves open; every is the period of a fixed window.
func (w *Window) resolve(src *source, path string, every time.Duration) {
	if !src.given(child(path, "window")) && src.given(child(path, "capacity")) {
		w.Mode = WindowFixed
	}
	if w.Mode != WindowFixed {
		return
	}
	if !src.given(child(path, "rotate_every")) {
		w.RotateEvery = every
	}
	if !src.given(child(path, "capacity")) {
		w.Capacity = fixedCapacity
	}
}

// Counting is the filter of PolicyCounting.
type Counting struct {
	MoreThan int // stored on the sighting after this many; 1 to 14
	Window
}

// Rule is what one route goes by.
type Rule struct {
	Policy   Policy
	MoreThan int // 1 to 14 under PolicyCounting, else 0
}
