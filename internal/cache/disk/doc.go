// Package disk keeps stored responses on a disk.
//
// It answers two questions: which record is on the disk under this key, and what has to leave so that the next one fits? A record is a key,
// an opaque block of the caller's (facts and head of a response) and a body. It is written once, whole, and never changed.
//
// It is the tier behind memory of internal/cache, which uses:
//
//	Put(h, key, block, body)   takes a whole record; never waits; refuses at once (ErrBusy, ErrRate, …)
//	Create(h, length, head)    a Draft, for a body too long for memory: Write takes it as it arrives, Commit makes a record of it
//	Find(h, key, *Hit)         the newest record of key: its block, and its body in memory if it is small, else by ReadAt into
//	                           the caller's buffer, or by File and sendfile; Free gives its memory to others
//	Holds(h), Touch(h)         whether to call Find at all; counts a hit of a copy in memory
//	Patch(h, key, serial, p)   notes 32 bytes of a record in the log: a 304 writes no more than that
//	Remove(h), Keep            removes a key; makes all removals so far durable
//	Each(fn)                   every record's key and block: for a sweep of purges, and for the operator
//	Stats, Close
//
// A Group (group.go) combines several Stores, one for each device, behind the same methods.
//
// h is a 64-bit hash of key under Seed, which the directory keeps.
//
// Terms. A segment is one file of records. A hand is the pointer of the CLOCK algorithm: it passes over the segments, and a lap is the time
// between two passes over the same one. To punch out a record is to make a hole of its bytes in the file. The removals log (removals.go)
// lists removed records whose segment still has them. To lend a record is to give its file away for sendfile.
//
// The rules:
//
//   - No wrong byte. What Find returns was checked: the head, the full key, each ChunkBytes of the body. Only File gives bytes that
//     nobody has checked: call Check first, which skips what was checked a short while ago (hot.go).
//   - After Put and without a later Remove a record is found, until it is evicted: from memory until it is written, then from the disk.
//   - The directory never has more than Options.MaxBytes, and leaves MinFree of its file system free.
//   - No request waits for a write. Records that come faster than the disk takes them are refused.
//   - A kill loses at most what was not written yet (some MiB, flushAfter old). What was written is there after the next Open, which
//     serves at once and fills the index in the background. A loss of power may also lose records in segments that are not sealed.
//   - A directory that fails, hangs or vanishes costs only its hits. The Store opens it again by itself.
//   - Foreign files are neither read nor deleted.
//
// Remove takes effect at once, also for a directory that fails and is opened again, and survives a kill once the writer has logged it. The log is
// synced every settleAfter, and a second file notes how far (lastremovals.go): a log that has lost its end drops the directory's records. A caller that needs a guarantee calls Keep, or keeps a
// log of its own and asks it at each hit. internal/cache/purge is such a log, of purges and of invalidations by unsafe requests.
//
// How it works: layout defines the bytes, device makes the system calls, index (8 bytes an object) says where records are. One goroutine
// (writer.go) makes all changes to the disk. It appends to two segments, one of small records and one of large (append.go), and to one for
// each draft (reserve.go). It seals each with one fdatasync, and makes room (evict.go). A hand passes over the segments, always to the one
// it visited longest ago (CLOCK in place). Large records that it finds without hits are punched out one by one. Small ones leave with their
// segment. Those with hits are rewritten, up to half of it; a segment of which much was hit stays for a lap (stay.go). A Store (store.go)
// watches one opening of the directory, a volume, and replaces it when it fails. A volume (volume.go) has three parts: the reader answers look-ups
// (find.go), the loader fills the index (fill.go, grow.go), the writer changes the disk. The parts share the segments (segments.go), the queue, the
// health (health.go) and the changes that the disk may not have yet (changes.go). Each of these has a lock of its own.
package disk
