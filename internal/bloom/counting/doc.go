// Package counting answers: how often was this key sighted within the window?
//
// It has the counting Bloom filter of the textbook, Counters (Fan, Cao, Almeida
// and Broder, "Summary cache", IEEE/ACM ToN 8(3), 2000), with counters of 4
// bits, and two sliding windows with a generation of counters for each period:
// Filter, made for speed, whose sighting touches one cache line of each
// generation, and Textbook, the reference. The law they keep: an estimate is
// never below the number of sightings since the oldest generation began, less
// those removed, as far as each generation's counters reach (Max); and an unseen
// key is counted at all at a rate of at most Options.FalsePositiveRate while no
// generation holds more than its capacity.
//
// Textbook raises all counters of a key, and so can remove. Filter raises its
// smallest only, the conservative update, and errs less; it cannot remove, for a
// removal would take from counters that the sighting never raised, and other
// keys would be forgotten. Filter can be saved and loaded.
//
// It reads no clock and rotates nothing by itself; its owner does. It hashes
// nothing.
package counting
