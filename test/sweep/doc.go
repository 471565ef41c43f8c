// Command sweep answers: for how many keys, as a multiple of the objects that the
// cache holds, does a filter best remember sightings?
//
// It plays the usual traces and models of popularity through a cache under many
// multiples and floors, and prints what each hits and writes. testdata/sweep.tsv is
// what it printed. A test plays a part of it again, and holds the lengths of
// internal/fit to those that the rule in choose.go picks from it.
//
// The cache is exact: LRU, an object taking its body and what an entry takes
// beside it, and sightings in sets. So the same trace gives the same figures, and no
// other eviction or filter has a say in the multiples. C is estimated as in the proxy,
// by internal/fit.
package main
