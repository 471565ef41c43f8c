package cache

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/cache/disk"
)

// Disk is a tier behind memory that outlives the process; *disk.Store is one, and says what each method does.
// A record of it is a response: its key is the name of the entry.
type Disk interface {
	Seed() uint64
	Put(h uint64, key, block, body []byte) error
	Find(h uint64, key []byte, hit *disk.Hit) bool
	Peek(h uint64, key []byte, hit *disk.Hit) bool
	Holds(h uint64) bool
	Touch(h uint64)
	Hits(h uint64) (hits int, ok bool)
	Remove(h uint64)
	Patch(h uint64, key []byte, serial uint64, p disk.Patch) error
	Keep() error
	Flush() error
	Create(h uint64, length, head int64) (*disk.Draft, error)
	Each(visit func(*disk.Item) bool) error
}

// Stamp is what each record of a Disk carries beside its entry: it says which purges are known that could have reached
// it (purge.Identity).
type Stamp [3]uint64

// Stamped says what is stamped on what is written to the Disk from now on, and which stamps are known. What has another is
// not found, as if purged. Call it before the Store is used. Without it every record has the zero Stamp, and each is known.
func (s *Store) Stamped(with Stamp, known func(Stamp) bool) {
	if s.disk != nil {
		s.disk.stamp, s.disk.known = with, known
	}
}

// HasDisk reports whether there is a Disk.
func (s *Store) HasDisk() bool { return s.disk != nil }

// OnDisk reports whether something may be on the disk under name, so that Load is worth its wait. It does not wait.
func (s *Store) OnDisk(name []byte) bool { return s.disk != nil && s.disk.Holds(s.disk.hash(name)) }

// diskTier is the Disk of a Store.
//
// A record's block is a Stamp, and behind it the entry (encode.go). A response without Vary is under the name of
// its URL. One with Vary is under its variant's name, and then a marker is under that of the URL: an entry without a status, whose Vary says
// what selects, and a list of the variants (diskvariants.go). So whatever a URL has, one look at its name says where it is.
type diskTier struct {
	Disk
	seed  uint64
	stamp Stamp
	known func(Stamp) bool
	again *sightings
	books diskBooks

	copies atomic.Int64 // see Stats

	// changes counts, for some keys together, what was put and removed: what was read from the disk may be
	// copied to memory as long as the count is what it was before.
	changes [changeShares]atomic.Uint32
}

const (
	changeShares = 4096
	stampBytes   = 8 * len(Stamp{})
	touchShare   = 64 // of the hits in memory, one of so many counts on the disk
)

func newDiskTier(d Disk, memoryBytes int64) *diskTier {
	if d == nil {
		return nil
	}
	return &diskTier{Disk: d, seed: d.Seed(), known: func(Stamp) bool { return true }, again: newSightings(memoryBytes)}
}

func (d *diskTier) hash(name []byte) uint64 { return xxh3.HashSeed(name, d.seed) }

// touch counts one of touchShare hits of o, which is in memory, so that the disk keeps it as well, and its marker.
func (d *diskTier) touch(o *Object) {
	if rand.Uint32()%touchShare != 0 {
		return
	}
	d.Touch(d.hash(o.Name()))
	if o.Varies() {
		d.Touch(d.hash(o.URLName()))
	}
}

func (d *diskTier) changesOf(k Key) *atomic.Uint32 { return &d.changes[k.Lo%changeShares] }

// errMarkerLost says that a variant could not be put, since its marker could not.
var errMarkerLost = errors.New("cache: no marker")

// blockOf returns the block of e. It shares nothing with it.
func (d *diskTier) blockOf(e *Entry) ([]byte, error) {
	b := make([]byte, 0, int64(stampBytes)+e.writtenBytes())
	for _, n := range d.stamp {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return AppendEntry(b, e)
}

// entryOf returns the entry of a block, without content; nil if it is none that is known.
func (d *diskTier) entryOf(block []byte) *Entry {
	if len(block) < stampBytes {
		return nil
	}
	var stamp Stamp
	for i := range stamp {
		stamp[i] = binary.LittleEndian.Uint64(block[8*i:])
	}
	if !d.known(stamp) {
		return nil
	}
	e, err := ParseEntry(block[stampBytes:])
	if err != nil {
		return nil
	}
	return e
}

// markerOf returns the marker for the URL of e, which has Vary.
func markerOf(e *Entry) *Entry {
	name := e.urlName()
	return &Entry{Key: e.URL, URL: e.URL, Name: name, URLLen: e.URLLen, Vary: e.Vary, Serial: e.Serial, Born: e.Born}
}

func (e *Entry) isMarker() bool { return e.Status == 0 }

// outcomeOf says what became of what the disk has refused, or was not asked about for a reason of its own.
// Where it says none the disk is out of use.
func outcomeOf(err error) Outcome {
	switch {
	case errors.Is(err, disk.ErrBusy), errors.Is(err, errMarkerLost):
		return DiskBusy
	case errors.Is(err, disk.ErrRate):
		return OverRate
	case errors.Is(err, disk.ErrTooLarge), errors.Is(err, errEntryTooLarge):
		return TooLarge
	}
	return 0
}
