package model

import "edgeproxy/internal/admission"

// fills remembers, for each object, whether its last fill was held back, and in
// which generation.
type fills struct {
	held        []uint32 // serial number of the generation + 1; 0: not held back
	generations uint32   // 0: the window has no end
}

func newFills(s Setting, objects int) fills {
	f := fills{}
	if s.Policy != admission.Always { // which holds nothing back
		f.held = make([]uint32, objects)
	}
	if s.Policy != admission.Never && s.rotates() {
		f.generations = uint32(s.Generations)
	}
	return f
}

// regret reports whether the last fill was held back within the window.
func (f *fills) regret(i, now uint32) bool {
	if f.held == nil || f.held[i] == 0 {
		return false
	}
	return f.generations == 0 || now+1-f.held[i] < f.generations
}

func (f *fills) heldBack(i, now uint32) { f.held[i] = now + 1 }

func (f *fills) written(i uint32) {
	if f.held != nil {
		f.held[i] = 0
	}
}
