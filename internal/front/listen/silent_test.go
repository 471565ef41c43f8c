package listen

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"edgeproxy/internal/route/client"
)

func whoIs(t *testing.T, addr string) netip.Prefix {
	t.Helper()
	if addr == "" {
		return netip.Prefix{}
	}
	who, _ := client.Of(netip.MustParseAddr(addr))
	return who
}

// TestTheOldestOfTheMostGoesFirst: those that came are let go one by one, and all are
// listed in this order.
func TestTheOldestOfTheMostGoesFirst(t *testing.T) {
	f := func(want string, come ...string) {
		t.Helper()
		var s silentSet[string]
		for i, addr := range come {
			s.add(whoIs(t, addr), fmt.Sprint(i))
		}
		var got string
		for {
			p, _ := s.chooseVictim()
			if p == nil {
				break
			}
			got += p.value
			p.remove()
			p.remove()
		}
		if got != want || len(s.all.byName) != 0 {
			t.Errorf("%v: got %s, want %s; %d groups left", come, got, want, len(s.all.byName))
		}
	}
	f("")
	f("0", "192.0.2.1")
	f("012", "192.0.2.1", "192.0.2.1", "192.0.2.1")
	// One client floods, another has come from its own network before.
	f("0231", "192.0.2.1", "198.51.100.1", "192.0.2.1", "192.0.2.1")
	// A network floods from many addresses.
	f("1203", "198.51.100.1", "192.0.2.1", "192.0.2.2", "192.0.2.3")
	// A client of the network that floods keeps its own.
	f("12304", "192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.2", "192.0.2.2")
	// IPv6: a client is a /64, a network a /48.
	f("1302", "2001:db8:1::1", "2001:db8:2:1::1", "2001:db8:2:2::1", "2001:db8:2:1::2")
	// Nobody has an address.
	f("012", "", "", "")
}

// TestChoiceAgreesWithCounting compares the choice with one made by counting, over changes at
// random.
func TestChoiceAgreesWithCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s silentSet[int]
	var there []*silentEntry[int]
	for step := range 5000 {
		if len(there) > 0 && r.IntN(200) < len(there) {
			i := r.IntN(len(there))
			there[i].remove()
			there = slices.Delete(there, i, i+1)
		} else {
			addr := fmt.Sprintf("10.0.%d.%d", r.IntN(4), r.IntN(4))
			there = append(there, s.add(whoIs(t, addr), step))
		}
		if s.len() != len(there) || len(s.values()) != len(there) {
			t.Fatalf("step %d: got %d, want %d", step, s.len(), len(there))
		}
		p, of := s.chooseVictim()
		if p == nil {
			continue
		}
		networks, clients, oldest := map[netip.Prefix]int{}, map[netip.Prefix]int{}, step
		for _, q := range there {
			networks[q.client.within.name]++
			clients[q.client.name]++
		}
		for _, q := range there {
			if q.client == p.client {
				oldest = min(oldest, q.value)
			}
			if networks[q.client.within.name] > of || q.client.within == p.client.within && clients[q.client.name] > clients[p.client.name] {
				t.Fatalf("step %d: %v of %v was chosen, which has not the most", step, p.client.name, p.client.within.name)
			}
		}
		if p.value != oldest || of != networks[p.client.within.name] {
			t.Fatalf("step %d: got %d of %d, want the oldest, %d, of %d", step, p.value, of, oldest, networks[p.client.within.name])
		}
		few := s.candidates(2)
		if few[0] != p || len(few) != min(2, clients[p.client.name]) || len(s.candidates(len(there)+1)) != clients[p.client.name] {
			t.Fatalf("step %d: got the candidates %v of %d", step, few, clients[p.client.name])
		}
	}
}

func TestCandidatesAreTheOldestAndTheNewestOfTheMost(t *testing.T) {
	f := func(n int, want string, come ...string) {
		t.Helper()
		var s silentSet[string]
		for i, addr := range come {
			s.add(whoIs(t, addr), fmt.Sprint(i))
		}
		got := ""
		for _, p := range s.candidates(n) {
			got += p.value
		}
		if got != want {
			t.Errorf("%d of %v: got %s, want %s", n, come, got, want)
		}
	}
	f(3, "")
	f(1, "0", "192.0.2.1")
	f(3, "0", "192.0.2.1")
	f(1, "2", "192.0.2.1", "192.0.2.1", "192.0.2.1")
	f(2, "02", "192.0.2.1", "192.0.2.1", "192.0.2.1")
	f(3, "012", "192.0.2.1", "192.0.2.1", "192.0.2.1")
	f(9, "012", "192.0.2.1", "192.0.2.1", "192.0.2.1")
	f(9, "123", "198.51.100.1", "192.0.2.1", "192.0.2.1", "192.0.2.1")
}
