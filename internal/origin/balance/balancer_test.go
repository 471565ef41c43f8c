package balance

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// start is when the tests begin; any time will do.
var start = time.Unix(1_800_000_000, 0)

// servers returns some of these weights.
func servers(weights ...int) (out []Server) {
	for _, w := range weights {
		out = append(out, Server{Weight: w})
	}
	return out
}

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
		if got := turns(New(Options{Servers: servers(weights...)}), len(want), loads...); got != want {
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
		if got := turns(New(Options{Policy: LeastConnections, Servers: servers(weights...)}), len(want), loads...); got != want {
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
	got := turns(New(Options{Policy: LeastConnections, Servers: servers(weights...)}), 80, make([]Load, 3)...)
	for i, w := range weights {
		if n := strings.Count(got, string(rune('a'+i))); n != 10*w {
			t.Errorf("server %d of weight %d: got %d requests of 80, want %d", i, w, n, 10*w)
		}
	}
}

func TestBackupsGetWhatNoOtherServerCanHave(t *testing.T) {
	f := func(want string, policy Policy, out []int, loads ...Load) {
		t.Helper()
		b := New(Options{Policy: policy, Servers: []Server{{Weight: 1}, {Weight: 2}, {Weight: 1, Tier: 1}, {Weight: 1, Tier: 1}}, Ejection: Ejection{Failures: 1, Backoff: time.Second, MaxBackoff: time.Second}})
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
	b := New(Options{Policy: LeastConnections, Servers: servers(weights...)})
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
			o.Servers = append(o.Servers, Server{Weight: 1 + r.IntN(5), Tier: max(r.IntN(4)-1, 0)})
		}
		b, now, loads := New(o), start, make([]Load, n)
		for range 500 {
			now = now.Add(time.Duration(r.IntN(900)) * time.Millisecond)
			for i := range loads {
				loads[i] = Load{InUse: r.IntN(9), Full: r.IntN(4) == 0, Not: r.IntN(6) == 0}
			}
			drained, well, left, open, lowest := 0, 0, 0, 0, 1<<30 // in all; of those in question; of those that may be chosen, with room; and the tier that holds back higher ones
			for i := range loads {
				if b.servers[i].drained {
					drained++
				}
				if state, wait := b.State(i, now); state == Up || state == Ejected && wait == 0 {
					well++
					if !loads[i].Not {
						left++
					}
					if !loads[i].Not && (state == Up || !loads[i].Full) {
						lowest = min(lowest, o.Servers[i].Tier)
					}
				}
			}
			for i := range loads {
				state, wait := b.State(i, now)
				may := state == Up || state == Ejected && wait == 0
				may = may || left == 0 && !o.Ejection.Refuse && (state != Down || well == 0)
				may = may && state != Drained
				if may && !loads[i].Not && !loads[i].Full && o.Servers[i].Tier <= lowest {
					open++
				}
			}
			if refuses := b.Refuses(now); refuses != (drained == n || o.Ejection.Refuse && well == 0) {
				t.Fatalf("seed %d: got %v, whether requests are refused, with %d well and %d drained of %d", seed, refuses, well, drained, n)
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
			if o.Servers[i].Tier > lowest {
				t.Fatalf("seed %d: server %d is a backup, and others are well", seed, i)
			}
			switch r.IntN(4) {
			case 3:
				b.Drain(r.IntN(n), r.IntN(2) == 0)
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

// A server that stays keeps what is known of it, wherever it is in the new list; a new one is up.
func TestSetKeepsWhatIsKnownOfAServer(t *testing.T) {
	b := New(Options{Servers: servers(1, 1, 1), Health: Health{2, 2}, Ejection: Ejection{Failures: 1, Backoff: time.Second, MaxBackoff: time.Minute}})
	_, ticket, _ := b.Choose(start, make([]Load, 3), 0)
	b.Failed(1, ticket, start)
	b.Checked(2, false)
	b.Set([]Server{{Weight: 1}, {Weight: 1, Tier: 1}, {Weight: 2}, {Weight: 1}}, []int{-1, 1, 2, -1})
	for i, want := range []State{Up, Ejected, Up, Up} {
		if got, _ := b.State(i, start); got != want {
			t.Errorf("server %d: got %v, want %v", i, got, want)
		}
	}
	if b.servers[2].streak != 1 {
		t.Error("the failed check of a server that stayed is forgotten")
	}
	if got := turns(b, 8, make([]Load, 4)...); strings.Contains(got, "b") || strings.Count(got, "c") != 4 {
		t.Errorf("got %s, want c in every second turn, and no b", got)
	}
	b.Set(nil, nil)
	if _, _, ok := b.Choose(start, nil, 0); ok || b.Left(start, nil) {
		t.Error("got a server of none")
	}
}

// Each tier gets requests only while those below it can have none.
func TestTiersAreUsedOneAfterTheOther(t *testing.T) {
	f := func(want string, loads ...Load) {
		t.Helper()
		b := New(Options{Servers: []Server{{Weight: 1, Tier: 2}, {Weight: 1}, {Weight: 1, Tier: 1}, {Weight: 1, Tier: 1}}})
		if got := turns(b, len(want), loads...); got != want {
			t.Errorf("%+v: got %s, want %s", loads, got, want)
		}
		if b.Rests(1, start) || !b.Rests(2, start) || !b.Rests(0, start) {
			t.Error("want all but b to rest")
		}
	}
	not := Load{Not: true}
	f("bbb", Load{}, Load{}, Load{}, Load{})
	f("cdcd", Load{}, not, Load{}, Load{})
	f("ddd", Load{}, not, not, Load{})
	f("---", Load{}, not, not, Load{Full: true}) // full is not out
	f("aa", Load{}, not, not, not)
}
