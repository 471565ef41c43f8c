package model

import (
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/fit"
	"edgeproxy/internal/policy"
)

// fitted is the length of the generations of a window that is fitted to the cache. It uses the same parts as package admission.
type fitted struct {
	fit       *fit.Fit
	length    fit.Length
	sightings int64 // after which a generation ends
	room      int64 // keys that the newest generation has room for
}

func newFitted(s Setting) *fitted {
	gated := s.CapacityBytes - s.StageBytes
	if s.DiskBytes > 0 {
		gated = s.DiskBytes
	}
	f := &fitted{fit: fit.New(gated), length: s.length()}
	f.sightings = f.length.Sightings(f.fit.Objects())
	f.room = f.limit()
	return f
}

// length returns the length of the policy's generations.
func (s Setting) length() fit.Length {
	if s.Policy.Memory() == policy.Counted {
		return fit.Counting()
	}
	return fit.SecondHit()
}

// limit returns the least number of keys that a generation beginning now has room for.
func (f *fitted) limit() int64 { return f.length.Room(f.sightings) }

// keys returns the distinct keys at which the newest generation ends.
func (f *fitted) keys() int64 { return min(f.limit(), f.room) }

// note counts the size of a body that was stored, or held back.
func (f *fitted) note(body int64, heldBack bool) {
	if heldBack {
		f.fit.HeldBack(body)
	} else {
		f.fit.Admitted(body)
	}
	f.sightings = f.length.Sightings(f.fit.Objects())
}

// rotate begins a generation.
func (f *fitted) rotate() { f.room = bloom.NextCapacity(f.room, f.limit()) }
