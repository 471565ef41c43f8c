// Command sweep answers: for how many keys, as a multiple of the objects that the
// cache holds, does a filter best remember sightings?
//
// It plays the usual traces and models of popularity through a cache under many
// multiples and floors, without a stage and with one, and prints what each hits and
// writes. The tables in testdata are what it made of them. A test plays a part of them
// again, and holds the lengths of internal/admission/fit to those that the rule in choose.go picks.
//
// The cache is the proxy's own memory tier with size-aware eviction, and sightings are in
// sets, which do not err as filters do. So the same trace gives the same figures. C is
// estimated as in the proxy, by internal/admission/fit.
package main
