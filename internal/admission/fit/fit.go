package fit

import (
	"math"
	"sync"
	"sync/atomic"
)

const (
	// EntryBytes is about what an object takes in the memory tier beside its body: 296
	// bytes of structures, and 500 of key and head, as usual on the web.
	EntryBytes = 800

	// recent is the number of responses over which a mean is taken: the latest
	// ones, each worth less than the one after it.
	recent = 1024

	// enough is the number of admitted responses whose mean says all; with fewer,
	// that of storable ones fills up.
	enough = 64

	// assumed is the mean body before any response was seen.
	assumed = 16 << 10

	// mostTypical is how many times the typical body a body counts in the mean at most.
	mostTypical = 8

	// askEvery is for how many notes the answer of a Held is used.
	askEvery = 16

	// Of the tier's bytes: from heldFrom on C is more and more, and from heldAlone on
	// only, by what the tier holds.
	heldFrom, heldAlone = 0.75, 0.9
)

// Held returns how many objects a tier holds now, and their bytes as the tier counts
// them. It is safe for concurrent use, and fast.
type Held func() (objects, bytes int64)

// Fit estimates C, the number of objects that a tier holds when it is full. Once the
// tier is nearly full, that is its bytes by the bytes of an object that it holds. Before,
// it is its bytes by the mean size of what was lately admitted, or, as long as little was
// admitted, of what was storable. C is never less than what the tier holds.
//
// A client that asks for many large objects, or for one of them again and again, moves C
// only by what the tier then really holds of them: in the mean no body counts more than
// mostTypical times the typical one, which half of the bodies exceed.
//
// It is safe for concurrent use. The same sizes in the same order give the same C, if the
// tier holds the same.
type Fit struct {
	bytes   int64 // bound of the tier
	held    Held
	objects atomic.Int64
	known   atomic.Bool

	mu       sync.Mutex
	admitted mean
	storable mean // admitted or held back
	notes    int
	inTier   struct{ objects, bytes int64 } // what held said last
}

// New returns a Fit for a tier of so many bytes, 0 or more, that holds what held says.
// Without held it goes by the means alone.
func New(bytes int64, held Held) *Fit {
	if held == nil {
		held = func() (objects, bytes int64) { return 0, 0 }
	}
	f := &Fit{bytes: bytes, held: held}
	f.settleLocked() // nobody else has it yet
	return f
}

// Admitted notes the body of a response that the tier took, in bytes, and returns C.
func (f *Fit) Admitted(body int64) (objects int64) { return f.note(body, true) }

// HeldBack notes the body of a response that the tier would have taken, and that
// admission held back; it returns C.
func (f *Fit) HeldBack(body int64) (objects int64) { return f.note(body, false) }

// Objects returns C, 1 or more.
func (f *Fit) Objects() int64 { return f.objects.Load() }

// Known reports whether C comes from responses enough to speak of.
func (f *Fit) Known() bool { return f.known.Load() }

func (f *Fit) note(body int64, admitted bool) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.storable.add(float64(body))
	if admitted {
		f.admitted.add(float64(body))
	}
	f.settleLocked()
	return f.objects.Load()
}

// settleLocked works out C.
func (f *Fit) settleLocked() {
	body := float64(assumed)
	if f.storable.n > 0 {
		share := min(f.admitted.n/enough, 1)
		body = share*f.admitted.value + (1-share)*f.storable.value
	}
	space := body + EntryBytes
	if f.notes%askEvery == 0 {
		f.inTier.objects, f.inTier.bytes = f.held()
	}
	f.notes++
	objects, bytes := f.inTier.objects, f.inTier.bytes
	if full := float64(bytes) / float64(max(f.bytes, 1)); full > heldFrom && objects > 0 {
		share := min((full-heldFrom)/(heldAlone-heldFrom), 1)
		space = share*float64(bytes)/float64(objects) + (1-share)*space
	}
	f.objects.Store(max(int64(float64(f.bytes)/max(space, 1)), objects, 1))
	f.known.Store(f.storable.n >= enough)
}

// mean is that of the latest values: of all of them until there are enough, then
// with weights that fall off by 1/recent.
type mean struct {
	value, n float64
	typical  float64 // about as many of the latest values are above as below
}

func (m *mean) add(v float64) {
	m.n = math.Min(m.n+1, recent)
	m.value += (math.Min(v, mostTypical*m.follow(v)) - m.value) / m.n
}

// leastStep is the factor by which the typical value moves after the first values.
var leastStep = math.Exp2(1.0 / 16)

// follow moves the typical value towards v by a fixed factor, which is larger for the
// first values, and returns it. So it stays where as many push it up as down.
func (m *mean) follow(v float64) float64 {
	v = max(v, 1)
	step := leastStep
	if wide := 2 / m.n; wide > 1.0/16 {
		step = math.Exp2(wide)
	}
	switch {
	case m.typical == 0:
		m.typical = v
	case v > m.typical:
		m.typical = min(m.typical*step, v)
	default:
		m.typical = max(m.typical/step, v)
	}
	return m.typical
}

// Length is how long a generation of a filter is: it ends after so many sightings, but
// not before a share of them were of different keys; or when it holds as many distinct
// keys as it has room for.
type Length struct {
	// PerObject is the number of sightings for each object that the tier holds, Least
	// the number of them in any case.
	PerObject, Least int64

	// Distinct is the share of these sightings that have to be of different keys, at
	// least 0 and less than Keys. So many requests for few keys do not end a generation.
	Distinct float64

	// Keys is the share of the sightings for which there is room if all are of different
	// keys; above 0, at most 1.
	Keys float64
}

// most bounds a generation: 2^26 keys take some 100 MiB in a filter of 1 %.
const most = 1 << 26

// Sightings returns the length for C objects, 1 or more.
func (l Length) Sightings(objects int64) int64 {
	return max(min(objects, most)*l.PerObject, l.Least, 1)
}

// lookShare is into how many parts a generation's sightings are divided, to count its
// distinct keys only after each of them.
const lookShare = 16

// More returns how many more sightings a generation of this many sightings needs, after
// them, when it holds so many distinct keys; 0 if it has ended. After that many the
// caller asks again.
func (l Length) More(sightings, keys int64) int64 {
	missing := int64(math.Ceil(l.Distinct*float64(sightings))) - keys
	if missing <= 0 {
		return 0
	}
	return max(missing, sightings/lookShare, 1)
}

// Room returns the keys that a generation of so many sightings is made for, 1 or more.
func (l Length) Room(sightings int64) int64 {
	return min(max(int64(math.Ceil(l.Keys*float64(sightings))), 1), most)
}

// MostRoom returns the largest room for a tier of so many bytes: all objects are empty.
func (l Length) MostRoom(bytes int64) int64 { return l.Room(l.Sightings(bytes / EntryBytes)) }

// SecondHit returns the length for that policy; the sweep of test/sweep chose it.
func SecondHit() Length { return Length{PerObject: 3, Least: 200, Distinct: 0.25, Keys: 1} }

// Counting returns the length for the policy of that name, which stores what had more than so many sightings, 1 or more. A
// filter that counts takes four times the memory for a key; of the sightings of the traces at most two thirds are of
// different keys.
func Counting(moreThan int) Length {
	n := int64(max(moreThan, 1))
	return Length{PerObject: 4 * n, Least: 200 * n, Distinct: 0.1, Keys: 0.5}
}
