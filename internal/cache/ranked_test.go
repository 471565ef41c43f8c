package cache

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// What the Store promises does not depend on the eviction: all tests of the package but this one hold with ristretto too. Recency is
// size-aware with another worth.
func TestRistrettoKeepsWhatTheStorePromises(t *testing.T) {
	testkit.Slow(t, "it runs the tests of the package once more")
	if anyEviction == Ristretto {
		return // this is that run
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout=10m")
	cmd.Env = append(os.Environ(), "EDGEPROXY_TEST_EVICTION=ristretto")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func newRankedStore(tb testing.TB, maxBytes int64) *Store {
	tb.Helper()
	s, err := New(Options{MaxBytes: maxBytes, MaxObjectBytes: maxBytes / 8, MaxVariants: 32, Eviction: SizeAware})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// A large response that is asked for as often as small ones is given up before them.
func TestALargeResponseIsGivenUpBeforeSmallOnes(t *testing.T) {
	s := newRankedStore(t, 4<<20)
	mustPut(t, s, plain("/large", 0, 500<<10))
	for i := range 50 {
		mustPut(t, s, plain(fmt.Sprintf("/small/%d", i), 0, 4<<10))
	}
	for round := 0; s.Holds(sum("/large")); round++ { // which is no use
		if round == 2000 {
			t.Fatal("the large response never left")
		}
		mustPut(t, s, plain(fmt.Sprintf("/new/%d", round), 0, 8<<10))
	}
	for i := range 50 {
		if !s.Holds(sum(fmt.Sprintf("/small/%d", i))) {
			t.Errorf("/small/%d has left before the large response", i)
		}
	}
}

// What is asked for again and again stays, however much comes that is asked for once.
func TestWhatIsAskedForStaysInASizeAwareStore(t *testing.T) {
	s := newRankedStore(t, 4<<20)
	mustPut(t, s, plain("/wanted", 0, 16<<10))
	for i := range 5000 {
		mustPut(t, s, plain(fmt.Sprintf("/once/%d", i), 0, 16<<10))
		if i%100 == 0 && !holds(s, "/wanted") {
			t.Fatalf("it has left after %d others", i)
		}
	}
}

// A look-up that is on its way along a chain while Objects leave and their numbers are taken again must still find what is there.
func TestALookUpFindsWhatStaysWhileOthersLeave(t *testing.T) {
	s := newRankedStore(t, 1<<20)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("/stays/%d", i))
		mustPut(t, s, plain(names[i], 0, 100))
	}
	for i := range 200 { // they go to main
		mustPut(t, s, plain(fmt.Sprintf("/first/%d", i), 0, 8<<10))
		for _, name := range names {
			holds(s, name)
		}
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, name := range names {
					if !holds(s, name) {
						t.Errorf("%s was not found", name)
						return
					}
				}
			}
		})
	}
	for i := range testkit.Times(20_000, 3000) {
		s.Put(plain(fmt.Sprintf("/comes/%d", i), 0, 2<<10), nil)
	}
	close(done)
	wg.Wait()
	checkShares(t, s)
}

// Within a tick only the first hit of an Object writes to it.
func TestHitsWithinATickAreOneUse(t *testing.T) {
	o := NewObject(plain("/a", 0, 8))
	for range 5 {
		o.useAt(7)
	}
	if got := o.timesUsed(); got != 1 || o.used.Load() != 7 {
		t.Errorf("got %d uses at tick %d, want 1 at 7", got, o.used.Load())
	}
	for tick := range uint32(40) {
		o.useAt(100 + tick)
	}
	if got := o.timesUsed(); got != mostTicks/oneTick {
		t.Errorf("got %d uses, want %d at most", got, mostTicks/oneTick)
	}
	o.use()
	if o.fade(); !o.asked() || o.timesUsed() != mostTicks/oneTick {
		t.Errorf("faded: asked %v, %d uses, want them kept", o.asked(), o.timesUsed())
	}
}
