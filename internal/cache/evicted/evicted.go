package evicted

import (
	"math/bits"
	"sync/atomic"
)

// Class is a class of sizes, from 0. Each but the last has a bound, four times that of the class before.
type Class uint8

// Classes is the number of classes.
const Classes = 7

const (
	leastBound = 1 << 10 // the bound of class 0, in bytes
	boundShift = 2       // log2 of the factor between two bounds
)

// ClassOf returns the class of a size in bytes: the first whose bound is not below it, or the last.
func ClassOf(bytes int64) Class {
	if bytes <= leastBound {
		return 0
	}
	above := bits.Len64(uint64(bytes-1) / leastBound)                //nolint:gosec // above 0
	return Class(min((above+boundShift-1)/boundShift, int(largest))) //nolint:gosec // from 0 to largest
}

const largest Class = Classes - 1

// Bound returns the most bytes of the class; 0 for the last, which has none.
func (c Class) Bound() int64 {
	if c >= largest {
		return 0
	}
	return leastBound << (boundShift * c)
}

// String returns the bound of c as in metrics: 1KiB to 1MiB, and larger.
func (c Class) String() string {
	return [...]string{"1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "larger"}[min(c, largest)]
}

// Count is a number of objects and of what they took in their tier, in bytes.
type Count struct{ Objects, Bytes int64 }

// Plus returns the sum of both.
func (c Count) Plus(other Count) Count {
	return Count{c.Objects + other.Objects, c.Bytes + other.Bytes}
}

// Counts has what was evicted, by Class: that which was never hit, and that which was.
type Counts struct{ NeverHit, Hit [Classes]Count }

// All returns what was evicted of a class.
func (c *Counts) All(of Class) Count { return c.NeverHit[of].Plus(c.Hit[of]) }

// Sum returns what was evicted of all classes, and the part of it that was never hit.
func (c *Counts) Sum() (all, neverHit Count) {
	for of := range Class(Classes) {
		all, neverHit = all.Plus(c.All(of)), neverHit.Plus(c.NeverHit[of])
	}
	return all, neverHit
}

// Counter counts evictions. The zero Counter is ready for use. It is safe for concurrent use.
type Counter struct{ neverHit, hit [Classes]cell }

type cell struct{ objects, bytes atomic.Int64 }

func (c *cell) count() Count { return Count{c.objects.Load(), c.bytes.Load()} }

// Note counts the eviction of an object that took so many bytes in its tier. Hit says whether it was hit there.
func (c *Counter) Note(bytes int64, hit bool) {
	cells := &c.neverHit
	if hit {
		cells = &c.hit
	}
	at := &cells[ClassOf(bytes)]
	at.objects.Add(1)
	at.bytes.Add(bytes)
}

// Counts reads all counts, one after the other.
func (c *Counter) Counts() (out Counts) {
	for of := range out.Hit {
		out.NeverHit[of], out.Hit[of] = c.neverHit[of].count(), c.hit[of].count()
	}
	return out
}
