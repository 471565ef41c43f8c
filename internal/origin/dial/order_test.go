package dial

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// addresses reads addresses separated by spaces.
func addresses(text string) []netip.Addr {
	var out []netip.Addr
	for s := range strings.FieldsSeq(text) {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func TestFamiliesTakeTurns(t *testing.T) {
	f := func(in, first, want string, last ...netip.Addr) {
		t.Helper()
		var answered netip.Addr
		if first != "" {
			answered = netip.MustParseAddr(first)
		}
		if got := strings.Trim(fmt.Sprint(order(addresses(in), answered, last)), "[]"); got != want {
			t.Errorf("%s after %q: got %s, want %s", in, first, got, want)
		}
	}
	f("", "", "")
	f("10.0.0.1", "", "10.0.0.1")
	f("fd00::1 fd00::2 10.0.0.1 10.0.0.2", "", "fd00::1 10.0.0.1 fd00::2 10.0.0.2")
	f("10.0.0.1 10.0.0.2 10.0.0.3 fd00::1", "", "10.0.0.1 fd00::1 10.0.0.2 10.0.0.3")
	f("10.0.0.1 ::ffff:10.0.0.1 10.0.0.1", "", "10.0.0.1")
	f("fd00::1 10.0.0.1 fd00::2", "10.0.0.1", "10.0.0.1 fd00::1 fd00::2")
	f("fd00::1 10.0.0.1", "fd00::1", "fd00::1 10.0.0.1")
	f("fd00::1 10.0.0.1", "10.0.0.9", "fd00::1 10.0.0.1")
	f("fd00::1 10.0.0.1 fd00::2", "", "fd00::2 10.0.0.1 fd00::1", addresses("10.0.0.9 10.0.0.1 fd00::1")...)
	f("10.0.0.1 10.0.0.2 10.0.0.3", "10.0.0.3", "10.0.0.3 10.0.0.2 10.0.0.1", addresses("10.0.0.1")...)
}

func TestAddressesHaveALimit(t *testing.T) {
	var in []netip.Addr
	for i := range 100 {
		in = append(in, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	got := order(in, in[99], nil)
	if len(got) != maxAddresses || got[0] != in[99] {
		t.Errorf("got %d addresses, the first %v, want %d and %v", len(got), got[0], maxAddresses, in[99])
	}
}
