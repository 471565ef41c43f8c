package cache

import (
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/evicted"
)

// departure is the reason why an entry left its tier. The first three are evictions: nobody asked for them.
type departure uint8

const (
	capacity departure = iota // it made room for another
	rejected                  // main refused it on leaving the window
	variants                  // its URL had too many variants, or the index was full
	replaced                  // a newer response took its place
	purged
	promoted // from the stage to the memory tier

	departures
	evictions = replaced // number of eviction reasons
)

// ledger counts arrivals and departures of a tier. All are atomics because ristretto's worker counts too. The sums
// agree when no write is in progress.
type ledger struct {
	writes, writeBytes atomic.Int64
	objects, bytes     atomic.Int64 // held
	gone               [departures]atomic.Int64
	neverHit           atomic.Int64 // departed objects without a hit
	outweighed         atomic.Int64 // see Outweighed
	evicted            evicted.Counter
	ages               [evictions]ages

	now func() time.Time // nil: ages are not noted
}

// addRef counts a reference from a place in the tier to the content of it.
func (l *ledger) addRef(it *Object) {
	if it.form&formApart != 0 {
		it.Pin().Land(it.Content().Size())
	}
}

// dropRef takes back one addRef.
func (l *ledger) dropRef(it *Object) {
	if it.form&formApart != 0 {
		it.Pin().Leave()
	}
}

// landed counts the arrival of it, which takes cost bytes. Body is how many bytes of content were written for it.
func (l *ledger) landed(it *Object, cost, body int64) {
	l.addRef(it)
	l.writes.Add(1)
	l.writeBytes.Add(body)
	l.objects.Add(1)
	l.bytes.Add(cost)
}

// left counts the departure of it, which landed at that cost.
func (l *ledger) left(why departure, it *Object, cost int64) {
	l.dropRef(it)
	asked, n := it.asked(), l.gone[why].Add(1)
	if why < evictions {
		l.evicted.Note(cost, asked)
		if n%ageEvery == 1 && l.now != nil {
			l.evictedAt(why, it, l.now())
		}
	}
	l.objects.Add(-1)
	l.bytes.Add(-cost)
	if why != promoted && !asked {
		l.neverHit.Add(1)
	}
}

func (l *ledger) stats(maxBytes int64) TierStats {
	return TierStats{
		Objects:    l.objects.Load(),
		Bytes:      l.bytes.Load(),
		MaxBytes:   maxBytes,
		Writes:     l.writes.Load(),
		WriteBytes: l.writeBytes.Load(),
		Capacity:   l.gone[capacity].Load(),
		Rejected:   l.gone[rejected].Load(),
		Variants:   l.gone[variants].Load(),
		Replaced:   l.gone[replaced].Load(),
		Purged:     l.gone[purged].Load(),
		Promoted:   l.gone[promoted].Load(),
		NeverHit:   l.neverHit.Load(),
		Outweighed: l.outweighed.Load(),
		Evicted:    l.evicted.Counts(),

		CapacityAge: time.Duration(l.ages[capacity].mean.Load()),
		RejectedAge: time.Duration(l.ages[rejected].mean.Load()),
		VariantsAge: time.Duration(l.ages[variants].mean.Load()),
	}
}
