package basicauth

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func users(tb testing.TB, pairs ...string) *Users {
	tb.Helper()
	text := ""
	for i := 0; i < len(pairs); i += 2 {
		text += pairs[i] + ":" + hashed(tb, pairs[i+1]) + "\n"
	}
	u, err := Parse([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

func basic(user, password string) []byte {
	return []byte("Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

func site(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 32)
}

func TestOnlyWhatIsRightIsRemembered(t *testing.T) {
	c, u := NewChecker(), users(t, "ann", "x", "bob", "y")
	f := func(authorization []byte, want Verdict) {
		t.Helper()
		if c.Known(u, authorization) {
			t.Errorf("%s is known before", authorization)
		}
		if got := c.Check(u, authorization, site(1)); got != want {
			t.Errorf("%s: got %v, want %v", authorization, got, want)
		}
		if c.Known(u, authorization) != (want == Right) {
			t.Errorf("%s: known %v behind %v", authorization, !(want == Right), want)
		}
	}
	f(basic("ann", "x"), Right)
	f(basic("ann", "y"), Wrong)
	f(basic("bob", "y"), Right)
	f(basic("bob", ""), Wrong)
	f(basic("eve", "x"), Wrong)
	f(nil, Wrong)
	f([]byte("Bearer x"), Wrong)
	if c.clients.Len() != 0 || len(c.checks) != 0 || c.waiting != 0 || len(c.turns.waiting) != 0 {
		t.Error("something is held")
	}
}

// TestAPasswordThatWasChangedWasStillRight: what is remembered belongs to the content of the file.
func TestAPasswordThatWasChangedWasStillRight(t *testing.T) {
	c, before := NewChecker(), users(t, "ann", "x")
	if got := c.Check(before, basic("ann", "x"), site(1)); got != Right {
		t.Fatalf("got %v", got)
	}
	after := users(t, "ann", "y")
	if c.Known(after, basic("ann", "x")) || c.Check(after, basic("ann", "x"), site(1)) != Wrong {
		t.Error("the password of before is right")
	}
	if other := NewChecker(); other.Known(before, basic("ann", "x")) {
		t.Error("another checker knows")
	}
}

// bcrypt reads 72 bytes of a password: one that went on was right whatever came then.
func TestAPasswordWasRightWhateverFollowedItsFirst72Bytes(t *testing.T) {
	password := strings.Repeat("0123456789ab", 6)
	c, u := NewChecker(), users(t, "ann", password)
	f := func(password string, want Verdict) {
		t.Helper()
		if got := c.Check(u, basic("ann", password), site(1)); got != want {
			t.Errorf("%d bytes: got %v, want %v", len(password), got, want)
		}
	}
	f(password+"c", Wrong)
	f(password, Right)
	f(password+"c", Wrong)
	f(password+password, Wrong)
	f(password[:71], Wrong)
	if c.Known(u, basic("ann", password+"c")) {
		t.Error("the longer one is known")
	}
}

// TestAnEditOfTheFileMadeAllUsersPayAgain: then others kept them out, who had all hashes of their guesses computed.
func TestAnEditOfTheFileMadeAllUsersPayAgain(t *testing.T) {
	c, hash := NewChecker(), hashed(t, "x")
	parsed := func(text string) *Users {
		u, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	before := parsed("ann:" + hash + "\n")
	if got := c.Check(before, basic("ann", "x"), site(1)); got != Right {
		t.Fatalf("got %v", got)
	}
	if !c.Known(parsed("# a comment\nbob:"+hashed(t, "y")+"\nann:"+hash+"\n"), basic("ann", "x")) {
		t.Error("a user whose line has not changed is not known")
	}
	// A user who was taken out is not known, even where another user has the same hash.
	without := parsed("bob:" + hash + "\n")
	if c.Known(without, basic("ann", "x")) || c.Check(without, basic("ann", "x"), site(1)) != Wrong || c.Known(without, basic("bob", "x")) {
		t.Error("a user who was taken out is known")
	}
}

// Places for what is remembered are bounded, and the last one has one.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	c, u := NewChecker(), users(t, "ann", "x")
	for i := range 3 * sets * ways {
		s := c.sum(u.lines["ann"], fmt.Append(nil, i))
		if c.remember(s); !c.knows(s) {
			t.Fatalf("number %d is not known", i)
		}
	}
}

func TestKnownAllocatesNothing(t *testing.T) {
	c, u, a := NewChecker(), users(t, "ann", "x"), basic("ann", "x")
	if c.Check(u, a, site(1)) != Right {
		t.Fatal("not right")
	}
	if n := testing.AllocsPerRun(100, func() {
		if !c.Known(u, a) {
			t.Fatal("not known")
		}
	}); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}

// hold takes all turns until the test lets them go.
func hold(c *Checker) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.turns.free
	c.turns.free = 0
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for range held {
			c.turns.next()
		}
	}
}

// TestEachPageOfABrowserWasCheckedByItself: a browser asks for much at once with the same credentials.
func TestEachPageOfABrowserWasCheckedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, u := NewChecker(), users(t, "ann", "x")
		release := hold(c)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if got := c.Check(u, basic("ann", "x"), site(1)); got != Right {
					t.Errorf("got %v", got)
				}
			})
		}
		synctest.Wait()
		if len(c.checks) != 1 || c.waiting != 19 {
			t.Errorf("got %d checks and %d that wait, want 1 and 19", len(c.checks), c.waiting)
		}
		release()
		all.Wait()
		if len(c.checks) != 0 || c.waiting != 0 || c.clients.Len() != 0 {
			t.Error("something is held")
		}
	})
}

