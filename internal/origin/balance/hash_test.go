package balance

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// hashing returns a Balancer by target of servers with these names, by weight.
func hashing(weights []int, names ...string) *Balancer {
	var named []Server
	for i, w := range weights {
		named = append(named, Server{Weight: w, Name: names[i]})
	}
	return New(Options{Policy: Hash, Servers: named, Ejection: Ejection{Failures: 1, Backoff: time.Second, MaxBackoff: time.Second}})
}

// placed returns the names of the servers that n targets go to.
func placed(t *testing.T, b *Balancer, n int, loads []Load) []string {
	t.Helper()
	out := make([]string, n)
	for i := range out {
		index, _, ok := b.Choose(start, loads, HashOf("www.example.com", fmt.Sprintf("/page/%d", i)))
		if !ok {
			t.Fatal("no server")
		}
		out[i] = b.options.Servers[index].Name
	}
	return out
}

func counts(names []string) map[string]int {
	out := map[string]int{}
	for _, n := range names {
		out[n]++
	}
	return out
}

// Each server has its share of the targets, within five standard deviations of chance.
func TestTargetsAreSharedByWeight(t *testing.T) {
	const n = 100_000
	weights := []int{1, 2, 5, 1000}
	got := counts(placed(t, hashing(weights, "a:80", "b:80", "c:80", "d:80"), n, make([]Load, 4)))
	for i, name := range []string{"a:80", "b:80", "c:80", "d:80"} {
		p := float64(weights[i]) / 1008
		if want := p * n; math.Abs(float64(got[name])-want) > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("weight %d: got %d targets, want %.0f or so", weights[i], got[name], want)
		}
	}
}

// Where a server comes or goes, or gets another weight, no target moves between two others; its place
// in the list does not matter.
func TestOnlyTheTargetsOfAServerMoveWithIt(t *testing.T) {
	const n = 10_000
	five := placed(t, hashing([]int{1, 1, 1, 1, 1}, "a", "b", "c", "d", "e"), n, make([]Load, 5))
	f := func(name string, b *Balancer, with string, most float64) {
		t.Helper()
		moved := 0
		for i, at := range placed(t, b, n, make([]Load, len(b.servers))) {
			if at == five[i] {
				continue
			}
			if moved++; at != with && five[i] != with {
				t.Fatalf("%s: target %d moved from %s to %s", name, i, five[i], at)
			}
		}
		if float64(moved) > most*n || most > 0 && moved == 0 {
			t.Errorf("%s: %d of %d targets moved, want at most %.2f of them", name, moved, n, most)
		}
	}
	f("another order", hashing([]int{1, 1, 1, 1, 1}, "e", "c", "a", "b", "d"), "", 0)
	f("c goes", hashing([]int{1, 1, 1, 1}, "a", "b", "d", "e"), "c", 0.22)
	f("f comes", hashing([]int{1, 1, 1, 1, 1, 1}, "a", "b", "c", "d", "e", "f"), "f", 0.19)
	f("c gets twice the weight", hashing([]int{1, 1, 2, 1, 1}, "a", "b", "c", "d", "e"), "c", 0.16)
}

// A server that is full, out or tried is passed over: its targets go to those that stand next, spread out,
// and to it again when it can take them.
func TestServersThatCannotTakeATargetArePassedOver(t *testing.T) {
	const n = 3000
	names := []string{"a", "b", "c", "d"}
	all := placed(t, hashing([]int{1, 1, 1, 1}, names...), n, make([]Load, 4))
	f := func(name string, loads []Load, ejected bool) {
		t.Helper()
		b := hashing([]int{1, 1, 1, 1}, names...)
		if ejected {
			b.lastTicket++
			b.Failed(0, b.lastTicket, start)
		}
		next := map[string]int{}
		for i, at := range placed(t, b, n, loads) {
			if all[i] != "a" && at != all[i] || at == "a" {
				t.Fatalf("%s: target %d of %s is at %s", name, i, all[i], at)
			}
			if all[i] == "a" {
				next[at]++
			}
		}
		if len(next) != 3 || next["b"] < n/20 || next["c"] < n/20 || next["d"] < n/20 {
			t.Errorf("%s: got the targets of a at %v, want them spread", name, next)
		}
	}
	f("full", []Load{{Full: true}, {}, {}, {}}, false)
	f("tried", []Load{{Not: true}, {}, {}, {}}, false)
	f("ejected", make([]Load, 4), true)
}

// Proxies before the same servers agree, whatever their version: these hashes are for good.
func TestHashesAreTheSameInEachProcess(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  uint64
	}{{[]string{"www.example.com", "/"}, 0xae2a3f43ffe1ff59}, {[]string{"www.example.com/", ""}, 0xfdb52e0a663f5dbb}, {nil, 0xf52a15e9a9b5e89b}} {
		if got := HashOf(c.parts...); got != c.want {
			t.Errorf("%q: got %#x, want %#x", c.parts, got, c.want)
		}
	}
}

func TestHashingAllocatesNothing(t *testing.T) {
	b, loads := hashing([]int{1, 1, 1}, "a", "b", "c"), make([]Load, 3)
	if n := testing.AllocsPerRun(100, func() { b.Choose(start, loads, HashOf("h", "/x")) }); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
