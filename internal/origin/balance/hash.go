package balance

import (
	"math"
	"time"
)

// HashOf returns a hash of parts, which is the same in each process: several proxies before the
// same servers send a target to the same one (FNV-1a, and a finalizer for its low bits).
func HashOf(parts ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * prime
		}
		h = (h ^ 0xff) * prime // no part has this byte as a whole: it is in no UTF-8, and not in a target
	}
	return mix(h)
}

// mix is a bijection in which each bit of the result depends on all bits of h (the finalizer of SplitMix64).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// rank returns the score of a server for a target: the candidate with the highest score gets it. This is
// weighted rendezvous hashing. Each server gets the share of all targets that its weight has of all
// weights. When a server is added or removed, only its own targets move.
func (s *server) rank(target uint64) float64 {
	u := (float64(mix(target^s.name)>>11) + 0.5) / (1 << 53) // above 0 and below 1
	return float64(s.weight) / -math.Log(u)
}

// chooseByHash returns the candidate with the highest rank for a target, -1 if there is none.
func (b *Balancer) chooseByHash(now time.Time, loads []Load, r candidateSet, target uint64) int {
	best, highest := -1, 0.0
	for i := range b.servers {
		if !b.candidate(i, now, loads[i], r) {
			continue
		}
		if rank := b.servers[i].rank(target); best < 0 || rank > highest {
			best, highest = i, rank
		}
	}
	return best
}
