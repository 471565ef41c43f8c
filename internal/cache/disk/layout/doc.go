// Package layout is the form of what the disk tier writes: which bytes lie where?
//
// It answers one question: what do these bytes of a cache directory say, and are they what was
// written there? It reads and writes no file.
//
// A directory has a head (head.go: Header), segments, and a log of what was removed (removed.go). A
// segment is a file of records, one behind the other, which is written once from its beginning to its end:
//
//	page 0       what the file is: SegmentHead
//	records      small segments: each begins at a multiple of Unit, its body right behind its head;
//	             large ones: each begins and ends at a multiple of Page, so it can be punched out
//	             alone, and a body of AlignFrom bytes or more begins at one too
//	entries      one Entry of 16 bytes a record, in the order of the records; then the Trailer,
//	             which ends the file
//
// A segment with a Trailer is sealed. One without was being written when its process ended; what it
// has is found by its records alone (ParseHead).
//
// A record is a head (fixed fields, the full key, an opaque block of the caller, the checksums of the body) and the body. Each ChunkBytes
// of the body have a checksum of their own, so a part of it can be checked without the rest.
//
// Every structure begins with a stamp: a hash of a secret of the directory and of the place where the structure lies. A body
// that looks like a record, a file of another directory, and what is left of an older file are none.
//
// All numbers are little endian. All checksums are CRC-32C.
package layout
