// Package disk keeps stored responses on a disk.
//
// It answers one question: which record lies on the disk under this key, and what has to go so that the
// next one fits? A record is a key, an opaque block of the caller's (facts and head of a response) and a body. It is written once, whole, and
// never changed.
//
// It is the tier behind memory of internal/cache, which uses:
//
//	Put(h, key, block, body)   takes a whole record; never waits; refuses at once (ErrBusy, ErrRate, …)
//	Create(h, length, head)    a Draft: Write takes the body while it comes, Commit makes a record of it; for one that is too long for memory
//	Find(h, key, *Hit)         the newest record of key: its block, and its body in memory where it is small,
//	                           else by ReadAt into the caller's buffer, or by File and sendfile; Free lets others have its memory
//	Holds(h), Touch(h)         whether to ask Find at all; a hit of a copy in memory counts here, too
//	Patch(h, key, serial, p)   note 32 bytes of a record, in the log: a 304 writes no more than that
//	Remove(h), Keep            forget a key; have all that was forgotten on the disk
//	Each(fn)                   every record's key and block: for a sweep of purges, and for the operator
//	Stats, Close
//
// A Group (group.go) is several of them, one a device, behind the same methods.
//
// h is a 64-bit hash of key under Seed, which the directory keeps.
//
// The laws:
//
//   - No wrong byte. What Find returns was checked: the head, the full key, each ChunkBytes of the body. File alone gives bytes
//     that nobody has checked; Check does that first, or knows that they were, a short while ago (hot.go).
//   - Put and no later Remove means found, until it is evicted: from memory until it is written, then from the disk.
//   - The directory never has more than Options.MaxBytes, and leaves MinFree of its file system free.
//   - No request waits for a write. What comes faster than the disk takes it is refused.
//   - A kill loses at most what was not written yet (some MiB, flushAfter old). What was written is there after the next Open, which serves at
//     once and fills the index behind. A loss of power may also lose what lies in segments that are not sealed.
//   - A directory that fails, hangs or vanishes costs its hits and nothing else; the Store opens it again by itself.
//   - What is not ours is neither read nor deleted.
//
// Remove takes effect at once, and lasts over a kill once the writer has logged it. A caller that has to promise more calls Keep, or keeps a
// log of its own and asks it at each hit. internal/purge is such a log, of purges and of invalidations by unsafe requests.
//
// How it works: layout says how bytes lie, device makes the calls, index (8 bytes an object) says where records are. One goroutine (writer.go) owns
// all that changes the disk: it appends to two segments, one of small records and one of large (append.go), and to one for each draft (reserve.go), seals each
// with one fdatasync, and makes room (evict.go). A hand goes over the segments, that first which it has looked at longest ago (CLOCK in place). Large records that it finds without hits
// are punched out one by one. Small ones go with their segment, and those with hits are written anew, up to half of it; a segment of which much was hit
// stays for a lap (stay.go).
// A Store (store.go) watches over one opening of the directory, a volume, and replaces it when it fails.
package disk
