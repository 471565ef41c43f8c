package model

import (
	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
)

// fitted is the length of the generations of a window that is fitted to the cache. It uses the same parts as package admission.
type fitted struct {
	fit       *fit.Fit
	length    fit.Length
	sightings int64 // after which a generation ends, if enough of them are of different keys
	room      int64 // keys that the newest generation has room for
}

func newFitted(s Setting, held fit.Held) *fitted {
	gated := s.CapacityBytes - s.StageBytes
	if s.DiskBytes > 0 {
		gated = s.DiskBytes
	}
	f := &fitted{fit: fit.New(gated, held), length: s.length()}
	f.sightings = f.length.Sightings(f.fit.Objects())
	f.room = f.limit()
	return f
}

// length returns the length of the policy's generations.
func (s Setting) length() fit.Length {
	if s.Length != (fit.Length{}) {
		return s.Length
	}
	if s.Policy.Memory() == policy.Counted {
		return fit.Counting(s.MoreThan)
	}
	return fit.SecondHit()
}

// limit returns the least number of keys that a generation beginning now has room for.
func (f *fitted) limit() int64 { return f.length.Room(f.sightings) }

// keys returns the distinct keys at which the newest generation ends.
func (f *fitted) keys() int64 { return min(f.limit(), f.room) }

// note counts the size of a body that was stored, or held back. It reports whether the length of a generation has changed.
func (f *fitted) note(body int64, heldBack bool) (changed bool) {
	if heldBack {
		return f.follow(f.fit.HeldBack(body))
	}
	return f.follow(f.fit.Admitted(body))
}

// follow sets the length of a generation to that for a tier that holds so many objects when it is full.
func (f *fitted) follow(objects int64) (changed bool) {
	before := f.sightings
	f.sightings = f.length.Sightings(objects)
	return f.sightings != before
}

// rotate begins a generation.
func (f *fitted) rotate() { f.room = bloom.NextCapacity(f.room, f.limit()) }
