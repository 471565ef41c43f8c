package basicauth

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
)

// TestGuessesOfOthersKeptANewUserOut: all places were taken by some clients that guessed, and those that waited had turns in the order they came in.
func TestGuessesOfOthersKeptANewUserOut(t *testing.T) {
	for _, guessing := range []int{1, 8, 40, mostWaitingChecks - 1} {
		synctest.Test(t, func(t *testing.T) {
			c, u := NewChecker(), users(t, "ann", "x")
			c.turns.free = 1
			release := hold(c)
			var all sync.WaitGroup
			var mu sync.Mutex
			wrong := 0
			for n := range guessing {
				for i := range 2 * mostOfClient {
					all.Go(func() {
						if c.Check(u, basic("ann", fmt.Sprint(n, i)), site(n)) == Wrong {
							mu.Lock()
							defer mu.Unlock()
							wrong++
						}
					})
				}
			}
			synctest.Wait()
			all.Go(func() {
				got := c.Check(u, basic("ann", "x"), site(200))
				mu.Lock()
				defer mu.Unlock()
				// One check of each client, and one that has its turn and is not counted yet.
				if got != Right || wrong > guessing+1 {
					t.Errorf("%d clients guess: got %v for the user, behind %d guesses", guessing, got, wrong)
				}
			})
			synctest.Wait()
			release()
			all.Wait()
			if c.turns.free != 1 || c.turns.waiting != 0 || len(c.turns.round) != 0 {
				t.Errorf("got %+v, want nobody in it", &c.turns)
			}
		})
	}
}

// Turns go round, also while other clients come.
func TestTurnsGoRound(t *testing.T) {
	all := turns{}
	enter := func(n int) *check {
		c := &check{who: site(n), turn: make(chan bool, 1)}
		if !all.enter(c) {
			t.Fatalf("no place for client %d", n)
		}
		return c
	}
	var waiting []*check
	for _, n := range []int{1, 1, 1, 2, 3, 3} {
		waiting = append(waiting, enter(n))
	}
	turn := func(want int) {
		t.Helper()
		all.next()
		for i, c := range waiting {
			select {
			case <-c.turn:
				if i != want {
					t.Errorf("got the turn of number %d, want that of %d", i, want)
				}
			default:
			}
		}
	}
	turn(0)
	turn(3)
	waiting = append(waiting, enter(2), enter(4))
	turn(4)
	turn(1)
	turn(6)
	turn(7)
	turn(5)
	turn(2)
	if all.next(); all.free != 1 {
		t.Errorf("got %d free, want 1", all.free)
	}
}

// Whatever comes and goes, everything that waits is in one line, places are bounded, and no client without one has to see another with two.
func TestTurnsAreKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all, in := turns{free: 3}, map[*check]bool{}
	for range 20_000 {
		switch random.IntN(4) {
		case 0:
			all.next()
		case 1:
			for c := range in {
				if all.leave(c) {
					delete(in, c)
				}
				break
			}
		default:
			c := &check{turn: make(chan bool, 1)}
			if n := random.IntN(80); n > 0 {
				c.who = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 32)
			}
			if all.enter(c) {
				in[c] = true
				break
			}
			for _, l := range all.round {
				if len(l.checks) > 1 && all.lineOf(c.who) == nil {
					t.Fatalf("client %v has no place, and %v has %d", c.who, l.who, len(l.checks))
				}
			}
		}
		for c := range in {
			if len(c.turn) > 0 {
				delete(in, c)
			}
		}
		sum := 0
		for _, l := range all.round {
			if sum += len(l.checks); len(l.checks) == 0 || all.lineOf(l.who) != l {
				t.Fatal("an empty line, or two of one client")
			}
		}
		if sum != all.waiting || sum != len(in) || sum > mostWaitingChecks || all.free > 0 && sum > 0 {
			t.Fatalf("got %d in lines, %d noted, %d wait, %d free", sum, all.waiting, len(in), all.free)
		}
	}
}
