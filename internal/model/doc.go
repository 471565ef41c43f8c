// Package model answers: what would a cache of this size, under this policy,
// have done with these requests?
//
// A Run takes one setting through a trace and keeps no bodies, only who would
// be held. The laws it keeps are the proxy's own:
//
//   - every request is a sighting, hits included, counted once;
//   - a miss is a fill, and its verdict is the one of its own request: stored,
//     held back, or too large;
//   - a HEAD is a sighting of the same key, is answered by what a GET has stored, and
//     is no fill where nothing answers it;
//   - what is stored is found by the next request, also in a full cache;
//   - a hit in the stage is a write into the main part where the verdict admits
//     it, and always under second-hit, whose second sighting it is.
//
// So requests are hits, fills and HEADs that nothing answers, fills are stored, held back and too large,
// and writes are what is held and what was evicted.
//
// With a disk there are two tiers. Admission lets responses onto the disk, and the
// memory has the stage and copies of what is hit there (tiers.go, disk.go). Writes, held
// and evicted are the disk's then.
//
// Sightings are kept by the production filters or, to see a policy without
// their error, by exact sets. With filters the exact sets run beside them, which
// is how a Result tells what the filter got wrong.
//
// Not modelled: freshness, Vary, requests at the same moment, and the time the
// origin takes; of a disk, footers, limits of its rate and its free space, faults and
// restarts. The package reads no clock and no file: times come with the
// requests. Its memory is bounded by the objects, not the requests nor the
// capacity: 20 bytes for each object and setting, 12 more with a stage, 28 more with a disk, and a filter
// with room for every object at most; with Ristretto the entries held, and the
// sketch and tables of a tier of that capacity. Setting.Memory foretells it.
package model
