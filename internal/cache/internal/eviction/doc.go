// Package eviction answers: which objects does a full cache give up, and are they worth less than the one that wants their place?
//
// The worth of an object is a guess at how soon it is asked for again, by what it takes to keep it:
//
//	worth = (1 + log2 uses) / (time since the last use · bytes^exponent)
//
// With an exponent of 0 sizes do not matter, and the bytes of hits are what counts. With 1 two small objects are worth as much as
// one of twice the size, and the number of hits is what counts. Uses and the time since the last one are those of LRFU (Lee and
// others, IEEE Transactions on Computers 2001), the size is that of GreedyDual-Size-Frequency (Cherkasova, 1998).
//
// A Ranking holds the objects in lists, one for each class of size and of uses. In a list only the time differs, so its oldest
// object is worth least. The oldest ones of all lists are compared, and that is all: there is no heap, and nothing is drawn at
// random. Without sizes and uses this is LRU. A hit changes no list. It is enough that the owner notes when and how often an object was used. Where the oldest object
// of a list was used since it got its place, it gets a new one first (as in the clock algorithm of Corbató, 1968).
//
// A newcomer may be made to compete: it has to be worth more than all that would go for it together (Einziger, Eytan, Friedman
// and Manes, "Lightweight Robust Size Aware Cache Management", ACM Transactions on Storage 2022, aggregated victims).
//
// The package knows no clock: times are ticks of the owner's. It knows neither keys nor bodies.
package eviction
