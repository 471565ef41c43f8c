package admission

import (
	"errors"
	"sync"
	"sync/atomic"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/bloom"
)

// fitting sets the lengths of the generations of one memory to suit the tier behind the gate: each ends after that many
// sightings, if enough of them are of different keys.
type fitting struct {
	_     [64]byte // sightings is written by every request: it has a cache line of its own
	count atomic.Int64
	_     [56]byte

	mu    sync.Mutex   // held to compute one of these from the others; sightings take it only at the end of a generation
	began atomic.Int64 // count when the newest generation began
	ends  atomic.Int64 // count at which it ends
	full  atomic.Bool  // it has reached its end, and will be rotated even if ends moves

	length  atomic.Pointer[fit.Length]
	keys    func() int64             // distinct ones in the newest generation
	objects atomic.Int64             // C: how many the tier holds when it is full
	ended   chan struct{}            // receives when ends may have been reached
	most    func(l fit.Length) int64 // bound of the bytes of the filters

	told  atomic.Int64  // objects at the last call of onFit; 0: none yet
	moved chan struct{} // receives when onFit is to be called
	onFit func(filter string, objects, sightings int64)
}

// sized returns the size of a filter's first generation: that of the section, or, if it is Fitted, what suits the tier
// as far as is known.
func sized(l fit.Length, section FilterOptions, f *fit.Fit) FilterOptions {
	if section.Fitted {
		section.Resizable = true
		section.Capacity = l.Room(l.Sightings(f.Objects()))
	}
	return section
}

// CheckFilter says why a filter cannot be built for section: the error joins a *bloom.OptionError for each reason. A Fitted one needs
// room for the most keys that it may be fitted to before a tier of so many bytes. filter is SecondHitFilter or CountingFilter.
// moreThan is that of Options, and matters to CountingFilter alone.
func CheckFilter(filter string, section FilterOptions, moreThan int, tierBytes int64) error {
	seen, counted := secondHitKind(), countingKind(moreThan)
	length, layout := seen.length, seen.layout
	if filter == CountingFilter {
		length, layout = counted.length, counted.layout
	}
	if !section.Fitted {
		return section.Options.Validate(layout)
	}
	section.Capacity = mostKeys(length, tierBytes)
	err := section.Options.Validate(layout)
	if e, ok := errors.AsType[*bloom.OptionError](err); ok && e.Option == "capacity" { // the operator gives a fitted one none
		return &bloom.OptionError{
			Option: "false_positive_rate", Value: section.FalsePositiveRate,
			Want: "a higher one, or window: fixed; a window that fits this cache may need more keys than one filter holds at this rate",
		}
	}
	return err
}

func mostKeys(l fit.Length, tierBytes int64) int64 {
	return bloom.NextCapacity(0, l.MostRoom(tierBytes))
}

// newFitting returns a fitting for a filter of o, whose generations have length l.
func newFitting(l fit.Length, o Options, size bloom.Options, layout bloom.Layout) *fitting {
	f := &fitting{ended: make(chan struct{}, 1), moved: make(chan struct{}, 1), onFit: o.OnFit}
	f.length.Store(&l)
	tierBytes := o.TierBytes
	if f.onFit == nil {
		f.onFit = func(string, int64, int64) {}
	}
	f.most = func(l fit.Length) int64 {
		o := size
		o.Capacity = mostKeys(l, tierBytes)
		held, stored := regretOptions(o)
		return memoryOf(o, layout) + memoryOf(held, bloom.SplitBlock) + memoryOf(stored, bloom.SplitBlock)
	}
	return f
}

// memoryOf returns the bytes of a window of full size.
func memoryOf(o bloom.Options, l bloom.Layout) int64 {
	units, _ := o.Size(l)
	return l.Bytes(units) * int64(o.Generations)
}

// objectsNow returns C, 0 if nothing is fitted.
func (f *fitting) objectsNow() int64 {
	if f == nil {
		return 0
	}
	return f.objects.Load()
}

// counted counts a sighting and returns its number.
func (f *fitting) counted() (number int64) {
	if f == nil {
		return 0
	}
	return f.count.Add(1)
}

// sighted ends the newest generation if the sighting with this number, which the filter has now, is its last.
func (f *fitting) sighted(number int64) {
	if f != nil && number >= f.ends.Load() && !f.full.Load() {
		f.end()
	}
}

// end signals that the newest generation is to be rotated, if it is at its end: it may have been rotated since the
// caller looked.
func (f *fitting) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endLocked()
}

func (f *fitting) endLocked() {
	if f.count.Load() < f.ends.Load() {
		return
	}
	if more := f.lengthNow().More(f.sightings(), f.keys()); more > 0 {
		f.ends.Store(f.count.Load() + more)
		return
	}
	f.full.Store(true)
	signal(f.ended)
}

// over reports whether the newest generation has had all its sightings.
func (f *fitting) over() bool { return f != nil && f.full.Load() }

// seen returns how many sightings the newest generation has had.
func (f *fitting) seen() int64 { return f.count.Load() - f.began.Load() }

// beginGeneration accounts for the begin of a generation.
func (f *fitting) beginGeneration() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began.Store(f.count.Load())
	f.ends.Store(f.began.Load() + f.sightings())
	f.full.Store(false)
}

func (f *fitting) lengthNow() fit.Length { return *f.length.Load() }

// sightings returns how many a generation gets in all.
func (f *fitting) sightings() int64 { return f.lengthNow().Sightings(f.objects.Load()) }

// relength gives the newest generation the present number of sightings.
func (f *fitting) relength() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ends.Store(f.began.Load() + f.sightings())
	f.endLocked()
}

// signal sends without waiting: one pending signal is enough.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// fit starts fitting m to what is known of the tier. The newest generation has had seen sightings.
func (m *memory) fit(f *fitting, known *fit.Fit, seen int64) {
	m.fitting, f.keys = f, m.filter.Keys
	m.rotator.fitted, m.rotator.ended, m.rotator.moved, m.rotator.tell = true, f.ended, f.moved, m.tell
	f.began.Store(-seen)
	m.follow(known.Objects(), known.Known())
}

// follow sets the length of the generations to suit C; known is whether enough responses were seen to report it.
func (m *memory) follow(objects int64, known bool) {
	f := m.fitting
	if f == nil {
		return
	}
	if f.objects.Swap(objects) != objects {
		m.relength()
	}
	if known && farFrom(f.told.Load(), objects) {
		signal(f.moved)
	}
}

// setLength sets the length of the generations for each object that the tier holds.
func (m *memory) setLength(l fit.Length) {
	if f := m.fitting; f != nil && *f.length.Swap(&l) != l {
		m.relength()
	}
}

// relength gives the generations the length and the room that suit C now.
func (m *memory) relength() {
	room := m.fitting.lengthNow().Room(m.fitting.sightings())
	held, stored := regretOptions(bloom.Options{Capacity: room})
	m.filter.SetLimit(room)
	m.regret.held.SetLimit(held.Capacity)
	m.regret.stored.SetLimit(stored.Capacity)
	m.fitting.relength()
}

// farFrom reports whether objects is more than a quarter above or below told.
func farFrom(told, objects int64) bool {
	return objects > told+told/4 || objects < told-told/4
}

// tell calls onFit if C has moved.
func (m *memory) tell() {
	f := m.fitting
	objects := f.objects.Load()
	if !farFrom(f.told.Load(), objects) {
		return
	}
	f.told.Store(objects)
	f.onFit(m.name, objects, f.lengthNow().Sightings(objects))
}
