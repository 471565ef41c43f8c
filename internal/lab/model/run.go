package model

import (
	"errors"
	"fmt"
	"math"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/lab/trace"
)

// Run takes one setting through one trace. One goroutine at a time uses it; different Runs may share the objects. No method
// allocates for a request, except with Ristretto, where each write makes an entry.
type Run struct {
	objects []trace.Object
	marks   []mark // nil: the policy remembers nothing of any object
	rule    policy.Rule
	window  *window // nil: the policy remembers no sightings
	fills   fills
	storage storage
	counts  Result

	sighted int64 // requests so far

	looked uint32 // sum of what look has read, so that the compiler keeps the reads
}

// storage models what would be stored, and where.
type storage interface {
	// find returns where the object is at this time, in Unix nanoseconds, and counts a use of it.
	find(i uint32, now int64) place
	// holds reports whether find would find the object anywhere, if nothing expires. It counts no use.
	holds(i uint32) bool
	// renew notes that an object that find has just called stale was validated.
	renew(i uint32)
	// keep stores an object that is nowhere, or does not. It returns Stored, HeldBack, Staged or TooLarge.
	keep(i uint32, admit bool) Outcome
	// promote writes an object that find has just seen in the stage into the main
	// part, and reports whether it is there now.
	promote(i uint32) bool
	counters() counters
	// held returns how many objects the main part holds, and their bytes as it counts them.
	held() (objects, bytes int64)
	// look prefetches the memory that find will need for these requests, and changes nothing. Its result depends on all it read,
	// and has no other meaning.
	look(requests []trace.Access) uint32
	close()
}

// place is where an object is.
type place uint8

const (
	nowhere place = iota
	inStage
	inMain // with two tiers: in the memory
	onDisk
	stale   // in the main part, and to be validated
	expired // it was in the main part, and is of no use any more
)

// counters has the results of the writes into the main part.
type counters struct {
	objects             int64 // held now
	evictions, neverHit int64 // evictions that made room; and the part of them without a hit
	expired             int64 // objects that left because they had expired

	// With a disk, which is the main part then:
	diskBytes, rewritten int64 // written to it; and of them, not for the first time
	copies, copyBytes    int64 // from it into the memory
}

// Input is what a Run has to know of the trace before the requests. It is shared by Runs, and must not change until Close.
type Input struct {
	Objects []trace.Object // indexed by Access.Object
	Future  *Future        // the future of all requests, for Clairvoyant; the others do not look at it

	// Lifetimes are those of the objects; nil: none expires. With them a Run takes 36 bytes more for each object. A disk has none.
	Lifetimes []Lifetime
}

// New is NewOf for a trace of which only the objects are known.
func New(s Setting, objects []trace.Object) (*Run, error) { return NewOf(s, Input{Objects: objects}) }

// NewOf prepares a Run of s over in. The error names every fault of s.
func NewOf(s Setting, in Input) (*Run, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("model a cache: %w", err)
	}
	objects := in.Objects
	if len(objects) >= math.MaxUint32 {
		return nil, fmt.Errorf("model a cache: %d objects: must be fewer than 2^32-1", len(objects))
	}
	if s.Eviction == Clairvoyant && in.Future == nil {
		return nil, errors.New("model a cache: no future: clairvoyant wants that of the requests")
	}
	r := &Run{objects: objects, rule: s.Rule}
	if s.Policy.HoldsBack() != reason.None {
		r.marks = make([]mark, len(objects))
	}
	var err error
	if r.storage, err = newStorage(s, in); err != nil {
		return nil, fmt.Errorf("model a cache: %w", err)
	}
	if s.Policy.Remembers() {
		if r.window, err = newWindow(s, objects, r.marks, func() (objects, bytes int64) { return r.storage.held() }); err != nil {
			r.storage.close()
			return nil, fmt.Errorf("model a cache: %w", err)
		}
	}
	r.fills = newFills(s, r.marks)
	return r, nil
}

func newStorage(s Setting, in Input) (storage, error) {
	if s.DiskBytes > 0 && in.Lifetimes != nil {
		return nil, errors.New("lifetimes: must be none with a disk")
	}
	if s.DiskBytes > 0 {
		return newTiers(s, in)
	}
	return newMemory(s, in)
}

func newMemory(s Setting, in Input) (memory, error) {
	if s.Eviction.OfTheProxy() {
		return newMemoryTier(s, in)
	}
	return newExactStorage(s, in), nil
}

// Request takes the next request of the trace and returns its outcome. Times must not go backwards; an earlier time counts as the
// latest one seen.
func (r *Run) Request(a trace.Access) Outcome {
	o, admit := r.answer(a)
	if o == missed {
		return r.miss(a, admit)
	}
	return o
}

// answer counts a request and answers it with what is stored. Where nothing is, the outcome is missed, and admit says whether a
// response may be stored.
func (r *Run) answer(a trace.Access) (o Outcome, admit bool) {
	i, sent := a.Object, r.sent(a)
	admit = r.Sight(a)
	c := &r.counts
	c.Requests++
	c.RequestBytes += sent
	o = Hit
	switch r.storage.find(i, a.At) {
	case inMain:
	case inStage:
		o = r.promote(i, r.objects[i].Size, admit)
	case onDisk:
		o = DiskHit
		c.DiskHits++
		c.DiskHitBytes += sent
	case stale:
		r.storage.renew(i)
		c.Validations++
		c.ValidationBytes += sent
		return Validated, admit
	case expired: // what was stored is fetched again whatever the policy says
		return missed, true
	default:
		return missed, admit
	}
	c.Hits++
	c.HitBytes += sent
	return o, admit
}

