package balance

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// start is when the tests begin; any time will do.
var start = time.Unix(1_800_000_000, 0)

// turns returns the servers of n requests as letters. Connections end at once.
func turns(b *Balancer, n int, loads ...Load) string {
	var s strings.Builder
	for range n {
		if i, _, ok := b.Choose(start, loads); ok {
			s.WriteByte(byte('a' + i))
		} else {
			s.WriteByte('-')
		}
	}
	return s.String()
}

func TestRoundRobinByWeight(t *testing.T) {
	f := func(weights []int, want string, loads ...Load) {
		t.Helper()
		if loads == nil {
			loads = make([]Load, len(weights))
		}
		if got := turns(New(Options{Weights: weights}), len(want), loads...); got != want {
			t.Errorf("weights %v: got %s, want %s", weights, got, want)
		}
	}
	f([]int{1}, "aaa")
	f([]int{1, 1, 1}, "abcabcabc")
	f([]int{5, 1, 1}, "aabacaaaabacaa") // the sequence of nginx's upstream module
	f([]int{1, 2}, "babbab")
	f([]int{1, 1, 1}, "acacac", Load{}, Load{Full: true}, Load{})
	f([]int{1, 1}, "bbb", Load{Not: true}, Load{})
	f([]int{1, 1}, "---", Load{Full: true}, Load{Full: true})
	f([]int{1, 1}, "---", Load{Not: true}, Load{Not: true})
}

func TestLeastConnectionsByWeight(t *testing.T) {
	f := func(weights []int, want string, inUse ...int) {
		t.Helper()
		loads := make([]Load, len(weights))
		for i, n := range inUse {
			loads[i].InUse = n
		}
		if got := turns(New(Options{Policy: LeastConnections, Weights: weights}), len(want), loads...); got != want {
			t.Errorf("weights %v with %v in use: got %s, want %s", weights, inUse, got, want)
		}
	}
	f([]int{1, 1, 1}, "abcabc")
	f([]int{1, 1, 1}, "bcbc", 1, 0, 0)
	f([]int{1, 3}, "aa", 0, 1)
	f([]int{1, 3}, "bb", 1, 2)
	f([]int{1, 3}, "aa", 1, 4)
	f([]int{1, 3}, "babb", 1, 3) // equal: in turn, by weight
}

// Requests that come one at a time find all servers idle: each gets its share of them.
// The light ones once got nothing.
func TestLeastConnectionsSharesByWeightAtLowLoad(t *testing.T) {
	weights := []int{1, 2, 5}
	got := turns(New(Options{Policy: LeastConnections, Weights: weights}), 80, make([]Load, 3)...)
	for i, w := range weights {
		if n := strings.Count(got, string(rune('a'+i))); n != 10*w {
			t.Errorf("server %d of weight %d: got %d requests of 80, want %d", i, w, n, 10*w)
		}
	}
}

// Connections that last stand as the weights do.
func TestLeastConnectionsFillsByWeight(t *testing.T) {
	weights := []int{1, 2, 5}
	b := New(Options{Policy: LeastConnections, Weights: weights})
	loads := make([]Load, 3)
	for range 80 {
		i, _, _ := b.Choose(start, loads)
		loads[i].InUse++
	}
	for i, w := range weights {
		if loads[i].InUse != 10*w {
			t.Errorf("server %d of weight %d: got %d connections, want %d", i, w, loads[i].InUse, 10*w)
		}
	}
}

// Whatever happens, a request goes to a server that can take it, to one that is
// well if there is one, and is turned away only for a reason.
func TestChoiceIsAlwaysJustified(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(4)
		o := Options{Policy: Policy(r.IntN(2)), Ejection: Ejection{Failures: r.IntN(3), Backoff: time.Second, MaxBackoff: 8 * time.Second, Refuse: r.IntN(2) == 0}, Health: Health{1, 2}}
		for range n {
			o.Weights = append(o.Weights, 1+r.IntN(5))
		}
		b, now, loads := New(o), start, make([]Load, n)
		for range 500 {
			now = now.Add(time.Duration(r.IntN(900)) * time.Millisecond)
			for i := range loads {
				loads[i] = Load{InUse: r.IntN(9), Full: r.IntN(4) == 0, Not: r.IntN(6) == 0}
			}
			well, left, open := 0, 0, 0 // in all; of those in question; and of those that may be chosen, with room
			for i := range loads {
				if state, wait := b.State(i, now); state == Up || state == Ejected && wait == 0 {
					well++
					if !loads[i].Not {
						left++
					}
				}
			}
			for i := range loads {
				state, wait := b.State(i, now)
				may := state == Up || state == Ejected && wait == 0
				may = may || left == 0 && !o.Ejection.Refuse && (state != Down || well == 0)
				if may && !loads[i].Not && !loads[i].Full {
					open++
				}
			}
			before := b.servers
			b.servers = append([]server(nil), before...)
			i, ticket, ok := b.Choose(now, loads)
			if ok != (open > 0) || ok && (loads[i].Full || loads[i].Not) {
				t.Fatalf("seed %d: got server %d, %v of %+v with %d open", seed, i, ok, loads, open)
			}
			if !ok {
				continue
			}
			if s := &before[i]; left > 0 && !s.available(now) {
				t.Fatalf("seed %d: server %d is out, and others are well", seed, i)
			}
			switch r.IntN(3) {
			case 0:
				b.Failed(i, ticket, now)
			case 1:
				b.Succeeded(i, ticket, start)
			default:
				b.Checked(i, r.IntN(2) == 0)
			}
		}
	}
}
