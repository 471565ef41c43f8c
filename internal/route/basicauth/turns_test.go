package basicauth

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

// elsewhere is a client in the nth network but that of site.
func elsewhere(n int) netip.Prefix {
	b := binary.BigEndian.AppendUint32(nil, 11<<24+uint32(n)<<8)
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(b)), 32)
}

func newTurns(free int) *turns { return &turns{free: free, tries: tries{seed: maphash.MakeSeed()}} }

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
			if c.turns.free != 1 || len(c.turns.waiting) != 0 {
				t.Errorf("got %d free and %d that wait, want nobody in it", c.turns.free, len(c.turns.waiting))
			}
		})
	}
}

// TestAGuessOfEachOfManyAddressesKeptANewUserOut: all places were taken by one check of each client, and nobody got one of those.
func TestAGuessOfEachOfManyAddressesKeptANewUserOut(t *testing.T) {
	for name, client := range map[string]func(int) netip.Prefix{"one network": site, "many networks": elsewhere} {
		synctest.Test(t, func(t *testing.T) {
			c, u := NewChecker(), users(t, "ann", "x")
			c.turns.free = 1
			release := hold(c)
			var all sync.WaitGroup
			for try := range 3 { // the requests come again, like ones that were refused
				for n := range 90 {
					all.Go(func() { c.Check(u, basic("ann", fmt.Sprint(n, try)), client(n)) })
				}
				synctest.Wait()
				if n := c.waitingForTurns(); n != mostWaitingChecks {
					t.Fatalf("%s: %d wait, want all places taken", name, n)
				}
				if try < 2 {
					time.Sleep(longestWait)
					synctest.Wait()
				}
			}
			var got Verdict
			all.Go(func() { got = c.Check(u, basic("ann", "x"), site(200)) })
			synctest.Wait()
			c.mu.Lock()
			c.turns.next()
			if name == "one network" && len(c.turns.waiting) != mostWaitingChecks-1 {
				t.Errorf("%s: %d wait behind one turn", name, len(c.turns.waiting))
			}
			c.mu.Unlock()
			synctest.Wait()
			if got != Right {
				t.Errorf("%s: got %v for the user with the first turn, want that it is right", name, got)
			}
			release()
			all.Wait()
		})
	}
}

func (c *Checker) waitingForTurns() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.turns.waiting)
}

// order has checks of these clients wait, and returns in which order they have turns.
func order(t *testing.T, all *turns, clients ...netip.Prefix) (order []int) {
	t.Helper()
	all.free = 0
	var waiting []*check
	for _, who := range clients {
		c := &check{who: who, turn: make(chan bool, 1)}
		if !all.enter(c, time.Time{}) {
			t.Fatalf("no place for %v", who)
		}
		waiting = append(waiting, c)
	}
	for all.next(); all.free == 0; all.next() {
		for i, c := range waiting {
			if len(c.turn) > 0 {
				<-c.turn
				order = append(order, i)
			}
		}
	}
	return order
}

// TestWhoHasTriedLeastIsNext: by networks first, in a network by clients.
func TestWhoHasTriedLeastIsNext(t *testing.T) {
	f := func(all *turns, want string, clients ...netip.Prefix) {
		t.Helper()
		if got := fmt.Sprint(order(t, all, clients...)); got != want {
			t.Errorf("%v: got turns in the order %s, want %s", clients, got, want)
		}
	}
	f(newTurns(0), "[0 3 4 1 5 2]", site(1), site(1), site(1), site(2), site(3), site(3))
	f(newTurns(0), "[3 0 1 2]", site(1), site(2), site(3), elsewhere(1))
	f(newTurns(0), "[0 1]", netip.Prefix{}, netip.Prefix{}) // without an address in the order they come
}

// TestUsersOfOneOfficeKeptTheNextOut: what was right is no try.
func TestUsersOfOneOfficeKeptTheNextOut(t *testing.T) {
	c := NewChecker()
	u := users(t, "ann", "x")
	for range 20 {
		if c.Check(u, basic("ann", "x"), site(1)) != Right {
			t.Fatal("not right")
		}
		for i := range c.right { // each place is another user's
			for j := range c.right[i] {
				c.right[i][j].Store(nil)
			}
		}
	}
	if n := c.turns.tries.of(c.turns.tries.placeOf(site(1))); n != 0 {
		t.Errorf("got %d tries, want none", n)
	}
	c.Check(u, basic("ann", "y"), site(1))
	if n := c.turns.tries.of(c.turns.tries.placeOf(site(1))); n != 1 {
		t.Errorf("got %d tries, want the wrong one", n)
	}
}

