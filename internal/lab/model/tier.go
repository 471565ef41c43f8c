package model

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/lab/trace"
)

// MinTierBytes is the least capacity with an eviction of the proxy.
const MinTierBytes = 64 << 10

// Bounds of the options of the proxy's tier.
const (
	objectShare = 4  // its largest body is at most 1/objectShare of its bytes, without the stage
	nameBytes   = 4  // a name is the object's number
	maxVariants = 32 // not used: nothing varies here

	roomyShare    = 8 // a tier uses at most roomyShare times the size of all objects
	minRoomyBytes = 8 << 20
)

// usualHead is the size of the one header field of an entry here. With it an entry takes as much beside its body as one with a
// key of 60 bytes and five or six short fields: Date, Content-Type, Cache-Control, Via and the like.
const usualHead = 205

// memoryTier is the proxy's own memory tier with landing window and eviction. Its entries have short names, one header field of
// the usual size, and content that takes no memory (zeros.go). It accounts for the same bytes as the proxy, the overhead of each
// entry included.
//
// Ristretto samples look-ups and chooses victims at random, so two Runs may differ a little.
type memoryTier struct {
	store   *cache.Store
	head    cache.Entry // what all entries have in common
	staged  bool        // new objects go into the stage
	times   int         // requests for an object until the policy lets it in; 0: it does not compete
	objects []trace.Object
	names   []byte // names of all objects, nameBytes each

	lifetimes []Lifetime   // nil: nothing expires
	now       atomic.Int64 // Unix nanoseconds of the latest request; ristretto's goroutines read it too
}

func newMemoryTier(s Setting, in Input) (*memoryTier, error) {
	objects, total := in.Objects, int64(0)
	for _, o := range objects {
		total += o.Size
	}
	main, stage := s.tier(len(objects), total)
	largest := main / objectShare
	if s.MaxObjectBytes > 0 {
		largest = min(largest, s.MaxObjectBytes)
	}
	t := &memoryTier{
		staged: s.StageBytes > 0 && !s.Policy.Closed(), times: s.competing(),
		objects: objects, names: make([]byte, 0, nameBytes*len(objects)), lifetimes: in.Lifetimes,
	}
	o := cache.Options{MaxBytes: main + stage, StageBytes: stage, MaxObjectBytes: largest, MaxVariants: maxVariants}
	o.Eviction, o.Optimise = s.Eviction.ofTheTier()
	if t.lifetimes != nil {
		o.Now = t.time
	}
	var err error
	if t.store, err = cache.New(o); err != nil {
		return nil, fmt.Errorf("build the memory tier: %w", err)
	}
	t.head.Header.Add("", strings.Repeat(" ", usualHead))
	for i := range objects {
		t.names = binary.LittleEndian.AppendUint32(t.names, uint32(i))
	}
	return t, nil
}

// tier returns the bytes of the main part and of the stage. A tier of many times the size of all objects never evicts; a larger
// one would only have a larger sketch and tables, and the same hits.
func (s Setting) tier(objects int, totalBytes int64) (main, stage int64) {
	most := roomyShare*(totalBytes+int64(objects)*entryBytes) + minRoomyBytes
	return min(s.CapacityBytes-s.StageBytes, most), min(s.StageBytes, most)
}

// ofTheTier returns e as the proxy's tier has it.
func (e Eviction) ofTheTier() (cache.Eviction, cache.Optimise) {
	switch e {
	case Ristretto:
		return cache.Ristretto, cache.Balanced
	case Recency:
		return cache.Recency, cache.Balanced
	case SizeAwareForHits:
		return cache.SizeAware, cache.ForHits
	case SizeAwareForBytes:
		return cache.SizeAware, cache.ForByteHits
	default:
		return cache.SizeAware, cache.Balanced
	}
}

// competing returns how often an object that the policy lets in was asked for; 0: it does not compete, for the capacity has copies of what
// is on the disk.
func (s Setting) competing() int {
	if s.DiskBytes > 0 {
		return 0
	}
	return s.Needs()
}

