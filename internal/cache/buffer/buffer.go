package buffer

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Sizes double from least, so that a Buffer has room for at most twice its bytes. Longer ones than Largest are not pooled.
const (
	least = 1 << 10
	sizes = 6

	// Largest is the greatest length in bytes that is pooled.
	Largest = least << (sizes - 1)
)

var pools [sizes]sync.Pool

// Buffer is memory of a fixed length. Its methods are safe for concurrent use, its bytes are not. All methods take nil,
// which has no bytes.
type Buffer struct {
	bytes  []byte
	owners atomic.Int32
	kept   atomic.Bool
}

// Get returns a Buffer of n bytes, at least 0, whose content is undefined. The caller is its owner.
func Get(n int64) *Buffer {
	size := bits.Len64(uint64(max(n, 1)-1) / least) //nolint:gosec // at least 0
	var b *Buffer
	if size < sizes {
		if b, _ = pools[size].Get().(*Buffer); b == nil {
			b = &Buffer{bytes: make([]byte, least<<size)}
		}
	} else {
		b = &Buffer{bytes: make([]byte, n)}
	}
	b.bytes = b.bytes[:n]
	b.owners.Store(1)
	return b
}

// Bytes returns the bytes. An owner may use them until its Release.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.bytes
}

// Share adds an owner.
func (b *Buffer) Share() {
	if b != nil {
		b.owners.Add(1)
	}
}

// Release removes an owner, who may not use b after that. It panics if there was none: somebody else may own b by now.
func (b *Buffer) Release() {
	if b == nil {
		return
	}
	left := b.owners.Add(-1)
	if left < 0 {
		panic("buffer: released more often than owned")
	}
	if left > 0 || b.kept.Load() {
		return
	}
	b.bytes = b.bytes[:cap(b.bytes)]
	if size := bits.Len64(uint64(len(b.bytes)-1) / least); size < sizes {
		pools[size].Put(b)
	}
}

// Keep makes the bytes valid for as long as anything refers to them. Call it only while there is an owner.
func (b *Buffer) Keep() {
	if b != nil {
		b.kept.Store(true)
	}
}
