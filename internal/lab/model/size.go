package model

import (
	"math"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/http/reason"
)

// Memory of a Run, in bytes: for each object, and with an eviction of the proxy for each entry that the tier can hold, and of its capacity for
// its sketch and tables.
const (
	markBytes   = 8
	countsBytes = 4
	chainBytes  = 12
	rankedBytes = 24 + 4           // bytes an object for gdsf: a priority, and a place in its heap
	knownBytes  = 16 + 4           // bytes an object for clairvoyant: what it knows, and a place among the objects held
	diskBytes   = 2*chainBytes + 4 // a node on the disk, the last hit in the memory's window, and when it was spared
	entryBytes  = 640

	diskUseBytes = 8   // what a record was used for, where that decides
	leastEntry   = 500 // least size of an entry in the capacity, its head included
	tableShare   = 32

	minTableBytes = 1 << 20
)

// Memory returns about how many bytes a Run of s takes for so many objects of so many bytes together, without its Input. It is rather too high than too low, for callers that run several at a time.
func (s Setting) Memory(objects int, totalBytes int64) int64 {
	n := int64(objects)
	each := int64(0)
	if s.Policy.HoldsBack() != reason.None {
		each += markBytes
	}
	if s.Exact && s.Policy.Memory() == policy.Counted {
		each += countsBytes
	}
	if s.DiskBytes > 0 {
		each += diskBytes
		if s.DiskEviction.byWorth() {
			each += diskUseBytes
		}
	}
	out := int64(0)
	if s.Eviction.OfTheProxy() {
		each += nameBytes
		main, stage := s.tier(objects, totalBytes)
		out += (main+stage)/tableShare + minTableBytes + min(n, (main+stage)/leastEntry)*entryBytes
	} else {
		each += s.Eviction.mainBytes()
		if s.StageBytes > 0 {
			each += chainBytes
		}
	}
	if !s.Exact && s.Policy.Remembers() {
		out += s.FilterBytes(s.filter(objects).Capacity)
	}
	return out + n*each
}

// mainBytes is the memory for an object in a main part of this exact eviction.
func (e Eviction) mainBytes() int64 {
	switch e {
	case GDSF:
		return rankedBytes
	case Clairvoyant:
		return knownBytes
	default:
		return chainBytes
	}
}

// FilterBytes returns the memory of the proxy's filter for the policy of s, which must have one, with room for so many keys in
// each of its generations, all generations together. It is NoFilter if there is no filter of that size or rate.
func (s Setting) FilterBytes(keys int64) int64 {
	layout := filterLayout(s.Policy)
	o := bloom.Options{Generations: s.Generations, Capacity: keys, FalsePositiveRate: s.FalsePositiveRate}
	if o.Validate(layout) != nil {
		return NoFilter
	}
	units, _ := o.Size(layout)
	return layout.Bytes(units) * int64(o.Generations)
}

// NoFilter is more memory than any machine has.
const NoFilter = math.MaxInt64 >> 8

func filterLayout(p policy.Policy) bloom.Layout {
	if p.Memory() == policy.Counted {
		return bloom.CountingLine
	}
	return bloom.SplitBlock
}

// filter returns the size of the filter for a trace of so many objects. A generation with room for all of them is never full, so
// more room would never be used.
func (s Setting) filter(objects int) bloom.Options {
	if s.Fitted {
		return bloom.Options{Generations: s.Generations, Capacity: newFitted(s, nil).room, FalsePositiveRate: s.FalsePositiveRate, Resizable: true}
	}
	keys := int64(objects) + 1
	if s.RotateRequests > 0 {
		keys = min(keys, s.RotateRequests)
	}
	if s.RotateKeys > 0 {
		keys = min(keys, s.RotateKeys)
	}
	return bloom.Options{Generations: s.Generations, Capacity: keys, FalsePositiveRate: s.FalsePositiveRate}
}