// One client cannot have others wait behind more than its share, and nobody waits for ever.
func TestGuessesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, u := NewChecker(), users(t, "ann", "x")
		if c.Check(u, basic("ann", "x"), site(1)) != Right {
			t.Fatal("not right")
		}
		release := hold(c)
		var mu sync.Mutex
		var got [Enough + 1]int
		var all sync.WaitGroup
		guess := func(n int, who netip.Prefix) {
			for i := range n {
				all.Go(func() {
					v := c.Check(u, basic("ann", fmt.Sprint("guess", who, i)), who)
					mu.Lock()
					got[v]++
					mu.Unlock()
				})
			}
			synctest.Wait()
		}
		guess(mostOfClient+3, site(1))
		if len(c.checks) != mostOfClient || got[Enough] != 3 {
			t.Errorf("one client: got %d checks and %v", len(c.checks), got)
		}
		for n := 2; n <= mostWaitingChecks/mostOfClient; n++ {
			guess(mostOfClient, site(n))
		}
		if len(c.checks) != mostWaitingChecks || len(c.turns.waiting) != mostWaitingChecks || got[Busy] != 0 {
			t.Errorf("all clients: got %d checks and %v", len(c.checks), got)
		}
		// Others get places of those who have more of them, until all have as many.
		for n := 100; n < 100+mostWaitingChecks; n++ {
			guess(2, site(n))
		}
		if len(c.checks) != mostWaitingChecks || c.clients.Len() != mostWaitingChecks || got[Enough]+got[Busy] != 3+2*mostWaitingChecks {
			t.Errorf("many clients: got %d checks of %d and %v", len(c.checks), c.clients.Len(), got)
		}
		busy := got[Busy]
		if !c.Known(u, basic("ann", "x")) || c.Check(u, basic("ann", "x"), site(1)) != Right {
			t.Error("a user who is known has to wait for the guesses of others")
		}
		time.Sleep(longestWait)
		synctest.Wait()
		if len(c.checks) != 0 || c.clients.Len() != 0 || got[Busy] != busy+mostWaitingChecks {
			t.Errorf("behind the longest wait: got %d checks and %v", len(c.checks), got)
		}
		release()
		all.Wait()
		if got := c.Check(u, basic("ann", "guess"), site(1)); got != Wrong {
			t.Errorf("then: got %v", got)
		}
	})
}
