// Command filterbench answers: what does a sighting cost, and what does a
// rotation cost the requests beside it?
//
// In one run it measures the filters of this module in the production layout,
// the same in the textbook's, and bits-and-blooms/bloom, two filters behind a
// mutex that rotate as ours do. A sighting is recorded and tested in one call;
// half of them are of new keys and half of keys that the window holds, all
// generations are full or fill up, and every filter meets the same keys. Filters
// take turns, round by round, so that a slow moment of the machine meets all of
// them, and the verdict is the median of the ratios of neighbouring rounds. Below
// --min-ratio the exit code is 1; what is below is measured once more before.
//
// Then each filter is rotated while another goroutine sights keys and times
// every call: that shows how long a request may wait for a rotation.
//
// The law: what is timed is the call alone, keys and their hashes are made
// before. It measures no hit ratios and no false positives; tests do.
package main
