// Package top counts requests by key in memory that is fixed: hosts and URLs.
//
// It answers: which hosts and URLs does most of the traffic go to?
//
// A Summary is Space-Saving of Metwally, Agrawal and El Abbadi ("Efficient Computation of Frequent
// and Top-k Elements in Data Streams", ICDT 2005) with weights, on a heap. A Table has one for each
// measure and kind of key, in stripes that requests do not wait for: Space-Saving summaries can be
// merged (Agarwal et al., "Mergeable Summaries", PODS 2012).
//
// The law: what a Row says is certain. The true count is at least AtLeast and at most AtMost, and the
// two are at most Total/entries apart. A key whose count is above Total/entries is known. Keys are told
// apart by a hash of 64 bits with a seed of the process; two that share one count as one.
//
// It does not know requests, routes or results, and reads no clock.
package top
