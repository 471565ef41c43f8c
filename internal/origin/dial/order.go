package dial

import (
	"net/netip"
	"slices"
)

// order returns what is tried, and in which order: the families take turns, the
// one of the first address first (RFC 8305 section 4), and within a family the
// order stays. Those among them that are in last go behind the others, in its order:
// they were of no use. The address first goes before all: it answered the last time.
// There are at most maxAddresses.
func order(addrs []netip.Addr, first netip.Addr, last []netip.Addr) []netip.Addr {
	out := inTurn(addrs)
	for _, a := range last {
		if i := slices.Index(out, a); i >= 0 {
			out = append(slices.Delete(out, i, i+1), a)
		}
	}
	if i := slices.Index(out, first); i > 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, first)
	}
	return out[:min(len(out), maxAddresses)]
}

// inTurn returns addrs, each once, with the families in turn.
func inTurn(addrs []netip.Addr) []netip.Addr {
	var mine, other []netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		switch {
		case slices.Contains(mine, a) || slices.Contains(other, a):
		case len(mine) == 0 || a.Is4() == mine[0].Is4():
			mine = append(mine, a)
		default:
			other = append(other, a)
		}
	}
	var out []netip.Addr
	for i := range max(len(mine), len(other)) {
		if i < len(mine) {
			out = append(out, mine[i])
		}
		if i < len(other) {
			out = append(out, other[i])
		}
	}
	return out
}
