package client

import (
	"net/netip"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ addr, want string }{
		{"192.0.2.1", "192.0.2.1/32"},
		{"::ffff:192.0.2.1", "192.0.2.1/32"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"2001:db8:1:2::1", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
	} {
		got, ok := Of(netip.MustParseAddr(c.addr))
		if !ok || got.String() != c.want {
			t.Errorf("Of(%s): got %v, %v, want %s", c.addr, got, ok, c.want)
		}
	}
	if got, ok := Of(netip.Addr{}); ok {
		t.Errorf("Of the zero Addr: got %v, want nobody", got)
	}
}

func TestNetworkOf(t *testing.T) {
	for c, want := range map[string]string{"192.0.2.77/32": "192.0.2.0/24", "2001:db8:1:2::/64": "2001:db8:1::/48"} {
		if got := NetworkOf(netip.MustParsePrefix(c)); got.String() != want {
			t.Errorf("NetworkOf(%s): got %v, want %s", c, got, want)
		}
	}
	if got := NetworkOf(netip.Prefix{}); got.IsValid() {
		t.Errorf("NetworkOf nobody: got %v, want nobody", got)
	}
}
