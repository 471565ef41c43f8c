package purge

import "encoding/binary"

// Identity identifies the purge history under which responses that outlive the process were stored. A Table of New has the
// zero Identity: nothing outlives it.
type Identity struct {
	// History is a random number drawn when a file is created. Run counts how often the file was opened. See Knows.
	History, Run uint64
	// KeySeed is the seed of the hash of cache keys (cache.NewHasher).
	KeySeed uint64
}

// runBits is how many of the 64 bits of a number count within a run: 16 million runs of 10^12 numbers each.
const (
	runBits = 40
	maxRun  = 1<<(64-runBits) - 1
)

// First returns a number above all that counters of earlier runs have reached from their First. Counters whose values are
// stored begin there: generations of purges, serials of entries, numbers of rules for queries.
func (i Identity) First() uint64 { return i.Run << runBits }

// Knows reports whether the table with this Identity knows every purge made since stored was the Identity. If so, a response
// stored then may be used if Check returns Valid or Stale. If not, all such responses count as purged: the file was lost,
// damaged, or replaced by an older one.
//
// So a store that survives a restart keeps the Identity of the latest run that stored or removed anything.
func (i Identity) Knows(stored Identity) bool {
	return i.Run > 0 && stored.Run > 0 && i.History == stored.History && i.KeySeed == stored.KeySeed && stored.Run <= i.Run
}

// head is the first record of the file.
type head struct {
	Identity
	seed            uint64
	latest, settled uint64
	records         uint64 // number of the records that follow, of the whole table
	old             bool   // it is of a program that wrote neither records nor the last number (last.go)
}

// A head is, little endian: history [8] run [8] key seed [8] seed of our hashes [8] latest [8] settled [8] records [8].
const headBytes, oldHeadBytes = 56, 48

func (h *head) appendTo(b []byte) []byte {
	for _, n := range [...]uint64{h.History, h.Run, h.KeySeed, h.seed, h.latest, h.settled, h.records} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func parseHead(b []byte) (h head, ok bool) {
	if len(b) != headBytes && len(b) != oldHeadBytes {
		return head{}, false
	}
	h.old = len(b) == oldHeadBytes
	for i, n := range []*uint64{&h.History, &h.Run, &h.KeySeed, &h.seed, &h.latest, &h.settled, &h.records}[:len(b)/8] {
		*n = binary.LittleEndian.Uint64(b[8*i:])
	}
	return h, h.Run > 0 && h.KeySeed > 0 && h.seed > 0 && h.settled <= h.latest
}
