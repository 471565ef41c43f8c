package flight

import (
	"testing"
	"testing/synctest"
	"time"
)

// recounted starts a flight that a follower joins before its header, which says that
// joining has admitted nothing.
func recounted(t *testing.T, table *Table[int, string], admits bool) (leader, follower *Reader[int, string], whole chan Kept) {
	t.Helper()
	leader, _ = table.Join(1, 1, Admission{Following: true})
	follower, led := table.Join(1, 1, Admission{Following: true})
	if led {
		t.Fatal("a second flight for one key")
	}
	whole = make(chan Kept, 1)
	table.Go(leader, func(f *Flight[int, string]) {
		f.Publish("head", Response{Storable: true, Shareable: true, Length: 4, Recounted: true, Admits: admits})
		send(f, []byte("body"), 4, true)
		_, k := f.Whole(false)
		whole <- k
		f.Finish(nil)
	}, nil)
	for _, r := range []*Reader[int, string]{leader, follower} {
		if _, o, _ := r.Wait(Patience{Most: time.Minute}, nil); o != Shared {
			t.Fatalf("got %v, want shared", o)
		}
	}
	return leader, follower, whole
}

// TestJoiningDoesNotAdmitWhatWasRecounted: until the follower has said whether it asks for
// this the body is neither held back nor stored.
func TestJoiningDoesNotAdmitWhatWasRecounted(t *testing.T) {
	f := func(name string, admits bool, decide func(*Reader[int, string]), want Kept) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := newTestTable()
				leader, follower, whole := recounted(t, table, admits)
				synctest.Wait()
				select {
				case k := <-whole:
					if !admits {
						t.Fatalf("got %v before the follower has decided", k)
					}
					whole <- k
				default:
					if admits {
						t.Fatal("got nothing, and want no wait for what is admitted")
					}
				}
				decide(follower)
				leader.Flight().AwaitDecisions()
				if k := <-whole; k != want {
					t.Errorf("got %v, want %v", k, want)
				}
				_ = follower.Close()
				_ = leader.Close()
				table.Close()
				if table.Len() != 0 {
					t.Errorf("got %d flights at the end", table.Len())
				}
			})
		})
	}
	admit := func(a bool) func(*Reader[int, string]) {
		return func(r *Reader[int, string]) {
			if !r.Admit(a) {
				t.Error("Admit: got no memory, want some")
			}
		}
	}
	f("the follower admits", false, admit(true), KeptForStore)
	f("the follower does not", false, admit(false), HeldBack)
	f("the follower leaves", false, func(r *Reader[int, string]) { _ = r.Close() }, HeldBack)
	f("the leader admits", true, func(r *Reader[int, string]) { _ = r.Close() }, KeptForStore)
}

// TestJoiningLateAdmitsWhenItSuits: a follower that joins after the header admits too.
func TestJoiningLateAdmitsWhenItSuits(t *testing.T) {
	for _, admit := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			table := newTestTable()
			leader, _ := table.Join(1, 1, Admission{Following: true})
			f := leader.Flight()
			f.Publish("head", Response{Storable: true, Shareable: true, Length: 4, Recounted: true})
			late, ok := table.Follow(1, Admission{Following: true})
			if !ok || f.Admitted() {
				t.Fatalf("got a seat %v and admitted %v, want a seat alone", ok, f.Admitted())
			}
			kept := make(chan Kept, 1)
			table.Go(leader, func(f *Flight[int, string]) {
				send(f, []byte("body"), 4, true)
				_, k := f.Whole(false)
				kept <- k
				f.Finish(nil)
			}, nil)
			synctest.Wait()
			if _, ok := table.Follow(1, Admission{Following: true}); ok {
				t.Error("got a seat at the end, want none")
			}
			late.Admit(admit)
			if k := <-kept; (k == KeptForStore) != admit {
				t.Errorf("admit %v: got %v", admit, k)
			}
			_ = late.Close()
			_ = leader.Close()
			table.Close()
		})
	}
}

// TestWhatThereIsNoMemoryForIsNotAdmittedLate: the follower has to ask anew.
func TestWhatThereIsNoMemoryForIsNotAdmittedLate(t *testing.T) {
	table := tableOf(64<<10, nil)
	leader, _ := table.Join(1, 1, Admission{})
	follower, _ := table.Join(1, 1, Admission{Following: true})
	f := leader.Flight()
	f.Publish("head", Response{Storable: true, Shareable: true, Resumable: true, Length: testLimit, Recounted: true})
	if follower.Admit(true) {
		t.Error("got memory that there is not")
	}
	if _, ok := table.Follow(1, Admission{}); ok {
		t.Error("got a seat, want none")
	}
	_ = follower.Close()
	f.Finish(nil)
	_ = leader.Close()
	table.Close()
}

// TestAFlightWaitedForTheFetchOfAnotherOne: a follower that leads a flight of its own by now,
// and wants no other's header, says nothing before its own origin does.
func TestAFlightWaitedForTheFetchOfAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		leader, _ := table.Join(1, 1, Admission{})
		follower, _ := table.Join(1, 1, Admission{})
		header, origin := make(chan struct{}), make(chan struct{})
		table.Go(leader, func(f *Flight[int, string]) {
			<-header
			f.Publish("other", Response{Storable: true, Shareable: true, Recounted: true})
			f.Finish(nil)
		}, nil)
		mine := func(h string) bool { return h == "mine" }
		patience := Patience{Lead: time.Second, Most: time.Hour}
		if _, o, _ := follower.Wait(patience, mine); o != LeadAnew {
			t.Fatalf("got %v, want to lead anew", o)
		}
		table.Go(follower, func(f *Flight[int, string]) {
			<-origin
			f.Publish("mine", Response{Storable: true, Shareable: true})
			f.Finish(nil)
		}, nil)
		go func() {
			_, _, _ = follower.Wait(patience, mine)
			_ = follower.Close()
		}()
		synctest.Wait()
		close(header)
		synctest.Wait()
		decided := make(chan struct{})
		go func() {
			leader.Flight().AwaitDecisions()
			close(decided)
		}()
		synctest.Wait()
		select {
		case <-decided:
		default:
			t.Error("got no end of the decisions while another origin says nothing")
		}
		close(origin)
		<-decided
		_ = leader.Close()
		table.Close()
	})
}

// TestAStreamOfFollowersHeldUpAFlight: clients that join after the header, each before the
// one ahead of it has left, are no reason to keep the body from those that wait for it.
func TestAStreamOfFollowersHeldUpAFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		leader, _ := table.Join(1, 1, Admission{})
		early, _ := table.Join(1, 1, Admission{})
		decided, whole := make(chan struct{}), make(chan Kept, 1)
		table.Go(leader, func(f *Flight[int, string]) {
			f.Publish("head", Response{Storable: true, Shareable: true, Length: 4, Recounted: true})
			f.AwaitDecisions()
			close(decided)
			send(f, []byte("body"), 4, true)
			_, k := f.Whole(false)
			whole <- k
			f.Finish(nil)
		}, nil)
		synctest.Wait()
		late, led := table.Join(1, 1, Admission{})
		if led {
			t.Fatal("a second flight for one key")
		}
		_ = early.Close()
		synctest.Wait()
		select {
		case <-decided:
		default:
			t.Error("got no end of the decisions while one that came late has not decided")
		}
		late.Admit(true)
		if k := <-whole; k != KeptForStore {
			t.Errorf("got %v, want it stored for the one that came late", k)
		}
		_ = late.Close()
		_ = leader.Close()
		table.Close()
	})
}
