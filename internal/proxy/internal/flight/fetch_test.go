package flight

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// begins is a Fetch that begins with a call of it.
type begins func(*Flight[int, string]) (rest func(*Flight[int, string]))

func (b begins) Begin(f *Flight[int, string]) (rest func(*Flight[int, string])) { return b(f) }

func TestAFetchBeginsInTheGoroutineOfItsLeader(t *testing.T) {
	table := newTestTable()
	a, _ := table.Join(1, 1, Admission{})
	here, rest := false, make(chan struct{})
	table.Run(a, begins(func(f *Flight[int, string]) func(*Flight[int, string]) {
		here = true
		f.Publish("head", Response{Length: -1})
		return func(f *Flight[int, string]) {
			<-rest
			f.Finish(nil)
		}
	}), nil)
	if h, o, err := a.Wait(Patience{}, nil); !here || h != "head" || o != Shared || err != nil {
		t.Errorf("begun %v: got %q %v %v, want a head", here, h, o, err)
	}
	close(rest)
	a.Close()
	table.Close()
	b, _ := table.Join(1, 1, Admission{})
	if table.Run(b, nil, nil) {
		t.Error("a closed table has begun a fetch")
	}
	if _, o, err := b.Wait(Patience{}, nil); o != Failed || !errors.Is(err, ErrClosed) {
		t.Errorf("got %v %v, want ErrClosed", o, err)
	}
	b.Close()
}

func TestAPanicInTheGoroutineOfTheLeaderFailsTheFlight(t *testing.T) {
	for _, later := range []bool{false, true} {
		table := newTestTable()
		a, _ := table.Join(1, 1, Admission{})
		var seen atomic.Int64
		table.Run(a, begins(func(*Flight[int, string]) func(*Flight[int, string]) {
			if later {
				return func(*Flight[int, string]) { panic("boom") }
			}
			panic("boom")
		}), func(*PanicError) { seen.Add(1) })
		_, o, err := a.Wait(Patience{}, nil)
		if _, ok := errors.AsType[*PanicError](err); o != Failed || !ok {
			t.Errorf("got %v %v, want Failed with the panic", o, err)
		}
		a.Close()
		table.Close()
		if seen.Load() != 1 {
			t.Errorf("the panic was reported %d times", seen.Load())
		}
	}
}

// woken counts how often it was nudged.
type woken struct{ atomic.Int64 }

func (w *woken) Nudge() { w.Add(1) }

// TestALeaderIsNudgedWhenAnotherLeads: it may be given the other's header, for which it has to wait.
func TestALeaderIsNudgedWhenAnotherLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTestTable()
		a, _ := table.Join(1, 1, Admission{})
		b, _ := table.Join(1, 1, Admission{})
		var w woken
		if !a.Flight().Waits(&w) {
			t.Error("got false, want true: nobody else leads")
		}
		if _, o, _ := b.Wait(Patience{Lead: lead, Most: most}, nil); o != LeadAnew || w.Load() != 1 {
			t.Errorf("got %v and %d nudges, want LeadAnew and 1", o, w.Load())
		}
		a.Flight().Waited()
		if a.Flight().Waits(&w) {
			t.Error("got true, want false: another leads")
		}
		for _, r := range []*Reader[int, string]{a, b} {
			r.Flight().Finish(errors.New("failed"))
			r.Close()
		}
		table.Close()
	})
}

// TestEndedGrowsBeforeAnotherFlightIsLed: a leader that trusts it must not miss what the flight before
// its own has stored.
func TestEndedGrowsBeforeAnotherFlightIsLed(t *testing.T) {
	table := newTestTable()
	r, _ := table.Join(1, 7, Admission{Leading: true})
	before := table.Ended()
	if before == 0 {
		t.Error("got 0, which stands for no look-up")
	}
	f := r.Flight()
	f.Publish("head", Response{Storable: true, Shareable: true, Length: 3})
	send(f, []byte("abc"), 3, true)
	body, _ := f.Whole(false)
	if now := table.Ended(); now != before {
		t.Errorf("before anything was stored: got %d, want still %d", now, before)
	}
	f.Stored(body)
	stored := table.Ended()
	if stored <= before {
		t.Errorf("once it was stored: got %d, want more than %d", stored, before)
	}
	f.Finish(nil)
	_ = r.Close()
	if next, leads := table.Join(1, 7, Admission{}); !leads || table.Ended() <= stored {
		t.Errorf("leads %v, and got %d: want a flight of its own, and more than %d", leads, table.Ended(), stored)
	} else {
		giveUp(next)
	}
}

// giveUp ends a flight that has fetched nothing.
func giveUp(r *Reader[int, string]) {
	r.Flight().Fill()
	_ = r.Close()
}
