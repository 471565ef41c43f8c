package main

// key is the 128-bit hash of a key.
type key struct{ hi, lo uint64 }

// batchKeys is how many keys are made and then sighted in one go: so few that
// they stay in the processor's nearest cache.
const batchKeys = 512

// hash spreads a number over 128 bits (the finaliser of SplitMix64).
func hash(n uint64) key {
	return key{mix(n*2*0x9e3779b97f4a7c15 + 1), mix((n*2 + 1) * 0x9e3779b97f4a7c15)}
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// stream makes the keys of one worker in one round: new ones and ones that were
// new within the last span keys of all, in turn at random, half of each.
type stream struct {
	random uint64
	next   uint64 // number of the next new key
	stride uint64 // to the one after; workers take turns
	first  uint64 // number of the round's first new key
	span   uint64
}

// fill makes len(out) keys.
func (s *stream) fill(out []key) {
	for i := range out {
		s.random++
		r := mix(s.random * 0x9e3779b97f4a7c15)
		if r>>63 == 0 {
			out[i] = hash(s.next)
			s.next += s.stride
			continue
		}
		out[i] = hash(s.first - 1 - r%s.span)
	}
}

// supply hands out the numbers of new keys, round after round, so that every
// filter meets the same ones.
type supply struct {
	next  uint64
	round uint64
	span  uint64 // how far back known keys reach
}

// streams returns those of one round for so many workers and sightings.
func (s *supply) streams(workers, sightings int) []stream {
	out := make([]stream, workers)
	for w := range out {
		out[w] = stream{
			random: s.round<<40 | uint64(w)<<32,
			next:   s.next + uint64(w), stride: uint64(workers),
			first: s.next, span: s.span,
		}
	}
	s.next += uint64(sightings)
	s.round++
	return out
}
