package disk

// This file finds strays: records in a directory that their keys no longer belong to, since directories were added or bounds have changed.

// at returns the Store that may have a record under h: the one that h belongs to, or else one that has it from a time when it belonged there. If
// none has it, it is the one that h belongs to.
func (g *Group) at(h uint64) *Store {
	own := g.of(h)
	if len(g.stores) == 1 || own.Holds(h) {
		return own
	}
	for _, s := range g.stores {
		if s != own && s.Holds(h) {
			return s
		}
	}
	return own
}

// removeElsewhere removes records under h, also ones that may be found later, from the Stores that h does not belong to.
func (g *Group) removeElsewhere(own *Store, h uint64) {
	for _, s := range g.stores {
		if s != own && (s.Holds(h) || s.fills()) {
			s.Remove(h)
		}
	}
}

// fills reports whether there may be records that Holds does not know yet.
func (s *Store) fills() bool {
	v := s.volume.Load()
	if v == nil || v.failed() || v.hidden.Load() > 0 {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unfilled > 0
}
