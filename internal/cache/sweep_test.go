package cache

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestEachFindsWhatEveryPlaceHolds(t *testing.T) {
	s := newStagedStore(t, 256<<10)
	names := map[string]Key{}
	for i := range 100 {
		name := fmt.Sprint("/memory/", i)
		names[name] = sum(name)
		mustPut(t, s, plain(name, 1, 3000)) // the window holds 20 of them
		name = fmt.Sprint("/stage/", i)
		names[name] = sum(name)
		mustStage(t, s, plain(name, 1, 1000))
	}
	mustPut(t, s, variant("/v", "a", 100, "Accept"))
	seen := map[string]bool{}
	s.Each(func(o *Object) { seen[string(o.Name())] = true })
	for name := range names {
		if held := tierOf(s, name) != None; held != seen[name] {
			t.Errorf("%s: got seen %v, want %v", name, seen[name], held)
		}
	}
	if !seen["/v\x00a"] || !seen["/memory/0"] && !seen["/memory/1"] || !seen["/stage/99"] {
		t.Errorf("got %d entries, want some of every place", len(seen))
	}
}

// TestEachMissesNothingThatMoves promotes and pushes entries on to the main part while others
// walk over them.
func TestEachMissesNothingThatMoves(t *testing.T) {
	const count, rounds = 64, 40
	for round := range rounds {
		s := newStoreOf(t, Options{MaxBytes: 4 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 32, StageBytes: 1 << 20})
		for i := range count {
			mustStage(t, s, plain(fmt.Sprint("/", i), 1, 2000))
		}
		var moving sync.WaitGroup
		begin := make(chan struct{})
		moving.Go(func() {
			<-begin
			for i := range count {
				name := fmt.Sprint("/", i)
				_ = s.Promote(sum(name), []byte(name), 0)
			}
		})
		close(begin)
		seen := map[string]bool{}
		s.Each(func(o *Object) { seen[string(o.Name())] = true })
		moving.Wait()
		for i := range count {
			if name := fmt.Sprint("/", i); !seen[name] && tierOf(s, name) != None {
				t.Fatalf("round %d: %s is held, and was not seen", round, name)
			}
		}
	}
}

func TestReviseForgetsOrAgesWhatItIsTold(t *testing.T) {
	names := map[string]Key{}
	s := newStagedStore(t, 256<<10)
	put := func(name string, into func(testing.TB, *Store, *Entry)) Key {
		names[name] = sum(name)
		into(t, s, plain(name, 1, 2000))
		return names[name]
	}
	aged := func(e *Entry) *Entry {
		o := *e
		o.Policy.Lifetime = time.Second
		return &o
	}
	old := put("/main", mustPut)
	for i := range 60 {
		put(fmt.Sprint("/other/", i), mustPut)
	}
	young, staged, stagedToo := put("/window", mustPut), put("/staged", mustStage), put("/staged/too", mustStage)
	before := s.Stats()
	for name, k := range map[string]Key{"/main": old, "/window": young} {
		s.Revise(k, aged)
		if e, _ := s.Find(k, []byte(name)); e == nil || e.Lifetime() != time.Second {
			t.Errorf("%s: got %+v, want it there, and aged", name, e)
		}
	}
	s.Revise(staged, aged)
	s.Revise(stagedToo, func(e *Entry) *Entry { return e })
	s.Revise(sum("/nothing"), aged)
	if tierOf(s, "/staged") != None || tierOf(s, "/staged/too") != Stage {
		t.Errorf("got %v and %v, want the aged one gone from the stage, the other there", tierOf(s, "/staged"), tierOf(s, "/staged/too"))
	}
	if after := s.Stats(); after.Writes != before.Writes || after.Objects != before.Objects || after.Stage.Objects != before.Stage.Objects-1 {
		t.Errorf("got %+v, want no write, and one object less in the stage than in %+v", after, before)
	}
	gone := func(*Entry) *Entry { return nil }
	s.Revise(old, gone)
	s.Revise(young, gone)
	if holds(s, "/main") || holds(s, "/window") {
		t.Error("got what was forgotten, want nothing")
	}
	checkBooks(t, s, names)
}

// TestEachMissedAnHeirThatMoved: who inherited a body moved from the main part into the window, where the walk had been
// already, and a sweep of purges did not see it. The host leaves at each moment of the walk.
func TestEachMissedAnHeirThatMoved(t *testing.T) {
	for moment := 0; ; moment += 7 {
		s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 8 << 10, MaxVariants: 4, StageBytes: 128 << 10})
		mustPut(t, s, tagged("/a", "1", `"x"`, 7, 400))
		if got := s.Put(tagged("/a", "2", `"x"`, 7, 400), nil); got != Joined {
			t.Fatalf("got %v, want it to join the other variant", got)
		}
		for i := range 400 { // both move to the main part
			mustPut(t, s, plain("/"+strconv.Itoa(i), 1, 300))
		}
		host, guest := s.main.find(sum("/a\x001")), s.main.find(sum("/a\x002"))
		if host == nil || guest == nil {
			t.Fatal("they are not in the main part")
		}
		if sh := s.shares[host]; sh == nil || sh.host != host {
			host, guest = guest, host
		}
		name, visits, seen := string(guest.Name()), 0, false
		s.Each(func(o *Object) {
			seen = seen || string(o.Name()) == name
			if visits == moment {
				s.Discard(host) // a look-up that finds it purged does so
			}
			visits++
		})
		if !holds(s, name) || !seen {
			t.Fatalf("host left at visit %d: held %v, seen %v", moment, holds(s, name), seen)
		}
		if visits <= moment {
			return
		}
	}
}
