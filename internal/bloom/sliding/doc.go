// Package sliding answers: was this key sighted within the window?
//
// The window is made of two to four generations, each a Bloom filter of its
// own. The newest takes the sightings; rotation forgets the oldest. The law it
// keeps: a key sighted at most G-1 rotations ago is reported, one not sighted
// for G rotations is forgotten, and an unseen key is reported at a rate of at
// most Options.FalsePositiveRate while no generation holds more than its
// capacity. Each generation is asked by itself, never the union of their bits:
// two full arrays of 10 bits a key and 7 probes report 1.6 % of unseen keys,
// their union 13.8 %.
//
// Filter is made for speed: a sighting touches one cache line of each generation. It can
// be saved and loaded. textbook.Sliding, with the same methods, is the reference.
//
// It reads no clock and rotates nothing by itself; its owner does. It does not
// say how often a key was sighted (package counting does), cannot take one
// sighting back, and hashes nothing.
package sliding
