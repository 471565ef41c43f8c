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
	return mixed(h)
}

// mixed is a bijection after which each bit depends on all (the finalizer of SplitMix64).
func mixed(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// rank is where a server stands for a target: the candidate with the highest rank gets it. This is
// weighted rendezvous hashing: over all targets each server is first by its share of the weights,
// and where one comes or goes, only targets move that are its own.
func (s *server) rank(target uint64) float64 {
	u := (float64(mixed(target^s.name)>>11) + 0.5) / (1 << 53) // above 0 and below 1
	return float64(s.weight) / -math.Log(u)
}

// ranked returns the candidate that stands first for a target, -1 if there is none.
func (b *Balancer) ranked(now time.Time, loads []Load, r reach, target uint64) int {
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
