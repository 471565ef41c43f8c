package disk

// This file finds strays: records in a directory to which their keys do not belong any more, since others have come or bounds have changed.

// at returns the Store that may have a record under h: the one to which it belongs, or else one that has it from a time when it belonged there.
// Where none has it, it is the one to which it belongs.
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

// removeElsewhere removes what there is, or may be found later, under h where it does not belong.
func (g *Group) removeElsewhere(own *Store, h uint64) {
	for _, s := range g.stores {
		if s != own && (s.Holds(h) || s.fills()) {
			s.Remove(h)
		}
	}
}

// fills reports whether there may be records that Holds does not know of yet.
func (s *Store) fills() bool {
	v := s.volume.Load()
	if v == nil {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unfilled > 0
}
