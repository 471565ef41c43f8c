// Package bloom is what the filters of this program share: how large to make one,
// where the probes of a key fall, what rate to expect, and the ring of generations
// that turns filters into a sliding window.
//
// A Rule says how probes follow from a hash. The formulas are functions, each with its
// source:
//
//	size from keys and rate      Size, PartitionedSize, CellsFor, BitsPerKey
//	keys from size and rate      Capacity, KeysFor
//	probes from bits per key     OptimalProbes, BestProbes
//	rate from size and keys      FalsePositiveRate, BestRate, PartitionedRate
//	rate, keys from the fill     RateFromFill, KeysFromFill
//	rate of a window             WindowRate, GenerationRate, PeakRate, CycleRate,
//	                             MeanRate
//	blocked layouts              BlockRate, BlockSize, LineRate, LineSize
//
// The law it keeps: a key that was added is found until its generation is
// cleared; a key that was not is found, wrongly, at a rate the formulas of this
// package state in advance and the tests measure.
//
// It reads no clock, starts no goroutine and hashes nothing: times and the two
// halves of a 128-bit hash are arguments. What a sighting means is for the
// packages sliding (seen or not) and counting (how often). The classic filters are in
// package textbook.
package bloom
