// Package bloomtest answers: does a filter keep the laws of a window of sightings?
//
// It is one suite for both families, that which knows whether a key was sighted
// (bloom/sliding) and that which counts (bloom/counting). A room gives it a Family, as
// testing/fstest is given a file system, and keeps the tests of what only it has: its
// bits, its lines, its counts. Tests only.
package bloomtest
