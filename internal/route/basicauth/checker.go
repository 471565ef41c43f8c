package basicauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/route/client"
)

// Bounds of what is checked and remembered.
const (
	sets = 1 << 10 // sets of places for what was right
	ways = 4       // places in a set: 4,096 in all, of 8 bytes and 32 more where one is taken

	mostWaitingChecks = 64   // credentials that wait to be checked
	mostOfClient      = 8    // credentials of one client, the ones that are being checked included
	mostWaiting       = 1024 // requests that wait for the check of another one
	longestWait       = 5 * time.Second
)

// Verdict is what a Checker says.
type Verdict uint8

// The verdicts.
const (
	Wrong  Verdict = iota // not the credentials of a user
	Right                 // the credentials of a user
	Busy                  // not checked: too much is
	Enough                // not checked: too much is, for this client
)

// sum is what credentials are remembered by.
type sum [sha256.Size]byte

// Checker checks credentials. It is safe for concurrent use. Its zero value is of no use.
type Checker struct {
	secret [sha256.Size]byte // nobody can tell which sum credentials have
	right  [sets][ways]atomic.Pointer[sum]

	mu      sync.Mutex
	turns   turns
	checks  map[sum]*check
	clients *client.Shares // how many checks each has
	waiting int
}

// check is the check of one pair, which others may wait for.
type check struct {
	who     netip.Prefix
	network place // where its tries are counted
	client  place
	nth     uint8     // try of the client lately
	turn    chan bool // has room for what becomes of waiting for a turn
	working bool      // has its turn
	done    chan struct{}
	verdict Verdict // set before done is closed
}

// NewChecker returns a Checker that computes hashes on a quarter of the CPUs at most, and on one at least.
func NewChecker() *Checker {
	c := &Checker{
		turns: turns{free: max(1, runtime.GOMAXPROCS(0)/4), tries: tries{seed: maphash.MakeSeed()}}, checks: map[sum]*check{},
		clients: client.NewShares(client.Part(float64(mostOfClient) / mostWaitingChecks)),
	}
	_, _ = rand.Read(c.secret[:]) // never fails
	return c
}

// Known reports whether the value of Authorization was found right for u before, and is remembered. It
// takes no lock, and allocates nothing.
func (c *Checker) Known(u *Users, authorization []byte) bool {
	token := tokenOf(authorization)
	if token == nil {
		return false
	}
	var room [mostTokenBytes]byte
	line := u.lines[string(nameIn(room[:], token))]
	return line != "" && c.knows(c.sum(line, token))
}

// sum is that of a token of the user whose line this is; "" is that of nobody. Another hash gives another sum, a change of other
// lines the same. The secret stands first and no sum leaves the process, so nobody can look for two that are the same.
func (c *Checker) sum(line string, token []byte) sum {
	var room [sha256.Size + mostUserBytes + 1 + hashBytes + 1 + mostTokenBytes]byte
	b := append(room[:0], c.secret[:]...)
	b = append(append(b, line...), 0) // which neither has
	return sha256.Sum256(append(b, token...))
}

func (c *Checker) knows(s sum) bool {
	set := &c.right[binary.LittleEndian.Uint64(s[:])%sets]
	for i := range set {
		if p := set[i].Load(); p != nil && subtle.ConstantTimeCompare(p[:], s[:]) == 1 {
			return true
		}
	}
	return false
}

// remember keeps s in the place of another one, where its set is full. Only users can fill it.
func (c *Checker) remember(s sum) {
	set := &c.right[binary.LittleEndian.Uint64(s[:])%sets]
	for i := range set {
		if set[i].CompareAndSwap(nil, &s) {
			return
		}
	}
	set[s[8]%ways].Store(&s)
}

// Check says whether the value of Authorization is that of a user. It waits for longestWait and one hash at most. The client that asks is who;
// the zero Prefix has no bound of its own. Clients have turns, those first that have tried least. Requests with the same credentials wait for one check.
func (c *Checker) Check(u *Users, authorization []byte, who netip.Prefix) Verdict {
	token := tokenOf(authorization)
	if token == nil {
		return Wrong
	}
	user, password, ok := parts(token)
	if !ok {
		return Wrong
	}
	s := c.sum(u.lines[user], token)
	mine, others, verdict := c.begin(s, who)
	switch {
	case others != nil:
		return c.wait(others)
	case mine == nil:
		return verdict
	}
	mine.verdict = Busy // also where the rest panics
	defer c.end(s, mine)
	if why, has := c.await(mine); !has {
		mine.verdict = why
		return why
	}
	if u.has(user, password) {
		mine.verdict = Right
		c.remember(s)
	} else {
		mine.verdict = Wrong
	}
	return mine.verdict
}

// await waits for the turn of mine. Where it has none, in the end, it says why.
func (c *Checker) await(mine *check) (why Verdict, has bool) {
	timer := time.NewTimer(longestWait)
	defer timer.Stop()
	select {
	case mine.working = <-mine.turn:
	case <-timer.C:
		c.mu.Lock()
		left := c.turns.leave(mine)
		c.mu.Unlock()
		if left {
			return Busy, false
		}
		mine.working = <-mine.turn // it came at the same moment
	}
	return Enough, mine.working // where one that has tried less has its place
}

// begin returns a check to make, or one to wait for, or the verdict where there is none.
func (c *Checker) begin(s sum, who netip.Prefix) (mine, others *check, v Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	others = c.checks[s]
	switch {
	case c.knows(s):
		return nil, nil, Right
	case others != nil && c.waiting >= mostWaiting:
		return nil, nil, Busy
	case others != nil:
		c.waiting++
		return nil, others, Busy
	case c.clients.Held(who) >= mostOfClient:
		return nil, nil, Enough
	}
	mine = &check{who: who, turn: make(chan bool, 1), done: make(chan struct{})}
	if !c.turns.enter(mine, now()) {
		return nil, nil, Busy
	}
	c.clients.Take(who)
	c.checks[s] = mine
	return mine, nil, Busy
}

func (c *Checker) wait(others *check) Verdict {
	<-others.done
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	return others.verdict
}

func (c *Checker) end(s sum, mine *check) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.checks, s)
	c.clients.Give(mine.who)
	if mine.verdict == Right {
		c.turns.tries.forgive(mine)
	}
	if mine.working {
		c.turns.next()
	}
	close(mine.done)
}
