package pace

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// TestWhichClientGoesFirst: CLIENT BYTES RATE of each body, in the order in which they go.
func TestWhichClientGoesFirst(t *testing.T) {
	f := func(name string, limit, excess int64, want string, loads ...string) {
		t.Run(name, func(t *testing.T) {
			var all []*pinnedLoad
			names := map[*pinnedLoad]string{}
			for _, text := range loads {
				l, who := &pinnedLoad{}, ""
				if _, err := fmt.Sscanf(text, "%s %d %g", &who, &l.bytes, &l.rate); err != nil {
					t.Fatal(err)
				}
				if who != "-" {
					l.client = netip.MustParsePrefix("192.0.2." + strings.TrimLeft(who, "abcdefgh") + "/32")
				}
				all, names[l] = append(all, l), text
			}
			var got []string
			for _, l := range choose(all, limit, excess) {
				got = append(got, names[l])
			}
			if g := strings.Join(got, ", "); g != want {
				t.Errorf("got %q, want %q", g, want)
			}
		})
	}
	f("the slowest", 100, 1, "a2 50 10", "a1 50 20", "a2 50 10", "a3 50 30")
	f("as many as it takes", 100, 80, "a2 50 10, a1 50 20", "a1 50 20", "a2 50 10", "a3 50 30")
	f("not a client that is within its share, however slow", 100, 60, "a1 40 900, a1 40 1000", "a1 40 1000", "a1 40 900", "a1 40 2000", "a2 40 1")
	f("only until its client is within its share", 90, 31, "a1 30 1, a2 60 9", "a1 30 1", "a1 30 2", "a2 60 9")
	f("each stranger is one", 100, 30, "- 40 0.5", "- 60 1", "- 40 0.5", "a1 30 3")
	f("nothing", 100, 0, "", "a1 200 1")
	f("the rest as well", 100, 1000, "a1 60 1, a2 60 2", "a1 60 1", "a2 60 2")
}
