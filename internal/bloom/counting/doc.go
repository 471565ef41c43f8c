// Package counting answers: how often was this key sighted within the window?
//
// Filter is a sliding window with a generation of counters of 4 bits for each period. It
// is made for speed: a sighting touches one cache line of each generation. The law it
// keeps: an estimate is never below the number of sightings since the oldest generation
// began, as far as each generation's counters reach (Max); and an unseen key is counted at
// all at a rate of at most Options.FalsePositiveRate while no generation holds more than
// its capacity.
//
// textbook.Counting, the reference, raises all counters of a key, and so can remove.
// Filter raises its smallest only, the conservative update, and errs less; it cannot remove, for a
// removal would take from counters that the sighting never raised, and other
// keys would be forgotten. Filter can be saved and loaded.
//
// It reads no clock and rotates nothing by itself; its owner does. It hashes
// nothing.
package counting
