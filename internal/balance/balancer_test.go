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
		if i, _, ok := b.Choose(start, loads, 0); ok {
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

func TestBackupsGetWhatNoOtherServerCanHave(t *testing.T) {
	f := func(want string, policy Policy, out []int, loads ...Load) {
		t.Helper()
		b := New(Options{Policy: policy, Weights: []int{1, 2, 1, 1}, Backups: []bool{false, false, true, true}, Ejection: Ejection{Failures: 1, Backoff: time.Second, MaxBackoff: time.Second}})
		for _, i := range out {
			b.lastTicket++
			b.Failed(i, b.lastTicket, start)
		}
		if got := turns(b, len(want), loads...); got != want {
			t.Errorf("%v are out, of %+v: got %s, want %s", out, loads, got, want)
		}
		rests := len(out) < 2
		if b.Rests(0, start) || b.Rests(2, start) != rests || b.Rests(3, start) != rests {
			t.Errorf("%v are out: want the backups, and no others, to rest: %v", out, rests)
		}
	}
	for _, policy := range []Policy{RoundRobin, LeastConnections} {
		f("babbab", policy, nil, make([]Load, 4)...)
		f("bbbb", policy, []int{0}, make([]Load, 4)...)
		f("cdcd", policy, []int{0, 1}, make([]Load, 4)...)
		f("dddd", policy, []int{0, 1, 2}, make([]Load, 4)...)
		f("----", policy, nil, Load{Full: true}, Load{Full: true}, Load{}, Load{}) // full is not out
		f("cdcd", policy, nil, Load{Not: true}, Load{Not: true}, Load{}, Load{})
		f("----", policy, nil, Load{Not: true}, Load{Full: true}, Load{}, Load{})
	}
}

// Connections that last stand as the weights do.
func TestLeastConnectionsFillsByWeight(t *testing.T) {
	weights := []int{1, 2, 5}
	b := New(Options{Policy: LeastConnections, Weights: weights})
	loads := make([]Load, 3)
	for range 80 {
		i, _, _ := b.Choose(start, loads, 0)
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
		o := Options{Policy: Policy(r.IntN(3)), Ejection: Ejection{Failures: r.IntN(3), Backoff: time.Second, MaxBackoff: 8 * time.Second, Refuse: r.IntN(2) == 0}, Health: Health{1, 2}}
		for range n {
			o.Weights, o.Backups = append(o.Weights, 1+r.IntN(5)), append(o.Backups, r.IntN(3) == 0)
		}
		b, now, loads := New(o), start, make([]Load, n)
		for range 500 {
			now = now.Add(time.Duration(r.IntN(900)) * time.Millisecond)
			for i := range loads {
				loads[i] = Load{InUse: r.IntN(9), Full: r.IntN(4) == 0, Not: r.IntN(6) == 0}
			}
			well, left, first, open := 0, 0, 0, 0 // in all; of those in question; and those of them that hold back the backups; and of those that may be chosen, with room
			for i := range loads {
				if state, wait := b.State(i, now); state == Up || state == Ejected && wait == 0 {
					well++
					if !loads[i].Not {
						left++
					}
					if !loads[i].Not && !o.Backups[i] && (state == Up || !loads[i].Full) {
						first++
					}
				}
			}
			for i := range loads {
				state, wait := b.State(i, now)
				may := state == Up || state == Ejected && wait == 0
				may = may || left == 0 && !o.Ejection.Refuse && (state != Down || well == 0)
				if may && !loads[i].Not && !loads[i].Full && (first == 0 || !o.Backups[i]) {
					open++
				}
			}
			before := b.servers
			b.servers = append([]server(nil), before...)
			i, ticket, ok := b.Choose(now, loads, r.Uint64())
			if ok != (open > 0) || ok && (loads[i].Full || loads[i].Not) {
				t.Fatalf("seed %d: got server %d, %v of %+v with %d open", seed, i, ok, loads, open)
			}
			if !ok {
				continue
			}
			if s := &before[i]; left > 0 && !s.available(now) {
				t.Fatalf("seed %d: server %d is out, and others are well", seed, i)
			}
			if o.Backups[i] && first > 0 {
				t.Fatalf("seed %d: server %d is a backup, and others are well", seed, i)
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
