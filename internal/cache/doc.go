// Package cache holds stored responses in memory, and in front of a disk if there is one.
//
// It answers one question: which response is stored under this key? It returns an entry whether it is fresh or stale.
// The caller decides whether the entry may be served (RFC 9111 section 4).
//
// Its rule: admitted means stored. When Put returns Stored, the next Find has the entry, even if the cache is full. An entry lands
// in a small synchronous window first, and is not judged there. One that grows old there is offered to main, which gives up what is
// worth least: by package eviction, or by ristretto. (Ristretto alone could not promise that rule: a Set becomes visible late, and its
// policy may refuse the new entry. That is an eviction with a reason of its own.) A caller may ask first whether the entry is
// outweighed by what would have to leave for it (compete.go): that is one more verdict of admission. Every departure is counted. In
// each tier
//
//	writes = objects held + evictions + replaced + purged (+ promoted, of the stage)
//
// There are two tiers in memory. The memory tier holds what admission let in. The stage, if there is one, holds what
// admission held back, first in, first out: there the second request of a key is a hit already. Find says when an entry
// is staged, and the caller may Promote it. A staged entry never displaces an entry of the memory tier, not even one
// under its own key: PutStage returns Superseded instead. The parts share Options.MaxBytes and never exceed it
// together:
//
//	stage      first sightings, with an index       stage.go, promote.go
//	memory:
//	  window   the newest entries                   secondchance.go
//	  main     the entries worth most               main.go, ranked.go, compete.go, sampled.go (ristretto), regions.go
//	  index    which URLs have variants, and by     index.go, lists.go, secondchance.go
//	           which request fields they vary
//	content    of an entry                          content.go
//	books      of each tier                         ledger.go, ages.go, hitparts.go, stats.go, metrics.go, package evicted
//	disk       behind memory, if there is one       disktier.go, putdisk.go, load.go, encode.go, recenthits.go
//
// A sighting is a request of a key that admission counts; a first sighting is a response stored at the first of them.
//
// Where there is a Disk, admitted responses are stored there, and memory holds copies of those requested most. A
// response is copied at its second hit on the disk within memory's window (recenthits.go). Find and Vary look in memory
// and never wait. Load and LoadVary look on the disk. What memory has under a key is never older than what the disk has.
//
// A caller passes an Entry, and the cache stores it as an Object: one block of memory without pointers. The key, the
// facts, the header and a short content follow each other in it (object.go, block.go, item.go, epoch.go;
// docs/decisions/0070-an-object-is-one-block-of-memory.md). So millions of Objects cost the garbage collector little.
// Each takes at most 300 bytes beside its key, header and content and its share of holes. Many small Objects of the
// window and of main share one piece of memory, a region (regions.go, landing.go, table.go;
// docs/decisions/0081-small-objects-lie-in-regions.md). In this package, only block.go uses unsafe.
//
// A response is written through a Writer (writer.go). Its Commit says whether admission let the response in. The Store
// decides where it goes and returns the outcome. Content that is too large for memory goes to the disk as it arrives.
//
// A key is in one tier and in one place of it, except during a move. An entry that moves or is replaced is in its new
// place before it leaves the old one. Look-ups search in the same order.
//
// Several variants of a URL may have the same body and the same validator. The body is then stored once (share.go).
// Each variant is an entry and a write of its own, which costs only its head. The bytes written are those of the first.
//
// The window is first in, first out as well: an entry leaves it when a window's worth of bytes has landed after it,
// however popular the others are. With LRU, a few popular entries would push out new ones before anyone asked for them.
//
// There is one writer at a time (Store.mu) and any number of readers. With one writer nothing else moves during a write. A write takes
// 1 to 1.5 µs (BenchmarkPut), little beside the fetch before it. With ristretto it takes 5 to 8: each one has to be confirmed by
// ristretto's single worker. Readers never take that lock.
//
// A look-up compares the full key, so keys with equal hashes cost a miss and never give one client the response of
// another. Objects are immutable. The body of an Object is a Content (content.go), either all in memory or read by
// offset. Its bytes come from no pool: a response may still be read from an Object long after it left the cache. Memory
// that a hit on the disk was read into is lent: it is reused when the one answer that has it is closed (Lend).
//
// The package knows no clock, no admission and no HTTP parsing, and of freshness only until when a response or a list of names is of
// use (lists.go, ranked.go).
package cache
