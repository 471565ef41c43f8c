package config

import (
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// listenerAddress is the address of a listener, with its place in the file.
type listenerAddress struct {
	path   string
	listen Listen
}

// free checks that no listener before has an address that l overlaps with; taken are the addresses so far.
func (v *validator) free(path string, l Listen, taken *[]listenerAddress) {
	own := listenerAddress{path, l}
	for _, other := range slices.Backward(*taken) {
		at := own
		if !l.overlaps(&other.listen) {
			continue
		}
		given := v.src.given(path)
		if !given {
			at, other = other, at // the error is at the address that the file has, not at the default
		}
		what := "this is the one of "
		if at.listen.Address != other.listen.Address {
			what = "it overlaps with " + other.listen.Address + " of "
		}
		if v.fail(at.path, "must be another address: "+what+other.path); !given {
			return
		}
		break
	}
	*taken = append(*taken, own)
}

// overlaps reports whether l and o cannot be opened side by side. Both are valid. No name but localhost is resolved.
func (l *Listen) overlaps(o *Listen) bool {
	if l.Socket() || o.Socket() {
		return l.Socket() && o.Socket() && filepath.Clean(l.Address[len(socketPrefix):]) == filepath.Clean(o.Address[len(socketPrefix):])
	}
	mine, port, _ := net.SplitHostPort(l.Address)
	others, otherPort, _ := net.SplitHostPort(o.Address)
	return port == otherPort && port != "0" && hostsOverlap(mine, others) // with port 0 each listener gets one of its own
}

// hostsOverlap reports whether listeners at these hosts cannot have the same port; "" is every address.
func hostsOverlap(mine, others string) bool {
	a, named := listenedAt(mine)
	b, otherNamed := listenedAt(others)
	switch {
	case mine == "" || others == "":
		return true
	case named || otherNamed:
		return strings.EqualFold(mine, others)
	}
	return a == b || a.Is4() == b.Is4() && (a.IsUnspecified() || b.IsUnspecified())
}

// listenedAt returns the address that a listener at host opens; named reports that host is a name, or empty. Of localhost Go opens the
// address of IPv4.
func listenedAt(host string) (a netip.Addr, named bool) {
	if strings.EqualFold(host, "localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), false
	}
	a, err := netip.ParseAddr(host)
	return a.Unmap(), err != nil
}
