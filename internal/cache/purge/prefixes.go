package purge

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"
)

// prefixes holds the marks for prefixes of URLs, sorted. It has one writer at a time, and any number of readers, which take
// no lock.
type prefixes struct {
	newest atomicMark // maximum of all marks; raised before a mark is published
	limit  int
	sorted atomic.Pointer[[]prefix] // never written to once it is published

	// folded has the marks of the folded prefixes, by host. A mark is added here before it leaves the list, so a look-up
	// that reads the list first misses none.
	folded *marks
}

// prefix is the mark for the URLs of one site whose target begins with text.
type prefix struct {
	site, host uint64
	text       []byte
	mark            // mark of this prefix alone
	all        mark // maximum of the marks of this prefix and of all prefixes of it
	parent     int  // index of the longest other prefix of text; -1 for none
}

// noParent ends the chain from a prefix to its shorter prefixes.
const noParent = -1

func newPrefixes(limit int) *prefixes {
	t := &prefixes{limit: limit, folded: newMarks(limit)}
	t.sorted.Store(&[]prefix{})
	return t
}

func (t *prefixes) after(born uint64) bool { return born < t.newest.load().newest() }

// state returns the state of a response born then by the prefixes of target, and by the folded ones of its host.
func (t *prefixes) state(born, site, host uint64, target []byte) State {
	s := t.listed(born, site, target) // first: see folded
	return max(s, t.folded.state(born, host))
}

// listed returns the state of a response born then by the prefixes of target in the list.
//
// It finds them all from the last entry that does not sort after target: whatever sorts between a prefix of target and
// target begins with that prefix too. So each prefix of target is that last entry, or a prefix of it.
func (t *prefixes) listed(born, site uint64, target []byte) State {
	list := *t.sorted.Load()
	at, found := search(list, site, target)
	if !found {
		at--
	}
	if at < 0 || list[at].site != site {
		return Valid
	}
	shared := commonLength(list[at].text, target)
	for at != noParent && len(list[at].text) > shared {
		at = list[at].parent
	}
	if at == noParent {
		return Valid
	}
	return list[at].all.state(born)
}

// raise raises the mark of a prefix to m. It returns how many marks folded to make room for it. It removes longer prefixes
// whose marks add nothing.
func (t *prefixes) raise(site, host uint64, text []byte, m mark) (folded int) {
	t.newest.raise(m)
	list := *t.sorted.Load()
	at, found := search(list, site, text)
	next := make([]prefix, 0, len(list)+1)
	next = append(next, list[:at]...)
	p := prefix{site: site, host: host, mark: m}
	if found {
		p.text, p.mark = list[at].text, list[at].over(m)
		at++
	} else {
		p.text = bytes.Clone(text)
	}
	next = append(next, p)
	for _, q := range list[at:] {
		// Nothing in q is newer than m, so the soft mark of q adds nothing.
		if q.site != site || !bytes.HasPrefix(q.text, text) || q.hard > p.hard {
			next = append(next, q)
		}
	}
	if len(next) > t.limit {
		var oldest prefix
		next, oldest = withoutOldest(next)
		folded = 1 + t.folded.raise(oldest.host, oldest.mark)
	}
	link(next)
	t.sorted.Store(&next)
	return folded
}

// changes calls f with every mark of the list, the oldest first: raise expects no newer mark in the list than its own.
func (t *prefixes) changes(f func(change)) {
	list := slices.Clone(*t.sorted.Load())
	slices.SortFunc(list, func(a, b prefix) int { return cmp.Compare(a.newest(), b.newest()) })
	for i := range list {
		p := &list[i]
		f(change{kind: changePrefix, hash: p.site, host: p.host, text: p.text, mark: p.mark})
	}
}

// settle drops the marks up to a generation, those of hosts included.
func (t *prefixes) settle(upTo uint64) {
	t.folded.settle(upTo)
	newest := t.folded.newest.load()
	next := []prefix{}
	for _, p := range *t.sorted.Load() {
		if p.newest() > upTo {
			next = append(next, p)
			newest = newest.over(p.mark)
		}
	}
	link(next)
	t.sorted.Store(&next)
	t.newest.set(newest)
}

// fillRatio returns how full the list, or the table of hosts, is; 1 is full.
func (t *prefixes) fillRatio() float64 {
	return max(float64(len(*t.sorted.Load()))/float64(t.limit), t.folded.fillRatio())
}

// withoutOldest removes the prefix with the oldest mark.
func withoutOldest(list []prefix) (rest []prefix, oldest prefix) {
	at := 0
	for i := range list {
		if list[i].newest() < list[at].newest() {
			at = i
		}
	}
	oldest = list[at]
	return slices.Delete(list, at, at+1), oldest
}

// link sets parent and all. A prefix of an entry comes before it in the list. So does whatever begins with that prefix and
// sorts between the two. So the chain of parents from the entry before meets all prefixes, the longest first.
func link(list []prefix) {
	for i := range list {
		p := &list[i]
		at := i - 1
		for at != noParent && (list[at].site != p.site || !bytes.HasPrefix(p.text, list[at].text)) {
			at = list[at].parent
		}
		p.parent, p.all = at, p.mark
		if at != noParent {
			p.all = p.over(list[at].all)
		}
	}
}

// search returns the index at which a prefix of site is or belongs in list.
func search(list []prefix, site uint64, text []byte) (at int, found bool) {
	low, high := 0, len(list)
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch c := list[middle].compare(site, text); {
		case c == 0:
			return middle, true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

func (p *prefix) compare(site uint64, text []byte) int {
	if c := cmp.Compare(p.site, site); c != 0 {
		return c
	}
	return bytes.Compare(p.text, text)
}

func commonLength(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
