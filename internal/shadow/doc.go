// Package shadow answers: what would the live cache do under another policy?
//
// A Shadow takes the finished requests of a slice of the key space, chosen by
// their hash, through up to eight policies at once. Each has a cache of its own
// that holds keys and sizes and no bodies, as much smaller than the live one as the
// slice is than all keys; what it counts is scaled up by as much. That is
// miniature simulation (Waldspurger, Saemundsson, Ahmad and Park, "Cache modeling
// and optimization using miniature simulations", USENIX ATC 2017) on spatially
// hashed samples (Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC
// construction with SHARDS", FAST 2015).
//
// The law it keeps: all requests of a key are in the slice or none, so that each
// policy sees whole histories; every request of the slice is a sighting, under
// every policy; nothing is stored.
//
// Compare its policies with each other, not with the live cache: all are exact
// LRU without a stage, nothing expires, varies or is purged, and a request is
// counted when it has ended. A shadow of the live policy shows how far that
// carries. The slice adds an error of its own: on traffic of Zipf's law with
// exponents from 0.7 to 1.1 and some 1,500 objects held by a miniature, hit ratios
// come out within 0.01 of the whole and the difference of two policies within
// 0.003. They would be off by 0.1 if the hits of the slice were scaled up instead
// of the misses; PolicyStats says why.
//
// The costs are bounded. Memory: for each policy at most 65,536 records of 40
// bytes with an index of 4 to 8 more, 3 MB in all, 1.5 MB where the live cache has
// 256 MiB and objects of up to 8 MiB; and for all together one filter of each
// kind, its capacity scaled down too. Time: two counters for each request, and
// for one of the slice a mutex, under which each policy takes some tens of
// nanoseconds and nothing allocates. The request that finds a window over rotates
// it, which took it 2 ms for 125,000 keys in both filters, 30 ms at worst with
// two busy processors, to which it yields at every 32 KiB. It is one request in a
// generation, and holds no mutex then: the others never wait for it.
//
// Sizes are learnt from what a request happens to fetch. One that is the first of
// its key, or the first after the policy let it go, and is conditional or for a Range,
// is a miss whose object is not known: it counts no bytes and stores nothing,
// where the live cache may have fetched and stored the whole. The next plain GET
// makes up for it, a miss later.
//
// It starts no goroutine and reads no clock: time is that of the requests.
package shadow
