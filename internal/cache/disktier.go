package cache

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/disk"
)

// Disk is a tier behind memory that outlives the process. *disk.Store implements it and documents each method. Each
// record is a response: its key is the name of the entry.
type Disk interface {
	Seed() uint64
	Put(h uint64, key, block, body []byte) error
	PutBuffer(h uint64, key, block []byte, body *buffer.Buffer) error
	Find(h uint64, key []byte, hit *disk.Hit) bool
	Peek(h uint64, key []byte, hit *disk.Hit) bool
	Holds(h uint64) bool
	Touch(h uint64)
	Hits(h uint64) (hits int, ok bool)
	Remove(h uint64)
	Patch(h uint64, key []byte, serial uint64, p disk.Patch) error
	Complete() bool
	Keep() error
	Flush() error
	Create(h uint64, length, head int64) (*disk.Draft, error)
	Each(visit func(*disk.Item) bool) error
}

// Stamp is what each record of a Disk carries beside its entry: it identifies the purges that could have reached the
// record (purge.Identity).
type Stamp [3]uint64

// Stamped sets the stamp of all records written to the Disk from now on, and which stamps are known. A record with an
// unknown stamp is not found, as if it was purged. Call Stamped before the Store is used. Without it every record has
// the zero Stamp, and each stamp is known.
func (s *Store) Stamped(with Stamp, known func(Stamp) bool) {
	if s.disk != nil {
		s.disk.stamp, s.disk.known = with, known
	}
}

// HasDisk reports whether there is a Disk.
func (s *Store) HasDisk() bool { return s.disk != nil }

// OnDisk reports whether a record may be on the disk under name, so that Load is worth the wait. It does not wait.
func (s *Store) OnDisk(name []byte) bool { return s.disk != nil && s.disk.Holds(s.disk.hash(name)) }

// VariesOnDisk reports whether a marker may be on the disk for the URL whose key part is name, so that LoadVary is
// worth the wait. It does not wait.
func (s *Store) VariesOnDisk(name []byte) bool {
	return s.disk != nil && s.disk.Holds(s.disk.markerHash(name))
}

// KeepRemovals waits until no response that was removed, or was not found, can come back from the Disk: neither now nor
// after a kill or a loss of power. The error says why that is not certain. But a variant that no marker lists may be
// found again; see OnlyListed.
func (s *Store) KeepRemovals() error {
	switch {
	case s.disk == nil:
		return nil
	case !s.disk.Complete():
		return errIncomplete
	}
	return s.disk.Keep()
}

// errIncomplete says that the disk may have records that its index does not know.
var errIncomplete = errors.New("cache: the index of the disk is incomplete")

// OnlyListed makes variants on the disk that were born up to a generation (Entry.Born) be found only if the marker of
// their URL lists them. Purge does not reach one whose marker has left; it would be found again with the next marker.
func (s *Store) OnlyListed(born uint64) {
	if s.disk == nil {
		return
	}
	for was := s.disk.listedOnly.Load(); was < born; was = s.disk.listedOnly.Load() {
		if s.disk.listedOnly.CompareAndSwap(was, born) {
			return
		}
	}
}

// diskTier is the Disk of a Store.
//
// A record's block is a Stamp, followed by the entry (encode.go). A response without Vary is stored under the name of
// its URL. One with Vary is stored under its variant's name, and a marker under the name of the URL with markerSuffix.
// A marker is an entry without a status: it has the lists of the URL (lists.go), and its content lists the variants
// (diskvariants.go). So one look-up of the marker tells where the variants are. Earlier versions had the marker, with
// one list, under the name of the URL.
type diskTier struct {
	Disk
	seed       uint64
	stamp      Stamp
	known      func(Stamp) bool
	recentHits *recentHits
	books      diskBooks

	copies atomic.Int64 // see Stats

	listedOnly atomic.Uint64  // see OnlyListed
	landing    map[uint64]int // drafts that can be found and are not listed yet, by the hash of their names; guarded by Store.mu

	// changes counts the writes and removals of keys; several keys share a counter. What was read from the disk may be
	// copied to memory only while the counter has the same value as before the read.
	changes [changeShares]atomic.Uint32
}

const (
	changeShares = 4096
	stampBytes   = 8 * len(Stamp{})
	touchShare   = 64 // one of so many hits in memory is passed on to the disk
)

