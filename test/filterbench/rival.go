package main

import (
	"encoding/binary"
	"sync"
	"time"

	bits "github.com/bits-and-blooms/bloom/v3"

	"edgeproxy/internal/bloom"
)

// rival is a sliding window as one would make it of a library: two Bloom filters
// behind a mutex. Clearing goes on under the mutex too, for the library's
// filters may not be read meanwhile.
type rival struct {
	keys int

	mu     sync.Mutex
	newest *bits.BloomFilter
	older  *bits.BloomFilter
	held   int // keys in newest
}

func newRival(keys int) *rival {
	p := bloom.GenerationRate(windowRate, generations)
	return &rival{
		keys:   keys,
		newest: bits.NewWithEstimates(uint(keys), p),
		older:  bits.NewWithEstimates(uint(keys), p),
	}
}

// seen records a sighting and reports whether the window held one.
func (r *rival) seen(k key) bool {
	b := bytesOf(k)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest.TestAndAdd(b) {
		return true
	}
	r.held++
	return r.older.Test(b)
}

// bytesOf is the key as the library wants it, which hashes it once more. It is
// inlined, and the bytes stay on the stack.
func bytesOf(k key) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], k.hi)
	binary.LittleEndian.PutUint64(b[8:], k.lo)
	return b[:]
}

// Full reports whether the newest filter holds its keys.
func (r *rival) Full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held >= r.keys
}

// Rotate empties the older filter and makes it the newest.
func (r *rival) Rotate(time.Time, bloom.Cause) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest, r.older = r.older.ClearAll(), r.newest
	r.held = 0
	return true
}

// Bytes returns the memory of both.
func (r *rival) Bytes() int64 { return int64(r.newest.Cap()+r.older.Cap()) / 8 }
