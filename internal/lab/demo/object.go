package demo

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
)

// seed makes every run ask for the same objects in the same order.
const seed = 20150701

// MaxObjectBytes is the size of the largest object there is. A proxy must be
// able to store objects of this size, or both would pass some of them by.
const MaxObjectBytes = 1 << 20

// The law of sizes: lognormal, as that of files on web servers is but for its
// tail (Barford and Crovella, SIGMETRICS 1998). The mean is about 16 KiB.
const (
	medianObjectBytes = 8 << 10
	sigmaOfSize       = 1.2 // the deviation of a size's natural logarithm
	minObjectBytes    = 64
)

// object is what the origin serves under one target. Origin and clients both
// work it out from the target alone, so neither keeps a table.
type object struct {
	hash  uint64
	bytes int // minObjectBytes to MaxObjectBytes
}

func objectOf(target []byte) object {
	h := fnv.New64a()
	_, _ = h.Write(target) // never fails
	hash := h.Sum64()
	rng := rand.New(rand.NewPCG(seed, hash))
	size := medianObjectBytes * math.Exp(sigmaOfSize*rng.NormFloat64())
	return object{hash: hash, bytes: int(min(max(size, minObjectBytes), MaxObjectBytes))}
}

// etag is a strong validator: no two objects with different bytes have the same
// one, but for a collision of the hash.
func (o object) etag() string { return `"` + strconv.FormatUint(o.hash, 16) + `"` }
