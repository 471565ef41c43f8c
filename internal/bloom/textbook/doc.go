// Package textbook has the Bloom filters of the literature: the reference that the
// production filters of the rooms sliding and counting are tested and measured against.
//
// Filter (Bloom 1970), Partitioned (Mullin 1983), Composite (one filter for additions,
// one for deletions) and Counters (Fan, Cao, Almeida and Broder, "Summary cache",
// IEEE/ACM ToN 8(3), 2000) stand each by itself; Sliding and Counting put generations of
// them into a window, as the production filters do. They can be merged, halved and written
// in a binary form. The arithmetic is that of package bloom.
//
// The law it keeps: a key that was added is found until its generation is cleared or it
// is removed; a key that was not is found, wrongly, at the rate that the formulas state.
//
// The proxy does not import it. It reads no clock and hashes nothing.
package textbook
