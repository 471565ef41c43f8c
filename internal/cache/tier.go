package cache

// Tier is a part of a Store with its own bound and its own counters. Its word
// is the label of the metrics.
type Tier uint8

// The tiers.
const (
	None   Tier = iota // no tier: not stored
	Memory             // what admission let in
	Stage              // first sightings; see PutStage
)

// HeldBack reports whether admission has held back what the tier has.
func (t Tier) HeldBack() bool { return t == Stage }

// String returns the word for the tier.
func (t Tier) String() string {
	switch t {
	case None:
		return "none"
	case Memory:
		return "memory"
	case Stage:
		return "stage"
	}
	return "unknown"
}
