package purge

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"
)

// prefixes holds the marks for prefixes of URLs, sorted. It has one writer at a
// time, and any number of readers, who take no lock.
type prefixes struct {
	newest atomicMark // over all marks; raised before the mark is there
	limit  int
	sorted atomic.Pointer[[]prefix] // never written to once it is published

	// folded has the marks of the prefixes that made room, by host. A mark is here
	// before it leaves the list, so a look-up that reads the list first misses none.
	folded *marks
}

// prefix is the mark for the URLs of one site whose target begins with text.
type prefix struct {
	site, host uint64
	text       []byte
	mark            // of this prefix alone
	all        mark // over the marks of this prefix and of all that it extends
	parent     int  // the longest prefix that text extends; -1 for none
}

// noParent ends the way from a prefix to those that it extends.
const noParent = -1

func newPrefixes(limit int) *prefixes {
	t := &prefixes{limit: limit, folded: newMarks(limit)}
	t.sorted.Store(&[]prefix{})
	return t
}

func (t *prefixes) after(born uint64) bool { return born < t.newest.load().newest() }

// state returns what the prefixes of target, and those of its host that were folded,
// make of a response born then.
func (t *prefixes) state(born, site, host uint64, target []byte) State {
	s := t.listed(born, site, target) // first: see folded
	return max(s, t.folded.state(born, host))
}

// listed returns what the prefixes of target in the list make of a response born
// then.
//
// They are all found from the last in order that is not beyond target: whatever
// is sorted between one of them and target begins with it too. So each of them is
// that last one, or what it extends.
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

// raise puts m over the mark of a prefix and returns how many marks folded to make
// room for it. The longer prefixes that are left with nothing to say go.
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
		// Nothing in q is newer than m, so what is soft in it has nothing to say.
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

// changes calls f with every mark of the list, the oldest first: raise knows nothing newer
// than what it is given.
func (t *prefixes) changes(f func(change)) {
	list := slices.Clone(*t.sorted.Load())
	slices.SortFunc(list, func(a, b prefix) int { return cmp.Compare(a.newest(), b.newest()) })
	for i := range list {
		p := &list[i]
		f(change{kind: changePrefix, hash: p.site, host: p.host, text: p.text, mark: p.mark})
	}
}

// settle lets go of the marks up to a generation, those of hosts included.
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

// share returns how much of its room is taken.
func (t *prefixes) share() float64 {
	return max(float64(len(*t.sorted.Load()))/float64(t.limit), t.folded.share())
}

// withoutOldest takes out the prefix that was not marked for longest.
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

// link sets parent and all. What a prefix extends comes before it in the list, and
// so does whatever extends that and is sorted between the two: the way up from the
// one before it meets them all, the longest first.
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

// search returns where in list a prefix of site is or belongs.
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
