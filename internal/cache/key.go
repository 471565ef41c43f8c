package cache

import (
	"errors"

	"github.com/zeebo/xxh3"
)

// Key is the 128-bit seeded hash of a canonical key. It finds an entry but does not identify one: look-ups compare the
// full canonical key as well.
type Key struct{ Hi, Lo uint64 }

// ErrZeroSeed is returned by NewHasher for the seed 0.
var ErrZeroSeed = errors.New("cache: hash seed is 0: must be a random seed")

// Hasher turns canonical keys into Keys. It is a value, immutable and safe for
// concurrent use. The zero Hasher has the known seed 0: use NewHasher.
type Hasher struct{ seed uint64 }

// NewHasher returns a Hasher for seed, which must be secret. The seed may be drawn anew at each start if nothing that
// is stored or sighted under it outlives the process. With a known seed anyone can choose URLs that share a hash: xxh3
// is no message authentication code, and with seed 0 such URLs are easy to compute.
func NewHasher(seed uint64) (Hasher, error) {
	if seed == 0 {
		return Hasher{}, ErrZeroSeed
	}
	return Hasher{seed: seed}, nil
}

// Sum returns the Key of the canonical key b, which it neither keeps nor
// changes. It does not allocate.
func (h Hasher) Sum(b []byte) Key {
	u := xxh3.Hash128Seed(b, h.seed)
	return Key{Hi: u.Hi, Lo: u.Lo}
}
