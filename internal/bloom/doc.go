// Package bloom holds what Bloom filters of any kind share: how large to make
// them, where the probes of a key fall, one plain filter of bits, and the ring
// of generations that turns filters into a sliding window.
//
// The law it keeps: a key that was added is found until its generation is
// cleared; a key that was not is found, wrongly, at a rate the formulas of this
// package state in advance and the tests measure.
//
// It reads no clock, starts no goroutine and hashes nothing: times and the two
// halves of a 128-bit hash are arguments. What a sighting means is for the
// packages sliding (seen or not) and counting (how often).
package bloom
