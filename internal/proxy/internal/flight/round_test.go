package flight

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	lead = 5 * time.Second
	most = 30 * time.Second
)

// led is a table whose fetches take a time each before they have a header.
type led struct {
	*Table[int, int]
	mu    sync.Mutex
	begun int
	times func(n int) (time.Duration, error)
}

// ask joins the flight for key and waits for a header, leading whatever it has to.
func (l *led) ask(r *Reader[int, int], leads bool, suits func(int) bool) (h int, o Outcome, err error) {
	for {
		if leads {
			l.mu.Lock()
			n := l.begun
			l.begun++
			l.mu.Unlock()
			l.Go(r, func(f *Flight[int, int]) {
				d, err := l.times(n)
				select {
				case <-time.After(d):
				case <-f.Context().Done():
					f.Finish(f.Context().Err())
					return
				}
				if err != nil {
					f.Finish(err)
					return
				}
				if !f.Judge() {
					f.Finish(errors.New("forsaken"))
					return
				}
				f.Publish(n, Response{Storable: true, Shareable: true, Length: -1})
				f.Commit(copy(f.Space(1), []byte{byte(n)}), true)
				f.Whole(false)
				f.Finish(nil)
			}, nil)
		}
		if h, o, err = r.Wait(Patience{Lead: lead, Most: most}, suits); o != LeadAnew {
			return h, o, err
		}
		leads = true
	}
}

func anything(int) bool { return true }

// TestHeadersOfARound: however long fetches take and whichever fails, everybody who waits gets
// the first header there is, at the moment it is there, and its body.
func TestHeadersOfARound(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			var took [100]time.Duration
			var fails [100]error
			for i := range took {
				took[i] = time.Duration(rnd.IntN(60)) * time.Second
				if rnd.IntN(4) == 0 {
					fails[i] = errors.New("failed")
				}
			}
			l := &led{Table: NewTable[int, int](Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit})}
			l.times = func(n int) (time.Duration, error) { return took[n], fails[n] }
			var asking sync.WaitGroup
			for range 20 {
				leaves, at := rnd.IntN(5) == 0, time.Duration(rnd.IntN(20))*time.Second
				asking.Go(func() {
					time.Sleep(at)
					r, leads := l.Join(1, 1, Admission{Leading: true, Following: true})
					defer r.Close()
					if leaves && !leads {
						time.Sleep(time.Second)
						return
					}
					begun := time.Now()
					h, o, err := l.ask(r, leads, anything)
					if d := time.Since(begun); d > most+60*time.Second { // its own fetch included, if it leads
						t.Errorf("seed %d: waited %v", seed, d)
					}
					switch o {
					case Shared:
						p, err := r.Next()
						if err != nil || len(p) != 1 || int(p[0]) != h {
							t.Errorf("seed %d: header %d, got body %v, %v", seed, h, p, err)
						}
					case Failed:
						if err == nil {
							t.Errorf("seed %d: failed without an error", seed)
						}
					case TimedOut:
					default:
						t.Errorf("seed %d: got outcome %v", seed, o)
					}
				})
			}
			asking.Wait()
			synctest.Wait()
			if l.begun > 20 {
				t.Errorf("seed %d: %d fetches", seed, l.begun)
			}
			time.Sleep(2 * time.Minute)
			if used, n := l.budget.Used(), l.Len(); used != 0 || n != 0 {
				t.Errorf("seed %d: %d bytes and %d flights left", seed, used, n)
			}
			l.Close()
		})
	}
}

// TestFetchesOfARoundAreBounded: wait after wait one follower leads anew, and no more than
// fit into the longest wait are under way at once.
func TestFetchesOfARoundAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &led{Table: NewTable[int, int](Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit})}
		l.times = func(int) (time.Duration, error) { return time.Hour, nil }
		var asking sync.WaitGroup
		for i := range 1000 { // one comes each half second
			asking.Go(func() {
				time.Sleep(time.Duration(i) * 500 * time.Millisecond)
				r, leads := l.Join(1, 1, Admission{})
				if _, o, _ := l.ask(r, leads, anything); o != TimedOut && o != Shared && o != Failed {
					t.Errorf("got %v", o)
				}
				_ = r.Close()
			})
		}
		time.Sleep(500 * time.Second)
		if n := l.Len(); n > int(most/lead) {
			t.Errorf("%d fetches under way, want at most %d", n, int(most/lead))
		}
		l.Close()
		asking.Wait()
	})
}

