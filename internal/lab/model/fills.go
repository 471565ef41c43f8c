package model

// fills remembers, for each object, whether its last fill was held back, and in
// which generation.
type fills struct {
	marks       []mark // nil: the policy holds nothing back
	generations uint32 // 0: the window never ends
}

func newFills(s Setting, marks []mark) fills {
	f := fills{marks: marks}
	if s.Policy.Remembers() && s.rotates() {
		f.generations = uint32(s.Generations)
	}
	return f
}

// regret reports whether the last fill was held back within the window.
func (f *fills) regret(i, now uint32) bool {
	if f.marks == nil || f.marks[i].held == 0 {
		return false
	}
	return f.generations == 0 || now+1-f.marks[i].held < f.generations
}

func (f *fills) heldBack(i, now uint32) {
	if f.marks != nil {
		f.marks[i].held = now + 1
	}
}

func (f *fills) written(i uint32) {
	if f.marks != nil {
		f.marks[i].held = 0
	}
}