func newDiskTier(d Disk, memoryBytes int64) *diskTier {
	if d == nil {
		return nil
	}
	return &diskTier{Disk: d, seed: d.Seed(), known: func(Stamp) bool { return true }, recentHits: newRecentHits(memoryBytes), landing: map[uint64]int{}}
}

func (d *diskTier) hash(name []byte) uint64 { return xxh3.HashSeed(name, d.seed) }

// touch passes one of touchShare hits of o, which is in memory, on to the disk, so that the disk keeps its record and
// its marker as well.
func (d *diskTier) touch(o *Object) {
	if rand.Uint32()%touchShare != 0 {
		return
	}
	d.Touch(d.hash(o.Name()))
	if o.Varies() {
		d.touchMarker(o.URLName())
	}
}

// touchMarker counts a hit of the marker for the URL whose key part is name.
func (d *diskTier) touchMarker(name []byte) {
	h := d.markerHash(name)
	if !d.Holds(h) {
		h = d.hash(name) // an earlier version wrote it under this hash
	}
	d.Touch(h)
}

// markerSuffix stands behind the name of a URL in that of its marker. No other name ends like that: what follows the
// name of a URL is a variant, which begins with the length of a field name and not with 0.
const markerSuffix = "\x00vary"

func markerName(urlName []byte) []byte {
	return append(slices.Clip(urlName), markerSuffix...)
}

// markerHash returns the hash of a URL's marker: that of the URL, scrambled, as most look-ups on the disk need both.
func (d *diskTier) markerHash(urlName []byte) uint64 {
	return bits.RotateLeft64(d.hash(urlName), 32) * 0x9e3779b97f4a7c15 // odd, so no two become one
}

func (d *diskTier) changesOf(k Key) *atomic.Uint32 { return &d.changes[k.Lo%changeShares] }

// errMarkerLost says that a variant was not stored because its marker could not be.
var errMarkerLost = errors.New("cache: no marker")

// blockOf returns the block of e, in memory of its own.
func (d *diskTier) blockOf(e *Entry) ([]byte, error) {
	return d.appendBlock(make([]byte, 0, int64(stampBytes)+e.writtenBytes()), e)
}

// nameAndBlock returns a copy of e's Name and its block, in memory of their own.
func (d *diskTier) nameAndBlock(e *Entry) (name, block []byte, err error) {
	n := len(e.Name)
	b := append(make([]byte, 0, int64(n+stampBytes)+e.writtenBytes()), e.Name...)
	b, err = d.appendBlock(b, e)
	return b[:n:n], b[n:], err
}

func (d *diskTier) appendBlock(b []byte, e *Entry) ([]byte, error) {
	for _, n := range d.stamp {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return appendEntry(b, e)
}

// entryOf returns the entry of a block, without content; nil if the block is damaged or its stamp is not known.
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
	e, err := parseEntry(block[stampBytes:])
	if err != nil {
		return nil
	}
	return e
}

// markerOf returns the marker with the lists of r, the record of the URL whose hash is url. Header has a field for each
// list: its names, and until when it is of use.
func markerOf(url Key, r *record) *Entry {
	e := &Entry{Key: url, URL: url, Name: markerName(r.name), URLLen: int32(len(r.name))} //nolint:gosec // the length of a name
	for _, l := range r.all() {
		if e.Vary == nil { // with none, all of Name would be that of the URL
			e.Vary = l.names
		}
		e.Header.Add(strings.Join(l.names, varySeparator), strconv.FormatInt(l.told, 10))
	}
	return e
}

// listsIn returns the lists of the marker e. One of an earlier version has a single list, which may be of use for ever.
func listsIn(e *Entry) (lists []varyList) {
	for _, f := range e.Header {
		until, err := strconv.ParseInt(f.Value, 10, 64)
		if err != nil {
			until = math.MaxInt64
		}
		lists = append(lists, varyList{names: strings.Split(f.Name, varySeparator), until: until, told: until})
	}
	if lists == nil {
		lists = []varyList{{names: e.Vary, until: math.MaxInt64}}
	}
	return lists
}

func (e *Entry) isMarker() bool { return e.Status == 0 }

// outcomeOf returns the outcome of an error of the disk. It returns 0 if the disk is out of use.
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