// TestALeaderKeepsToItsOwn: a header that does not suit a leader leaves it waiting for its own,
// and the fetch may look at its request only while it does.
func TestALeaderKeepsToItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &led{Table: NewTable[int, int](Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit})}
		l.times = func(n int) (time.Duration, error) { return time.Duration(20-10*n) * time.Second, nil }
		var asking sync.WaitGroup
		for i := range 2 {
			asking.Go(func() {
				time.Sleep(time.Duration(i))
				r, leads := l.Join(1, 1, Admission{Leading: true})
				h, o, err := l.ask(r, leads, func(int) bool { return false })
				if h != i || o != Shared || err != nil || !r.Leads() {
					t.Errorf("reader %d: got header %d, %v, %v, leads %v; want its own", i, h, o, err, r.Leads())
				}
				_ = r.Close()
			})
		}
		asking.Wait()
		l.Close()
	})
}

// A leader that panics before its fetch leaves nobody waiting; one that panics behind that
// waits for the header, for which its request may be looked at.
func TestAbandonedFlightKeepsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable[string, string](Options{Budget: NewBudget(1<<20, 1), ObjectBytes: 1 << 20})
		leader, _ := table.Join("k", "k", Admission{})
		follower, _ := table.Follow("k", Admission{})
		leader.Abandon()
		if _, o, err := follower.Wait(Patience{}, nil); o != Failed || !errors.Is(err, ErrAbandoned) {
			t.Errorf("follower of a flight without a fetch: got %v, %v, want it failed", o, err)
		}
		_ = follower.Close()
		leader.Abandon()

		leader, _ = table.Join("k", "k", Admission{})
		header := make(chan struct{})
		table.Go(leader, func(f *Flight[string, string]) {
			<-header
			f.Judge()
			f.Publish("h", Response{Storable: true, Shareable: true, Length: -1})
			f.Finish(nil)
		}, nil)
		follower, _ = table.Follow("k", Admission{})
		left := make(chan struct{})
		go func() {
			leader.Abandon()
			close(left)
		}()
		synctest.Wait()
		select {
		case <-left:
			t.Error("the leader has left, and its request may be looked at")
		default:
		}
		close(header)
		<-left
		if h, o, err := follower.Wait(Patience{}, nil); h != "h" || o != Shared {
			t.Errorf("follower: got %q, %v, %v, want the header", h, o, err)
		}
		_ = follower.Close()
		table.Close()
		if table.Len() != 0 {
			t.Errorf("got %d flights, want none", table.Len())
		}
	})
}

// TestFailureWasGivenToClientsThatCameAfterIt is a regression test: for a moment after the leader had
// its failure, the flight still took followers, and they got that failure too. A client
// that asks all the time meets that moment.
func TestFailureWasGivenToClientsThatCameAfterIt(t *testing.T) {
	const rounds = 20_000
	table := NewTable[int, int](Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit})
	boom := errors.New("boom")
	var late atomic.Int64
	var over atomic.Bool
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for !over.Load() {
				table.mu.Lock()
				if r := table.byKey[1]; r != nil && r.winner != nil && r.winner.outcome == Failed {
					late.Add(1)
				}
				table.mu.Unlock()
			}
		})
	}
	for range rounds {
		r, _ := table.Join(1, 1, Admission{})
		r.Flight().Finish(boom)
		_ = r.Close()
	}
	over.Store(true)
	asking.Wait()
	if n := late.Load(); n > 0 {
		t.Errorf("the failed flight took followers %d times", n)
	}
}

// TestLeadsIsAskedBesideAMove: a follower whose time was over asked whether it led while its flight
// failed and it was moved to another one. The race detector sees it.
func TestLeadsIsAskedBesideAMove(t *testing.T) {
	table := NewTable[int, int](Options{Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit})
	defer table.Close()
	until := func(ended <-chan struct{}) func(*Flight[int, int]) {
		return func(f *Flight[int, int]) {
			<-ended
			f.Finish(errors.New("failed"))
		}
	}
	fail, last := make(chan struct{}), make(chan struct{})
	leader, _ := table.Join(1, 1, Admission{})
	table.Go(leader, until(fail), nil)
	follower, _ := table.Follow(1, Admission{})
	anew, _ := table.Follow(1, Admission{})
	if _, o, _ := anew.Wait(Patience{Lead: 1, Most: time.Minute}, nil); o != LeadAnew {
		t.Fatalf("got %v, want another flight to lead", o)
	}
	table.Go(anew, until(last), nil)
	if _, o, _ := follower.Wait(Patience{Most: 1}, nil); o != TimedOut {
		t.Fatalf("got %v, want the time to be over", o)
	}
	close(fail)
	if follower.Leads() {
		t.Error("a follower leads")
	}
	if _, o, _ := leader.Wait(Patience{}, nil); o != Failed {
		t.Errorf("the first flight: got %v, want it failed", o)
	}
	close(last)
	for _, r := range []*Reader[int, int]{leader, follower, anew} {
		_ = r.Close()
	}
}
