package purge

import (
	"strings"
	"sync"
)

const (
	// mostNames is how many names of tags are remembered. With names of 20 bytes they take 1.4 MB.
	mostNames = 1 << 14
	// longestName is the longest name that is remembered, in bytes.
	longestName = 128
)

// names remembers which tags have which names. A response is stored with the hashes of its tags alone, and tags are few
// beside responses. If there are too many, the name that came first is forgotten.
type names struct {
	mu     sync.Mutex
	byHash map[uint64]string
	order  []uint64 // a ring, once it is full
	oldest int
}

// remember notes the name of a tag. It keeps no part of name.
func (n *names) remember(tag uint64, name string) {
	if len(name) > longestName {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.byHash[tag]; known {
		return
	}
	if n.byHash == nil {
		n.byHash = map[uint64]string{}
	}
	if len(n.order) < mostNames {
		n.order = append(n.order, tag)
	} else {
		delete(n.byHash, n.order[n.oldest])
		n.order[n.oldest] = tag
		n.oldest = (n.oldest + 1) % mostNames
	}
	n.byHash[tag] = strings.Clone(name)
}

// Names returns the names of tags, as far as they are known: those that AppendTags and AppendGroup have met last in this process.
// A name that several of them have is returned once.
func (t *Table) Names(tags []uint64) (out []string) {
	t.names.mu.Lock()
	defer t.names.mu.Unlock()
	seen := map[string]bool{}
	for _, tag := range tags {
		if name, known := t.names.byHash[tag]; known && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
