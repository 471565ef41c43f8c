// Package counting answers: how often was this key sighted within the window?
//
// It is a counting Bloom filter (Fan, Cao, Almeida and Broder, "Summary cache",
// IEEE/ACM ToN 8(3), 2000) with counters of 4 bits, one for each generation of
// a sliding window. The law it keeps: an estimate is never below the number of
// sightings since the oldest generation began, less those removed, as far as
// each generation's counters reach (Max); and an unseen key is counted at all
// at a rate of at most Options.FalsePositiveRate while no generation holds more
// than its capacity.
//
// Every sighting adds to all counters of its key. A conservative update, adding
// to the smallest only, would err less, but a removal could then take from
// counters that the sighting never raised, and other keys would be forgotten.
//
// It reads no clock and rotates nothing by itself; its owner does.
package counting
