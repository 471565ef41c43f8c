package admission

import "edgeproxy/internal/bloom"

// past is what is known of the completed sightings of one key. Generations are
// serial numbers, the first of which is 1.
type past struct {
	from, upto uint64 // see sample; 0: none

	// counts are the certain sightings in generation last and those before it,
	// each at its number modulo the array.
	last   uint64
	counts [bloom.MaxGenerations]uint8
}

// add notes a sighting that is in generations from..upto.
func (p *past) add(from, upto uint64) {
	p.from = max(p.from, from)
	p.upto = max(p.upto, upto)
}

// count notes that it is in generation g for certain.
func (p *past) count(g uint64) {
	n := uint64(len(p.counts))
	if g > p.last {
		// The places of the generations in between held others.
		for i := p.last + 1; i <= g && i <= p.last+n; i++ {
			p.counts[i%n] = 0
		}
		p.last = g
	}
	if g+n > p.last && p.counts[g%n] < ^uint8(0) {
		p.counts[g%n]++
	}
}

// atLeast returns what a filter that is right says, at the least, about the
// sightings in generations oldest and later, with the one that asks: own is the
// generation it is certainly in, or 0. reach is how far a generation counts; 0
// is for a filter that knows seen (2) and unseen (1) only.
func (p *past) atLeast(oldest uint64, reach int, own uint64) int {
	least := 1
	if p.from >= oldest {
		least = 2
	}
	if reach == 0 {
		return least
	}
	if own != 0 {
		q := *p
		q.count(own)
		p = &q
	}
	sum := 0
	n := uint64(len(p.counts))
	for g := max(oldest, p.last-min(p.last, n-1)); g <= p.last; g++ {
		sum += min(int(p.counts[g%n]), reach)
	}
	return max(least, sum)
}
