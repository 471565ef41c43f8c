// Package model answers: what would a cache of this size, under this policy, have done with these requests?
//
// A Run takes one setting through a trace. It keeps no bodies, only which objects would be held. Its rules are the proxy's own:
//
//   - every request is a sighting, hits included, counted once;
//   - a miss is a fill, and the verdict on it is that of its own request: stored, held back, or too large;
//   - a HEAD is a sighting of the same key. A stored GET answers it; if nothing answers it, it is no fill;
//   - a stored object is found by the next request, even in a full cache;
//   - a hit in the stage is a write into the main part if the verdict admits it, and always under second-hit, whose second
//     sighting it is.
//
// So requests are hits, fills, and HEADs that nothing answers. Fills are stored, held back or too large. Writes are held or
// evicted.
//
// Objects may have lifetimes (lifetimes.go). Then there are validations too, and writes that have expired.
//
// With a disk there are two tiers. Admission lets responses onto the disk, and the memory has the stage and copies of objects
// that are hit on the disk (tiers.go, disk.go). Writes, held objects and evictions are the disk's then.
//
// A FleetRun takes a setting through a trace at several edges, each a Run, that share the requests and may ask or tell each other
// (fleet.go).
//
// Sightings are kept by the production filters or, to see a policy without their errors, by exact sets. With filters the exact
// sets run beside them, so a Result tells the errors of the filter.
//
// Not modelled: stale answers, Vary, simultaneous requests, and the response time of the origin; of a disk, footers, limits of its
// rate and of its free space, faults and restarts. The package reads no clock and no file: times come with the requests. Its
// memory is bounded by the number of objects, not by requests or capacity: 20 bytes for each object and setting, 12 more with a
// stage, 28 more with a disk, and a filter with room for every object at most. Ristretto adds the entries held, and the sketch
// and tables of a tier of that capacity. Setting.Memory predicts it.
package model
