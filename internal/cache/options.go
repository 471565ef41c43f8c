package cache

import (
	"errors"
	"fmt"
	"time"

	"edgeproxy/internal/conn/pinned"
)

// Options sets the sizes of a Store. All sizes are bytes.
type Options struct {
	// MaxBytes bounds the entries of both tiers and the index of variants together, at any time; at least 64 KiB. In
	// addition Ristretto keeps a sketch of request frequencies: 0.8 to 1.6 % of MaxBytes, at least 512 KiB.
	MaxBytes int64
	// MaxObjectBytes is the largest body that is stored; at most a quarter of MaxBytes without StageBytes. Put stores
	// every body up to it, whatever else the cache holds.
	MaxObjectBytes int64
	// MaxVariants is how many variants of one URL are held; above 0.
	MaxVariants int
	// StageBytes is the part of MaxBytes for first sightings: 0 for no stage, up to half of MaxBytes. The stage's
	// tables take another 1 to 2 % of it.
	StageBytes int64
	// Eviction decides what the main part gives up, and Optimise what SizeAware is for; see Store.Evict.
	Eviction Eviction
	Optimise Optimise
	// Pinned counts the bodies that have left and are still being sent; nil counts none.
	Pinned *pinned.Total
	// Disk stores admitted responses in place of memory. Memory then holds staged responses and copies of those
	// requested most. Nil: there is no disk. The caller opens it before the Store, and closes it after the Store.
	Disk Disk
	// MaxDiskObjectBytes is the longest body above MaxObjectBytes that is stored. It goes to the Disk piece by piece as
	// it arrives. 0: none is.
	MaxDiskObjectBytes int64
	// Now reads the clock when an entry is evicted, for the ages in TierStats, and so that what has expired goes first; nil: neither
	// is known. It must be quick, and not call the Store.
	Now func() time.Time
	// Metrics exports the Store's counters; nil exports none.
	Metrics *Metrics
}

// Eviction is how the main part makes room.
type Eviction uint8

// The evictions.
const (
	SizeAware Eviction = iota // gives up what is worth least by uses, recency and size; newcomers compete, see Outweighed
	Recency                   // gives up what was not used for the longest time
	Ristretto                 // gives up what is asked for least, of some that it draws
)

// String returns the word of e in the configuration.
func (e Eviction) String() string { return [...]string{"size-aware", "recency", "ristretto"}[e] }

// Optimise is what SizeAware is for.
type Optimise uint8

// What it may be for.
const (
	Balanced    Optimise = iota
	ForHits              // more hits, of smaller bodies
	ForByteHits          // fewer hits, of more bytes together
)

// String returns the word of o in the configuration.
func (o Optimise) String() string { return [...]string{"balanced", "hits", "bytes"}[o] }

// Shares of MaxBytes without the stage. The window needs room for one object of any allowed size, or nothing that large
// could land. The rest is the main part: at least half, and larger than the window.
const (
	minMaxBytes = 64 << 10
	objectShare = 4  // MaxObjectBytes is at most the tier's bytes/objectShare
	windowShare = 50 // the window has at least the tier's bytes/windowShare
	offerShare  = 16 // it may exceed its size by 1/offerShare, in entries that move together
	indexShare  = 32 // the index has at least the tier's bytes/indexShare

	renewedShare = 32 // with a disk: the share of the tier's bytes for renewals of its records

	stageShare = 2 // StageBytes is at most MaxBytes/stageShare

	// Room for head and key beside the largest body, and for one URL of the
	// index; an eighth of the tier's bytes where that is less.
	headAllowance = 64 << 10
	minIndexBytes = 16 << 10
	smallShare    = 8

	bytesPerChain = 1024 // bytes of the tables of window and stage for each chain: 0.8 to 1.6 % of each
)

type limits struct {
	maxBytes, maxObjectBytes           int64
	stageBytes, memoryBytes            int64 // together maxBytes
	windowBytes, indexBytes, mainBytes int64 // with offerBytes and renewedBytes, together memoryBytes
	offerBytes                         int64 // bytes of entries that move to the main part together
	maxDiskObjectBytes                 int64 // 0: none above maxObjectBytes
	renewedBytes                       int64 // 0 without a disk
	maxVariants                        int
}

func (o Options) limits() (limits, error) {
	if err := o.validate(); err != nil {
		return limits{}, err
	}
	l := limits{maxBytes: o.MaxBytes, maxObjectBytes: o.MaxObjectBytes, stageBytes: o.StageBytes, maxVariants: o.MaxVariants}
	l.memoryBytes = o.MaxBytes - o.StageBytes
	small := l.memoryBytes / smallShare
	l.windowBytes = max(l.memoryBytes/windowShare, o.MaxObjectBytes+min(headAllowance, small))
	l.indexBytes = max(l.memoryBytes/indexShare, min(minIndexBytes, small))
	if o.Disk != nil {
		l.renewedBytes, l.maxDiskObjectBytes = l.memoryBytes/renewedShare, o.MaxDiskObjectBytes
	}
	l.mainBytes = l.memoryBytes - l.windowBytes - l.indexBytes - l.renewedBytes
	l.offerBytes = max(0, min(l.windowBytes/offerShare, l.mainBytes-l.memoryBytes/2)) // nothing in the smallest: main has half
	l.mainBytes -= l.offerBytes
	return l, nil
}

// validate names every option that is out of range.
func (o Options) validate() error {
	var errs []error
	if o.MaxBytes < minMaxBytes {
		errs = append(errs, fmt.Errorf("cache: MaxBytes %d: must be at least %d", o.MaxBytes, minMaxBytes))
	}
	stageBytes := o.StageBytes
	if most := o.MaxBytes / stageShare; stageBytes < 0 || stageBytes > most {
		errs = append(errs, fmt.Errorf("cache: StageBytes %d: must be 0 to %d, half of MaxBytes", stageBytes, most))
		stageBytes = 0 // so that MaxObjectBytes gets no second error for it
	}
	if most := (o.MaxBytes - stageBytes) / objectShare; o.MaxObjectBytes < 1 || o.MaxObjectBytes > most {
		errs = append(errs, fmt.Errorf("cache: MaxObjectBytes %d: must be 1 to %d, a quarter of MaxBytes without StageBytes",
			o.MaxObjectBytes, most))
	}
	if o.MaxVariants < 1 {
		errs = append(errs, fmt.Errorf("cache: MaxVariants %d: must be at least 1", o.MaxVariants))
	}
	return errors.Join(errs...)
}
