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
)

// Fit estimates C, the number of objects that a tier holds when it is full: its
// bytes by the mean size of what was lately admitted. Before anything was admitted
// it goes by what was storable.
//
// It is safe for concurrent use. The same sizes in the same order give the same C.
type Fit struct {
	bytes   int64 // of the tier
	objects atomic.Int64
	known   atomic.Bool

	mu       sync.Mutex
	admitted mean
	storable mean // admitted or held back
}

// New returns a Fit for a tier of so many bytes, 0 or more.
func New(bytes int64) *Fit {
	f := &Fit{bytes: bytes}
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

// settleLocked works out C from the means.
func (f *Fit) settleLocked() {
	body := float64(assumed)
	if f.storable.n > 0 {
		share := min(f.admitted.n/enough, 1)
		body = share*f.admitted.value + (1-share)*f.storable.value
	}
	f.objects.Store(f.objectsOf(body))
	f.known.Store(f.storable.n >= enough)
}

func (f *Fit) objectsOf(body float64) int64 {
	return max(int64(float64(f.bytes)/(body+EntryBytes)), 1)
}

// mean is that of the latest values: of all of them until there are enough, then
// with weights that fall off by 1/recent.
type mean struct{ value, n float64 }

func (m *mean) add(v float64) {
	m.n = math.Min(m.n+1, recent)
	m.value += (v - m.value) / m.n
}

// Length is how long a generation of a filter is: it ends after so many sightings, or
// when it holds as many distinct keys as it has room for.
type Length struct {
	// PerObject is the number of sightings for each object that the tier holds, Least
	// the number of them in any case.
	PerObject, Least int64

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

// Room returns the keys that a generation of so many sightings is made for, 1 or more.
func (l Length) Room(sightings int64) int64 {
	return min(max(int64(math.Ceil(l.Keys*float64(sightings))), 1), most)
}

// MostRoom returns the largest room for a tier of so many bytes: all objects are empty.
func (l Length) MostRoom(bytes int64) int64 { return l.Room(l.Sightings(bytes / EntryBytes)) }

// SecondHit and Counting return the lengths for the two policies; the sweep of
// test/sweep chose them. A filter that counts takes four times the memory for a key; of
// the sightings of the traces at most two thirds are of different keys.
func SecondHit() Length { return Length{PerObject: 4, Least: 200, Keys: 1} }

// Counting is for the policy of that name, which needs several sightings of a key.
func Counting() Length { return Length{PerObject: 20, Least: 800, Keys: 0.5} }
