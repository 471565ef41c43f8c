package series

import "slices"

// Kept is how many names that are in force no more keep their series, besides those that the last
// change took out of force, and those that something is under way for.
const Kept = 64

// Names are those that have series. The zero value has none. It is not safe for concurrent
// use.
type Names struct {
	known map[string]bool // has been in force
	left  []departed      // in the order in which they went
}

// departed is a name that is in force no more.
type departed struct {
	name string
	last bool // the last change took it out of force
}

// Add notes that name has series. Until a change says that it is in force, it is not.
func (n *Names) Add(name string) {
	if n.known == nil {
		n.known = map[string]bool{}
	}
	if _, ok := n.known[name]; !ok {
		n.known[name] = false
	}
}

// Change says which names are in force from now on; all of them were added. It returns the
// names whose series go: those that have never been in force, and those that went longest
// ago, beyond Kept. Busy says that something is under way for a name that is in force no more.
func (n *Names) Change(inForce []string, busy func(name string) bool) (gone []string) {
	is := make(map[string]bool, len(inForce))
	for _, name := range inForce {
		is[name] = true
	}
	out := make(map[string]bool, len(n.left))
	n.left = slices.DeleteFunc(n.left, func(d departed) bool { return is[d.name] })
	for i := range n.left {
		n.left[i].last = false
		out[n.left[i].name] = true
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
		n.left = append(n.left, departed{name: name, last: true})
	}
	beyond := len(n.left) - Kept
	n.left = slices.DeleteFunc(n.left, func(d departed) bool {
		if beyond <= 0 || d.last || busy(d.name) {
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
