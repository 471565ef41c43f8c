// Package top counts requests by host and URL in a fixed amount of memory.
//
// It answers: which hosts and URLs have the most traffic?
//
// A Summary is the algorithm Space-Saving of Metwally, Agrawal and El Abbadi ("Efficient Computation
// of Frequent and Top-k Elements in Data Streams", ICDT 2005) with weights, on a heap. A Table has one
// for each measure and kind of key, in several stripes. A request uses a free stripe and never waits.
// A list merges the stripes (Agarwal et al., "Mergeable Summaries", PODS 2012).
//
// The law: a Row is certain. The true count is at least AtLeast and at most AtMost, and the two are at
// most Total/entries apart. A key whose count is above Total/entries has a row. Keys are compared by a
// 64-bit hash with a seed of the process; two keys with the same hash count as one.
//
// It does not know requests, routes or results, and reads no clock.
package top