func (t *memoryTier) name(i uint32) []byte {
	at := int(i) * nameBytes
	return t.names[at : at+nameBytes : at+nameBytes]
}

func (t *memoryTier) key(i uint32) cache.Key {
	o := &t.objects[i]
	return cache.Key{Hi: o.Hi, Lo: o.Lo}
}

// entry returns the entry that is stored for i.
func (t *memoryTier) entry(i uint32) *cache.Entry {
	e, k := t.head, t.key(i)
	e.Key, e.URL, e.Name, e.URLLen, e.Content = k, k, t.name(i), nameBytes, cache.Kept(zeros(t.objects[i].Size))
	if t.lifetimes != nil {
		e.ResponseTime, e.Policy = t.time(), t.lifetimes[i].policy()
	}
	return &e
}

// time is that of the latest request.
func (t *memoryTier) time() time.Time { return time.Unix(0, t.now.Load()) }

// forever is the longest span of a policy.
const forever = (1<<31 - 1) * time.Second

// policy is what the proxy makes of a response with this lifetime.
func (l Lifetime) policy() rfc9111.Policy {
	p := rfc9111.Policy{Lifetime: l.Fresh, Explicit: true}
	if l.Fresh == 0 {
		p.Lifetime = forever
	}
	if l.Validates {
		p.Keep = forever
	}
	return p
}

// find looks up as the proxy does, as every look-up is a sign of demand to Ristretto.
func (t *memoryTier) find(i uint32, now int64) place {
	t.now.Store(now)
	// Ristretto gets look-ups in batches, on a goroutine of its own, and loses those that find it busy. At the pace of a proxy it
	// loses next to none, in a model that does not let it run most.
	runtime.Gosched()
	k, name := t.key(i), t.name(i)
	switch e, heldBack := t.store.Find(k, name); {
	case e == nil:
		return nowhere
	case t.lifetimes != nil && !t.fresh(e):
		return t.stale(e, heldBack)
	case heldBack:
		return inStage
	default:
		return inMain
	}
}

func (t *memoryTier) holds(i uint32) bool { return t.store.Holds(t.key(i)) }

// fresh reports whether the proxy would answer with e.
func (t *memoryTier) fresh(e *cache.Object) bool {
	return e.Policy().Use(e.Age(t.time()), rfc9111.RequestDirectives{}, false) == rfc9111.UseNow
}

// stale returns what place e has, which has expired. As in the proxy it stays until something replaces it, and what is in the stage is
// fetched like a newcomer.
func (t *memoryTier) stale(e *cache.Object, heldBack bool) place {
	switch {
	case heldBack:
		return nowhere
	case e.Policy().Useful(e.Age(t.time())):
		return stale
	default:
		return expired
	}
}

func (t *memoryTier) renew(i uint32) { t.store.Renew(t.entry(i), 0, nil) }

func (t *memoryTier) keep(i uint32, admit bool) Outcome {
	switch {
	case !t.store.Takes(t.objects[i].Size, nil, true):
		return TooLarge
	case admit && t.store.Outweighed(t.entry(i), t.objects[i].Size, t.times):
		return t.keep(i, false)
	case admit && t.store.Put(t.entry(i), nil) == cache.Stored:
		return Stored
	case admit:
		return TooLarge
	case t.staged && t.store.PutStage(t.entry(i), nil) == cache.Stored:
		return Staged
	}
	return HeldBack
}

func (t *memoryTier) promote(i uint32) bool { return t.store.Promote(t.key(i), t.name(i), t.times) }

func (t *memoryTier) unstage(i uint32) {
	if e, _ := t.store.Find(t.key(i), t.name(i)); e != nil {
		t.store.Discard(e)
	}
}

func (t *memoryTier) counters() counters {
	s := t.store.Stats()
	return counters{objects: s.Objects, evictions: s.Capacity + s.Rejected + s.Variants, neverHit: s.NeverHit, expired: s.Replaced}
}

func (t *memoryTier) held() (objects, bytes int64) { return t.store.Held() }

func (t *memoryTier) look([]trace.Access) uint32 { return 0 }

func (t *memoryTier) close() { t.store.Close() }
