package model

import "math"

// DiskEviction is what a disk keeps when its hand comes by.
type DiskEviction string

// The evictions of a disk.
const (
	DiskSIEVE    DiskEviction = ""          // what was hit since the hand came by, as in the proxy; up to half of a segment is rewritten
	DiskFIFO     DiskEviction = "fifo"      // nothing
	DiskHits     DiskEviction = "hits"      // what was hit since then, all of it; no segment stays as it is
	DiskWorth    DiskEviction = "worth"     // what is worth more than the mean of what the hand saw lately; else as DiskSIEVE
	DiskLogWorth DiskEviction = "log-worth" // the same by the mean of the logarithms, below which about half is
)

// DiskEvictions returns all evictions of a disk, that of the proxy first.
func DiskEvictions() []DiskEviction {
	return []DiskEviction{DiskSIEVE, DiskFIFO, DiskHits, DiskWorth, DiskLogWorth}
}

// String returns the name of the eviction.
func (e DiskEviction) String() string {
	if e == DiskSIEVE {
		return "sieve"
	}
	return string(e)
}

// byWorth reports whether the eviction goes by the worth of a record.
func (e DiskEviction) byWorth() bool { return e == DiskWorth || e == DiskLogWorth }

// diskRule says which records of a disk are in demand.
type diskRule struct {
	*nodes
	kind  DiskEviction
	worth []diskUse // use of each object; nil but for DiskWorth and DiskLogWorth
	now   uint32    // look-ups so far
	mean  float64   // worth of the records that the hand saw lately
	seen  int64     // records that the mean is over
}

// diskUse is what a record was used for.
type diskUse struct {
	times uint32 // since it was stored, its store included
	last  uint32 // the look-up of the last time
}

// sizeExponent is how much sizes matter.
const sizeExponent = 0.35

// meanOver is how many records the mean is over, at most and roughly.
const meanOver = 1024

func newDiskRule(e DiskEviction, n *nodes) diskRule {
	r := diskRule{nodes: n, kind: e}
	if e.byWorth() {
		r.worth = make([]diskUse, len(n.objects))
	}
	return r
}

// used notes a use of i, which is the first one if it was just stored.
func (r *diskRule) used(i uint32, first bool) {
	if r.worth == nil {
		return
	}
	u := &r.worth[i]
	if first {
		u.times = 0
	}
	u.times++
	u.last = r.now
}

// worthOf returns the worth of i, as package eviction has it, or its logarithm.
func (r *diskRule) worthOf(i uint32) float64 {
	u := r.worth[i]
	worth := (1 + math.Log2(float64(u.times))) / (float64(r.now-u.last+1) * math.Pow(float64(r.space(i)), sizeExponent))
	if r.kind == DiskLogWorth {
		return math.Log2(worth)
	}
	return worth
}

// visit notes that the hand comes by i.
func (r *diskRule) visit(i uint32) {
	if r.worth != nil {
		r.seen = min(r.seen+1, meanOver)
		r.mean += (r.worthOf(i) - r.mean) / float64(r.seen)
	}
}

// demand returns how much i is in demand; 0: it goes.
func (r *diskRule) demand(i uint32) float64 {
	switch r.kind {
	case DiskFIFO:
		return 0
	case DiskWorth, DiskLogWorth:
		return max(r.worthOf(i)-r.mean, 0)
	default:
		return float64(r.of[i].uses)
	}
}

// spares reports whether a segment with much demand stays as it is.
func (r *diskRule) spares() bool { return r.kind != DiskHits }

// share is how much of a dropped segment is rewritten.
func (r *diskRule) share() float64 {
	if r.kind == DiskHits {
		return 1
	}
	return keepShare
}
