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

// Window is the memory of a filter: generations that are rotated after a time
// or when the newest is full, whichever comes first.
type Window struct {
	Generations       int           // 2 to 4
	RotateEvery       time.Duration // 0 is by fill only, else 1s or more
	Capacity          int           // distinct keys a generation holds, 1 to 1e9
	FalsePositiveRate float64       // of the whole window when full; above 0, at most 0.5
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
