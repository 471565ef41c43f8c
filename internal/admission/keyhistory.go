package admission

import "edgeproxy/internal/bloom"

// keyHistory has the completed sightings of one key, as far as they matter. Generations are serial numbers from 1.
type keyHistory struct {
	from, upto uint64 // see sample; 0: none

	// counts are the certain sightings in generation last and those before it,
	// each at its number modulo the array.
	last   uint64
	counts [bloom.MaxGenerations]uint8
}

// add records a sighting that is in one of the generations from..upto.
func (p *keyHistory) add(from, upto uint64) {
	p.from = max(p.from, from)
	p.upto = max(p.upto, upto)
}

// count records a sighting that is certainly in generation g.
func (p *keyHistory) count(g uint64) {
	n := uint64(len(p.counts))
	if g > p.last {
		// The places of the generations in between hold older ones.
		for i := p.last + 1; i <= g && i <= p.last+n; i++ {
			p.counts[i%n] = 0
		}
		p.last = g
	}
	if g+n > p.last && p.counts[g%n] < ^uint8(0) {
		p.counts[g%n]++
	}
}

// atLeast returns the least answer of a correct filter about the sightings in generations oldest and later, this one
// included. Own is the generation that it is certainly in, or 0. Reach is how far a generation counts; 0 is for a
// filter that knows only seen (2) and unseen (1).
func (p *keyHistory) atLeast(oldest uint64, reach int, own uint64) int {
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
