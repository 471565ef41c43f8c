package flight

import (
	"testing"
	"testing/synctest"
	"time"
)

// leaver is a client that has left once it is closed.
type leaver chan struct{}

func (l leaver) Gone() <-chan struct{} { return l }

// TestAFollowerWhoseClientLeavesWaitsNoMore: and takes nothing from the others.
func TestAFollowerWhoseClientLeavesWaitsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable[string, string](Options{Budget: NewBudget(1<<20, 1), ObjectBytes: 1 << 10})
		leader, _ := table.Join("k", "u", Admission{})
		follower, _ := table.Join("k", "u", Admission{})
		left := make(chan struct{})
		go func() { time.Sleep(time.Second); close(left) }()
		if _, o, _ := follower.Wait(Patience{Client: leaver(left)}, nil); o != Left {
			t.Errorf("got %v, want Left", o)
		}
		f := leader.Flight()
		if f.Context().Err() != nil {
			t.Error("the fetch has ended with a follower's client")
		}
		f.Finish(nil)
		_ = leader.Close()
		table.Close()
	})
}

// TestALeaderWhoseClientLeavesEndsWhatNobodyWants: at once, and only that.
func TestALeaderWhoseClientLeavesEndsWhatNobodyWants(t *testing.T) {
	f := func(name string, admitted, followed, ends bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			table := NewTable[string, string](Options{Budget: NewBudget(1<<20, 1), ObjectBytes: 1 << 10})
			leader, _ := table.Join("k", "u", Admission{Leading: admitted})
			fetch := leader.Flight()
			if followed {
				follower, _ := table.Join("k", "u", Admission{})
				defer follower.Close()
			}
			left := make(chan struct{})
			close(left)
			over := make(chan Outcome)
			go func() {
				_, o, _ := leader.Wait(Patience{Client: leaver(left)}, nil)
				over <- o
			}()
			synctest.Wait()
			if got := fetch.Context().Err() != nil; got != ends {
				t.Errorf("%s: the fetch has ended: %v, want %v", name, got, ends)
			}
			select {
			case o := <-over:
				t.Errorf("%s: got %v while the fetch may still use the request", name, o)
			default:
			}
			fetch.Finish(nil) // with its context, or the header
			if o := <-over; o != Left {
				t.Errorf("%s: got %v, want Left", name, o)
			}
			_ = leader.Close()
			table.Close()
		})
	}
	f("alone", false, false, true)
	f("admitted", true, false, false)
	f("followed", false, true, false)
}

// TestOneThatLedAnewAndLeavesEndsItsOwnFetch, and not the first one.
func TestOneThatLedAnewAndLeavesEndsItsOwnFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable[string, string](Options{Budget: NewBudget(1<<20, 1), ObjectBytes: 1 << 10})
		leader, _ := table.Join("k", "u", Admission{})
		follower, _ := table.Join("k", "u", Admission{})
		left := make(chan struct{})
		p := Patience{Lead: time.Second, Most: time.Minute, Client: leaver(left)}
		if _, o, _ := follower.Wait(p, nil); o != LeadAnew {
			t.Fatalf("got %v, want LeadAnew", o)
		}
		second := follower.Flight()
		close(left)
		over := make(chan Outcome, 1)
		go func() {
			_, o, _ := follower.Wait(p, nil)
			over <- o
		}()
		synctest.Wait()
		if second.Context().Err() == nil || leader.Flight().Context().Err() != nil {
			t.Error("want the further fetch ended, and the first not")
		}
		second.Finish(second.Context().Err())
		if o := <-over; o != Left {
			t.Errorf("got %v, want Left", o)
		}
		leader.Flight().Publish("h", Response{Storable: true, Shareable: true, Length: -1})
		if _, o, _ := leader.Wait(Patience{}, nil); o != Shared {
			t.Errorf("the first leader got %v, want Shared", o)
		}
		leader.Flight().Finish(nil)
		_ = leader.Close()
		table.Close()
	})
}
