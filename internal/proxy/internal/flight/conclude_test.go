package flight

import "testing"

func TestWhatNobodyElseWantsIsConcluded(t *testing.T) {
	table := newTestTable()
	defer table.Close()
	a, _ := table.Join(1, 1, Admission{})
	before := table.Ended()
	ran := table.Run(a, begins(func(f *Flight[int, string]) func(*Flight[int, string]) {
		if !f.Judge() || !a.Conclude(false) {
			t.Error("a flight that nobody else wants is not concluded")
		}
		return nil
	}), nil)
	if !ran || table.Len() != 0 || table.Ended() == before {
		t.Errorf("begun %v, %d flights, ended %d then %d: want true, none, and one more", ran, table.Len(), before, table.Ended())
	}
	if a.Flight().Context().Err() == nil {
		t.Error("the context of a concluded flight goes on")
	}
	a.Recycle()
	b, leads := table.Join(1, 1, Admission{})
	if !leads {
		t.Error("the next request follows a flight that has ended")
	}
	if c, leads := table.Join(1, 1, Admission{}); leads || c.Flight() != b.Flight() {
		t.Error("a second request does not follow the first")
	} else {
		c.Close()
	}
	b.Flight().Fill()
	b.Close()
}

func TestWhatConcernsOthersIsNotConcluded(t *testing.T) {
	f := func(name string, a Admission, meanwhile func(*Table[int, string], *Reader[int, string])) {
		t.Helper()
		table := newTestTable()
		defer table.Close()
		r, _ := table.Join(1, 1, a)
		meanwhile(table, r)
		r.Flight().Judge()
		if r.Conclude(false) {
			t.Errorf("%s: concluded, want not", name)
		}
		r.Flight().Finish(nil)
		r.Close()
	}
	nothing := func(*Table[int, string], *Reader[int, string]) {}
	f("it is to be stored", Admission{Leading: true}, nothing)
	f("its URL was purged", Admission{}, func(t *Table[int, string], _ *Reader[int, string]) { t.Purge(1) })
	f("somebody follows", Admission{}, func(t *Table[int, string], _ *Reader[int, string]) {
		b, _ := t.Join(1, 1, Admission{})
		b.closeLater(t)
	})
	f("somebody has followed, and left", Admission{}, func(t *Table[int, string], _ *Reader[int, string]) {
		b, _ := t.Join(1, 1, Admission{})
		b.Close()
	})
	f("it has a header", Admission{}, func(_ *Table[int, string], r *Reader[int, string]) { r.Flight().Publish("head", Response{}) })
	f("its client has left", Admission{}, func(_ *Table[int, string], r *Reader[int, string]) { r.Close() })
}

func TestWhatWasStoredIsConcludedUnlessSomebodyHasJoined(t *testing.T) {
	table := newTestTable()
	defer table.Close()
	a, _ := table.Join(1, 1, Admission{Leading: true})
	if a.Flight().Judge(); !a.Alone() || !a.Conclude(true) {
		t.Error("a flight that nobody else wants is not concluded")
	}
	a.Recycle()

	b, _ := table.Join(1, 1, Admission{Leading: true})
	b.Flight().Judge()
	c, _ := table.Join(1, 1, Admission{})
	if b.Alone() || b.Conclude(true) {
		t.Error("a flight that somebody follows is concluded")
	}
	b.Flight().Fill()
	if _, o, err := c.Wait(Patience{}, nil); o != Filled || err != nil {
		t.Errorf("the follower: got %v, %v, want to look again", o, err)
	}
	b.Close()
	c.Close()
}

// Who was told to look again did not, for nothing had ended yet, and fetched once more what was stored.
func TestWhoHearsOfAFillSeesThatAFlightHasEnded(t *testing.T) {
	table := newTestTable()
	defer table.Close()
	for range 2000 {
		a, _ := table.Join(1, 1, Admission{Leading: true})
		b, _ := table.Join(1, 1, Admission{})
		before := table.Ended()
		heard := make(chan uint64)
		go func() {
			_, _, _ = b.Wait(Patience{}, nil)
			heard <- table.Ended()
		}()
		a.Flight().Fill()
		if now := <-heard; now == before {
			t.Fatal("a follower has heard of the end before it was counted")
		}
		a.Close()
		b.Close()
	}
}

// closeLater has a reader leave when its flight has ended.
func (r *Reader[K, H]) closeLater(t *Table[K, H]) {
	t.fetch.Go(func() {
		_, _, _ = r.Wait(Patience{}, nil)
		r.Close()
	})
}
