package cache

import "testing"

// What was in none of the places when they were asked may have moved on since:
// the second look goes through them in the order of the moves.
func TestTheSecondLookFindsWhatHasMoved(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	f := func(name string, want Tier) {
		t.Helper()
		it, heldBack, _ := s.findElsewhere(sum(name))
		if heldBack != (want == Stage) || (it != nil) != (want != None) {
			t.Errorf("%s: got %v, held back %v, want it in %v", name, it != nil, heldBack, want)
		}
	}
	mustPut(t, s, plain("/main", 0, 8))
	pushOut(t, s)
	mustPut(t, s, plain("/window", 0, 8))
	mustStage(t, s, plain("/stage", 0, 8))
	if s.window.peek(sum("/main")) != nil {
		t.Fatal("got it in the window, want it in main")
	}
	f("/stage", Stage)
	f("/window", Memory)
	f("/main", Memory)
	f("/nowhere", None)
}

func TestHoldsWhatMayBeFound(t *testing.T) {
	s := newStagedStore(t, 64<<10)
	mustPut(t, s, plain("/main", 0, 8))
	pushOut(t, s)
	mustPut(t, s, plain("/window", 0, 8))
	mustPut(t, s, variant("/varies", "a", 8, "Accept"))
	mustStage(t, s, plain("/stage", 0, 8))
	mustStage(t, s, variant("/stage varies", "a", 8, "Accept"))
	for _, url := range []string{"/main", "/window", "/varies", "/stage", "/stage varies"} {
		if !s.Holds(sum(url)) {
			t.Errorf("%s: got false, want true", url)
		}
	}
	if s.Holds(sum("/nowhere")) {
		t.Error("/nowhere: got true, want false")
	}
	s.Purge(sum("/varies"), []byte("/varies"))
	if s.Holds(sum("/varies")) {
		t.Error("/varies, purged: got true, want false")
	}
}
