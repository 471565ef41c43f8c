// Package cache holds stored responses in memory.
//
// It answers one question: which response is stored under this key? An entry
// is returned fresh or stale alike; whether it may be served is the caller's
// question (RFC 9111 section 4).
//
// Its law: admitted means stored. When Put returns Stored, the next Find has
// the entry, also in a full cache. Ristretto alone cannot promise that: a Set
// becomes visible late, and its policy may refuse the newcomer. So an entry
// lands in a small synchronous window first. What grows old there is offered to
// ristretto, which keeps what is asked for often. A refusal there is an
// eviction, counted under its own reason; nothing leaves uncounted. In each tier
//
//	writes = objects held + evictions + replaced + purged (+ promoted, of the stage)
//
// There are two tiers. Memory is for what admission let in. The stage, off by
// default, keeps what it held back, first in, first out: there the second
// request of a key is a hit already, and the caller may Promote the entry: Find says which it is.
// Nothing staged ever takes the place of anything in the memory tier, not even of
// its own key: what would have to is superseded (PutStage). The parts share
// Options.MaxBytes and never exceed it together:
//
//	stage      first sightings, with an index     stage.go, promote.go
//	memory:
//	  window   what landed last                   clock.go
//	  main     what is asked for most             main.go (ristretto), regions.go
//	  index    which URLs have variants           index.go, clock.go
//	content    in memory, or in a Medium          content.go, medium.go, encode.go
//	disk       behind memory, if there is one     disktier.go, putdisk.go, load.go, again.go
//
// Where there is a Disk, what admission lets in goes there, and memory holds copies of what is asked for most: a response
// is copied at its second hit on the disk within memory's window. Find and Vary look into memory and never wait. Load looks on the disk. What
// memory has under a key is as late as what the disk has, or later.
//
// What is to be stored is an Entry, what is stored an Object: one block of memory without pointers, with
// key, facts, header and a short content one after the other (object.go, block.go, item.go,
// epoch.go; docs/decisions/0070-an-object-is-one-block-of-memory.md). So millions of them cost the
// collector little, and each at most 300 bytes beside its key, header and content and its share of holes. Small
// ones of main lie many to a region (regions.go, table.go; docs/decisions/0081-small-objects-lie-in-regions.md).
// This room alone looks at memory past its type, and block.go alone in it.
//
// A response is written through a Writer (writer.go), whose Commit says whether admission let
// it in; the Store decides where it goes, and says what came of it. What no memory holds lies
// in a Medium: it takes bytes as they come, and what is larger than memory allows.
//
// A key is in one tier at most, and in one place of it but for the moment of a
// move. Whatever moves or is replaced is in its new place before it leaves the
// old one, and look-ups ask in that order.
//
// A body that several variants of a URL have, with the same validator, is stored once
// (share.go). Each of them is an entry and a write of its own, which costs its head alone, and
// the bytes written are those of the first.
//
// The window is first in, first out as well: an entry leaves it when a window's
// worth of bytes has landed after it, however popular the others are. In an order
// of use, a few popular entries would push out what has just landed, unasked for as
// yet.
//
// There is one writer at a time (Store.mu) and any number of readers. Every
// write to the memory tier has to be confirmed by ristretto's single worker, so
// more writers would queue there instead, and one writer leaves no interleaving
// to get wrong: during a write nothing else moves. It takes 2 to 3 µs
// (BenchmarkPut), little beside the fetch before it. Readers never take that lock.
//
// A look-up compares the full key, so keys with equal hashes cost a miss and
// never give one client the response of another. Objects are immutable, and what
// follows their heads is a Content (content.go), which is all in memory or is read by
// offset. Its bytes come from no pool: a response may still be read from an Object
// long after it left the cache. What a hit on the disk was read to is lent: it is used again when the answer that alone has it is closed (Lend).
//
// The package knows no clock, no freshness, no admission and no HTTP parsing.
package cache
