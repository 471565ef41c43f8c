package series

import "slices"

// Kept is how many names that are no longer in force keep their series. Names that the last change
// removed, and names with something under way, are kept in addition.
const Kept = 64

// Names is the set of names that have series. The zero value is empty. It is not safe for
// concurrent use.
type Names struct {
	known   map[string]bool // names that have been in force
	removed []removedName   // in the order of their removal
}

// removedName is a name that is no longer in force.
type removedName struct {
	name         string
	byLastChange bool // the last change removed it
}

// Add notes that name has series. It is not in force until Change says so.
func (n *Names) Add(name string) {
	if n.known == nil {
		n.known = map[string]bool{}
	}
	if _, ok := n.known[name]; !ok {
		n.known[name] = false
	}
}

// Change sets the names that are in force from now on; all of them were added. It returns the
// names that lose their series: those that have never been in force, and the longest removed
// beyond Kept. busy reports whether something is under way for a name that is no longer in force.
func (n *Names) Change(inForce []string, busy func(name string) bool) (gone []string) {
	is := make(map[string]bool, len(inForce))
	for _, name := range inForce {
		is[name] = true
	}
	out := make(map[string]bool, len(n.removed))
	n.removed = slices.DeleteFunc(n.removed, func(d removedName) bool { return is[d.name] })
	for i := range n.removed {
		n.removed[i].byLastChange = false
		out[n.removed[i].name] = true
	}
	var names []string
	for name, was := range n.known {
		switch {
		case is[name]:
			n.known[name] = true
		case !was:
			gone = append(gone, name)
		case !out[name]:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		n.removed = append(n.removed, removedName{name: name, byLastChange: true})
	}
	beyond := len(n.removed) - Kept
	n.removed = slices.DeleteFunc(n.removed, func(d removedName) bool {
		if beyond <= 0 || d.byLastChange || busy(d.name) {
			return false
		}
		beyond--
		gone = append(gone, d.name)
		return true
	})
	for _, name := range gone {
		delete(n.known, name)
	}
	return gone
}
