// Package fit answers: how many objects does the tier behind the admission gate
// hold when it is full, for how many requests must a filter remember sightings to
// suit it, and how large is the stage of a memory?
//
// A window that is much shorter than the cache forgets what would have come back; one
// that is much longer stores what will not come back in time. So the length of a
// generation is a multiple of C, the number of objects that the tier holds when it is
// full. The multiples come from a sweep over real and modelled traces (test/sweep).
//
// It is told the sizes of responses and knows no clock, no filter and no cache.
package fit