// Tries are forgotten, and have an end.
func TestTriesAreForgotten(t *testing.T) {
	var all tries
	c := &check{who: site(1)}
	at := time.Unix(1000, 0)
	for range 300 {
		all.note(c, at)
	}
	if n := all.of(c.client); n != 255 || all.of(c.network) != mostOfClient {
		t.Errorf("got %d tries, and %d of the network", n, all.of(c.network))
	}
	at = at.Add(triesKept)
	all.age(at)
	if n := all.of(c.client); n != 127 {
		t.Errorf("got %d tries, want half of 255", n)
	}
	all.age(at.Add(triesKept - 1))
	if n := all.of(c.client); n != 127 {
		t.Errorf("got %d tries, want those of before", n)
	}
	all.age(at.Add(100 * triesKept))
	if n := all.of(c.client); n != 0 {
		t.Errorf("got %d tries, want none", n)
	}
}

// Checks come and go at random: places stay bounded, the order of turns holds, and no check is lost.
func TestTurnsAreKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all, in := newTurns(3), map[*check]bool{}
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
				c.who = elsewhere(n)
			}
			if all.enter(c, time.Time{}) {
				in[c] = true
				break
			}
			for _, other := range all.waiting {
				if all.compare(c, other) < 0 {
					t.Fatalf("%v has no place, and %v has one", c.who, other.who)
				}
			}
		}
		for c := range in {
			if len(c.turn) > 0 {
				delete(in, c)
			}
		}
		if n := len(all.waiting); n != len(in) || n > mostWaitingChecks || all.free > 0 && n > 0 {
			t.Fatalf("got %d that wait, want %d, %d free", n, len(in), all.free)
		}
	}
}

// TestFirstLoginsWhileManyAddressesGuess: each of some networks guesses, and comes again as soon as it has its answer, or has each guess at its
// own time. A hash takes 50 ms, as one of cost 10 does. Every ten seconds a new user comes.
func TestFirstLoginsWhileManyAddressesGuess(t *testing.T) {
	testkit.Plain(t, "it simulates minutes in one goroutine")
	f := func(networks int, pause time.Duration, least float64) {
		t.Helper()
		right, users, longest := firstLogins(networks, pause)
		t.Logf("%d networks, one try each every %v: %d of %d users pass at their first try, behind %v at most", networks, pause, right, users, longest)
		if got := float64(right) / float64(users); got < least {
			t.Errorf("%d networks, one try each every %v: %.2f of the users pass at their first try, want %.2f", networks, pause, got, least)
		}
	}
	f(75, 200*time.Millisecond, 1)
	f(1000, 2*time.Second, 0.9)
	f(4000, 8*time.Second, 0.9)
	f(4000, 300*time.Second, 1)
	f(12000, 300*time.Second, 0.3)
}

// event is that somebody comes, or that a hash is computed where it is nobody.
type event struct {
	at   time.Duration
	who  netip.Prefix
	user bool
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// firstLogins simulates five minutes behind the first six.
func firstLogins(networks int, pause time.Duration) (right, users int, longest time.Duration) {
	const hash, warm, end = 50 * time.Millisecond, 6 * time.Minute, 11 * time.Minute
	random, all, begin := rand.New(rand.NewPCG(3, 4)), newTurns(1), time.Unix(0, 0)
	var ahead events
	type waiting struct {
		event
		*check
	}
	var waits []waiting
	again := func(e event, now time.Duration) {
		if !e.user {
			heap.Push(&ahead, event{at: now + pause/2 + time.Duration(random.Int64N(int64(pause))), who: e.who})
		}
	}
	for n := range networks {
		heap.Push(&ahead, event{at: time.Duration(random.Int64N(int64(pause))), who: elsewhere(n)})
	}
	for n := 0; warm+time.Duration(n)*10*time.Second < end-longestWait; n++ {
		heap.Push(&ahead, event{at: warm + time.Duration(n)*10*time.Second, who: elsewhere(40_000 + n), user: true})
	}
	for len(ahead) > 0 && ahead[0].at < end {
		e := heap.Pop(&ahead).(event)
		left := waits[:0]
		for _, w := range waits { // drops requests that wait too long
			if e.at-w.at > longestWait && all.leave(w.check) {
				again(w.event, e.at)
				continue
			}
			left = append(left, w)
		}
		waits = left
		switch {
		case !e.who.IsValid():
			all.next()
		default:
			if e.user {
				users++
			}
			c := &check{who: e.who, turn: make(chan bool, 1)}
			if !all.enter(c, begin.Add(e.at)) {
				again(e, e.at)
				break
			}
			waits = append(waits, waiting{e, c})
		}
		left = waits[:0]
		for _, w := range waits {
			select {
			case has := <-w.turn:
				if has {
					heap.Push(&ahead, event{at: e.at + hash})
				}
				if has && w.user {
					right++
					longest = max(longest, e.at-w.at)
				}
				again(w.event, e.at+hash)
			default:
				left = append(left, w)
			}
		}
		waits = left
	}
	return right, users, longest
}
