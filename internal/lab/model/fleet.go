package model

import (
	"fmt"
	"slices"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/lab/trace"
)

// MostNodes is the largest number of edges in a Fleet.
const MostNodes = 64

// Fleet says how several edges share the requests of a trace. Each edge has a cache, a window and a filter of its own, all of the
// same Setting. The zero value is no fleet.
type Fleet struct {
	Nodes   int // 1 to MostNodes; 0 is no fleet
	Balance Balance
	Share   Share
}

// Balance is how a fleet decides which edge gets a request.
type Balance string

// The balances.
const (
	BalanceRandom Balance = "random" // drawn, whatever is asked for; the same for each Setting and each time
	BalanceHash   Balance = "hash"   // the key decides: each object has one edge
)

// Share is what the edges of a fleet tell each other.
type Share string

// The shares. What is told in batches is told after every batchRequests requests to the fleet.
const (
	// ShareNone: nothing.
	ShareNone Share = "none"
	// SharePlacement: each key has an owner. An edge that has no response asks the owner, for which that is a request like any
	// other: a sighting, a look-up, and on a miss a request to the origin. The asking edge admits the response by its own sightings.
	SharePlacement Share = "placement"
	// ShareDigests: each edge publishes the set of what it holds, in batches and without error. An edge that has no response asks
	// the next edge whose latest set has the key. There it counts as a use, and not as a sighting. What that edge holds no more is
	// asked of the origin.
	ShareDigests Share = "digests"
	// ShareSightings: each edge counts the sightings of all others too, in batches.
	ShareSightings Share = "sightings"
)

// batchRequests is how many requests a fleet gets between two exchanges of digests or sightings.
const batchRequests = 1000

// Balances returns all balances.
func Balances() []string { return []string{string(BalanceRandom), string(BalanceHash)} }

// Shares returns all shares.
func Shares() []string {
	return []string{string(ShareNone), string(SharePlacement), string(ShareDigests), string(ShareSightings)}
}

// SharesBut returns all shares but one.
func SharesBut(s Share) []string {
	return slices.DeleteFunc(Shares(), func(name string) bool { return name == string(s) })
}

// Asks reports whether edges ask each other for responses.
func (s Share) Asks() bool { return s == SharePlacement || s == ShareDigests }

// inBatches reports whether something is exchanged after each batch.
func (s Share) inBatches() bool { return s == ShareDigests || s == ShareSightings }

// Validate returns nil or a *bloom.OptionError.
func (f Fleet) Validate() error {
	wrong := func(option string, value any, want string) error {
		return &bloom.OptionError{Option: option, Value: value, Want: want}
	}
	switch {
	case f == Fleet{}:
		return nil
	case f.Nodes < 1 || f.Nodes > MostNodes:
		return wrong("nodes", f.Nodes, fmt.Sprintf("1 to %d", MostNodes))
	case !slices.Contains(Balances(), string(f.Balance)):
		return wrong("balance", fmt.Sprintf("%q", string(f.Balance)), policy.OneOf(Balances()))
	case !slices.Contains(Shares(), string(f.Share)):
		return wrong("share", fmt.Sprintf("%q", string(f.Share)), policy.OneOf(Shares()))
	case f.Share != ShareNone && f.Balance == BalanceHash:
		return wrong("share", f.Share, "none with hash balancing: each object has one edge, and no other has anything of it")
	case f.Share != ShareNone && f.Nodes == 1:
		return wrong("share", f.Share, "none with one node, which has nobody to share with")
	}
	return nil
}

// Memory is that of Setting for all edges.
func (f Fleet) Memory(s Setting, objects int, totalBytes int64) int64 {
	return int64(max(f.Nodes, 1)) * s.Memory(objects, totalBytes)
}

// owners returns the node that has each object, by the highest of the nodes' hashes with its key (rendezvous).
func (f Fleet) owners(objects []trace.Object) []uint8 {
	seeds := make([]uint64, f.Nodes)
	for n := range seeds {
		seeds[n] = mixed(uint64(n) + 1)
	}
	out := make([]uint8, len(objects))
	for i, o := range objects {
		most := uint64(0)
		for n, seed := range seeds {
			if score := mixed(o.Hi ^ mixed(o.Lo^seed)); score >= most {
				most, out[i] = score, uint8(n) //nolint:gosec // below MostNodes
			}
		}
	}
	return out
}

// mixed spreads x over all bits: the finaliser of SplitMix64.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