// sent returns the bytes of the answer to a.
func (r *Run) sent(a trace.Access) int64 {
	if a.Head {
		return 0
	}
	return r.objects[a.Object].Size
}

// miss handles a request that nothing stored answers.
func (r *Run) miss(a trace.Access, admit bool) Outcome {
	if a.Head {
		r.counts.OriginRequests++
		r.counts.HeadMisses++
		return HeadMiss
	}
	return r.fill(a.Object, r.objects[a.Object].Size, admit)
}

// lookAhead is how many requests are prefetched before the first of them is handled: enough for the processor to wait for memory
// for many at a time, and few enough that all of it is still in its cache when it is needed.
const lookAhead = 32

// Requests takes the next requests of the trace, as Request does one by one, but faster: in a trace of many objects nearly all
// the time is waiting for memory, and here these waits overlap.
func (r *Run) Requests(requests []trace.Access) {
	for len(requests) > 0 {
		next := requests[:min(lookAhead, len(requests))]
		r.look(next)
		for _, a := range next {
			r.Request(a)
		}
		requests = requests[len(next):]
	}
}

// look prefetches the memory that these requests will need, and changes nothing.
func (r *Run) look(requests []trace.Access) {
	read := r.looked
	for _, a := range requests {
		read += uint32(r.objects[a.Object].Size)
		if r.marks != nil {
			read += r.marks[a.Object].sighted
		}
	}
	read += r.storage.look(requests)
	if r.window != nil && r.window.filter != nil {
		read += r.window.filter.look(requests)
	}
	r.looked = read
}

// Sight only counts the sighting, and returns whether the policy would admit a response to this request. Request does it too:
// call one of them for a request. It is for callers with a cache of their own that want to compare its verdicts.
func (r *Run) Sight(a trace.Access) bool {
	r.sighted++
	s := policy.Sighting{Number: r.sighted}
	if r.window != nil {
		s.Times = r.window.see(a)
	}
	return r.rule.Decide(s).Admit
}

// promote handles a hit in the stage.
func (r *Run) promote(i uint32, size int64, admit bool) Outcome {
	if !r.rule.Promotes(admit) || !r.storage.promote(i) {
		return StageHit
	}
	r.counts.Promotions++
	r.write(i, size)
	r.filled(size, false)
	return Promoted
}

// fill handles a response of the origin.
func (r *Run) fill(i uint32, size int64, admit bool) Outcome {
	c := &r.counts
	c.OriginRequests++
	c.OriginBytes += size
	if r.fills.regret(i, r.generation()) {
		c.Regret++
		c.RegretBytes += size
	}
	return r.keep(i, size, admit)
}

// keep stores a response, or does not, as admission says.
func (r *Run) keep(i uint32, size int64, admit bool) Outcome {
	c := &r.counts
	o := r.storage.keep(i, admit)
	switch o {
	case Stored:
		r.write(i, size)
		r.filled(size, false)
	case Staged:
		c.StageWrites++
		c.StageWriteBytes += size
		fallthrough
	case HeldBack:
		c.HeldBack++
		c.HeldBackBytes += size
		r.fills.heldBack(i, r.generation())
		r.filled(size, true)
	default:
		c.TooLarge++
	}
	return o
}

func (r *Run) write(i uint32, size int64) {
	r.counts.Writes++
	r.counts.WriteBytes += size
	r.fills.written(i)
}

// filled tells a fitted window the outcome of a fill.
func (r *Run) filled(size int64, heldBack bool) {
	if r.window != nil {
		r.window.filled(size, heldBack)
	}
}

// Holds is for callers that use Sight: it says how many objects their cache holds when it is full, as they have estimated it
// after the latest response.
func (r *Run) Holds(objects int64) {
	if w := r.window; w != nil && w.fitted != nil && w.fitted.follow(objects) {
		w.relength()
	}
}

// generation returns the serial number of the generation that has the latest
// sighting.
func (r *Run) generation() uint32 {
	if r.window == nil {
		return 0
	}
	return r.window.sighted
}

// Result returns the counters so far.
func (r *Run) Result() Result {
	out := r.counts
	out.HitRatio = ratio(out.Hits, out.Requests)
	out.ByteHitRatio = ratio(out.HitBytes, out.RequestBytes)
	b := r.storage.counters()
	out.Objects, out.Evictions, out.StoresNeverHit, out.Expired = b.objects, b.evictions, b.neverHit, b.expired
	out.MemoryWrites, out.MemoryWriteBytes = b.copies, b.copyBytes
	out.DiskWriteBytes, out.DiskRewrittenBytes = b.diskBytes, b.rewritten
	out.WriteAmplification = ratio(b.diskBytes, out.WriteBytes)
	if r.window != nil {
		r.window.report(&out)
	}
	return out
}

// Close ends the goroutines of Ristretto. Call it once, after the last call of any other method.
func (r *Run) Close() { r.storage.close() }
