// Package shadow estimates what the live cache would do under other policies.
//
// A slice is a share of the keys, chosen by their hash. A Shadow replays the
// finished requests of its slice with up to eight policies at once, and with those of the live routes besides. Each policy has
// a miniature of the cache: it holds keys and sizes but no bodies, and is smaller
// than the live cache by the share of the slice. Its counts are scaled up by the
// inverse. That is miniature simulation (Waldspurger, Saemundsson, Ahmad and Park,
// "Cache modeling and optimization using miniature simulations", USENIX ATC 2017) on
// spatially hashed samples (Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC
// construction with SHARDS", FAST 2015).
//
// Either all requests of a key are in the slice or none, so each policy sees whole
// histories. Every request of the slice is a sighting, under every policy. Nothing
// is stored.
//
// Compare the policies with each other, not with the live cache: all are exact LRU
// without a stage; nothing expires, varies or is purged; and a request counts when
// it has ended. What is tried as live shows how much that matters. The slice
// adds an error of its own. On Zipf traffic with exponents from 0.7 to 1.1, and about
// 1,500 objects in a miniature, hit ratios are within 0.01 of the whole, and the
// difference of two policies within 0.003. They would be off by 0.1 if hits of the
// slice were scaled up instead of misses; PolicyStats says why.
//
// The costs are bounded. Memory: each policy has at most 65,536 records of 40 bytes,
// with an index of 4 to 8 bytes each: 3 MB in all, or 1.5 MB if the live cache has
// 256 MiB and objects of up to 8 MiB. All policies share one filter of each kind, its
// capacity scaled down too. Time: each request takes two counters. A request of the
// slice takes a mutex too, under which each policy takes some tens of nanoseconds and
// nothing allocates. One request in a generation rotates a window. That took 2 ms for
// 125,000 keys in both filters, and at worst 30 ms with two busy processors, to which
// it yields at every 32 KiB. It holds no mutex then: other requests never wait for it.
//
// Sizes come from what a request happens to fetch. The first request of a key, or the
// first after the policy evicted it, may be conditional or for a range. Then it is a
// miss of unknown size: it counts no bytes and stores nothing, although the live cache
// may have fetched and stored the whole object. The next plain GET stores it, after one
// more miss.
//
// The package starts no goroutine and reads no clock: the caller passes the time of
// each request.
package shadow
