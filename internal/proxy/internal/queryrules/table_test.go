package queryrules

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/http/rfc9111"
)

func ignoring(names ...string) rfc9111.NoVarySearch { return rfc9111.NoVarySearch{Names: names} }

func at(minutes int) time.Time {
	return time.Unix(1_800_000_000, 0).Add(time.Duration(minutes) * time.Minute)
}

// learn teaches v and says whether it is the rule of the path now.
func learn(tb testing.TB, t *Table, path uint64, v rfc9111.NoVarySearch, now time.Time) (holds, taught bool) {
	tb.Helper()
	r, taught := t.learn(path, v, now)
	if r != nil && t.Rule(path, now) != r {
		tb.Errorf("path %d: learn and Rule return different rules", path)
	}
	return r != nil, taught
}

func TestRuleIsTheOneOfMostResponses(t *testing.T) {
	table, path := New(0), uint64(1)
	if !table.Empty() || table.Rule(path, at(0)) != nil {
		t.Fatal("a new table knows a rule")
	}
	f := func(v rfc9111.NoVarySearch, times int, wantHolds, wantTaught bool) {
		t.Helper()
		for i := range times {
			if holds, taught := learn(t, table, path, v, at(0)); holds != wantHolds || taught != wantTaught {
				t.Errorf("%v, response %d: got holds %v and taught %v, want %v and %v", v.Names, i+1, holds, taught, wantHolds, wantTaught)
			}
		}
	}

	u, w := ignoring("u"), ignoring("u", "w")
	f(u, 1, true, true)
	first := table.Rule(path, at(0))
	f(u, 1, true, false)
	f(w, 4, false, false) // it has been said twice
	f(w, 1, true, true)
	f(w, 100, true, false)
	f(u, 15, false, false)
	f(w, 1, true, false)
	f(u, 1, false, false)
	f(u, 1, true, true) // the sixteenth, less the one between
	if again := table.Rule(path, at(0)); again == first || again.Number == first.Number {
		t.Error("a rule that came back has its old number: what was stored by it would come back too")
	}

	for range 3 {
		table.noRule(path)
	}
	if table.Rule(path, at(0)) == nil {
		t.Error("three responses without a rule have ended one")
	}
	table.noRule(path)
	if table.Rule(path, at(0)) != nil || !table.Empty() {
		t.Error("four responses without a rule have not ended one")
	}
	table.noRule(path)
	f(u, 1, true, true)
}

func TestLongRulesAreNone(t *testing.T) {
	table := New(0)
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, v := range []rfc9111.NoVarySearch{ignoring(many...), ignoring(strings.Repeat("x", 1025))} {
		if holds, _ := learn(t, table, 1, v, at(0)); holds {
			t.Errorf("%d names: got a rule, want none", len(v.Names))
		}
	}
	for i, v := range []rfc9111.NoVarySearch{ignoring(many[1:]...), ignoring(strings.Repeat("x", 1024))} {
		if holds, _ := learn(t, table, uint64(i), v, at(0)); !holds {
			t.Errorf("%d names: got no rule, want one", len(v.Names))
		}
	}
}

// A path that finds no room has no rule; one that is in use keeps its own.
func TestOnlyWhatIsIdleMakesRoom(t *testing.T) {
	const more = 10 * MaxRules
	table := New(0)
	held := map[uint64]bool{}
	for path := range uint64(more) {
		if holds, _ := learn(t, table, path, ignoring("u"), at(0)); holds {
			held[path] = true
		}
	}
	if len(held) != MaxRules {
		t.Fatalf("got %d rules, want %d", len(held), MaxRules)
	}
	kept := map[uint64]bool{}
	for path := range held {
		if len(kept) < MaxRules/2 {
			kept[path] = true
			table.Rule(path, at(5))
		}
	}
	added := 0
	for path := uint64(more); path < 2*more; path++ {
		if holds, _ := learn(t, table, path, ignoring("u"), at(10)); holds {
			added++
		}
	}
	if want := MaxRules - len(kept); added != want {
		t.Errorf("ten minutes later: got %d new rules, want %d", added, want)
	}
	for path := range kept {
		if table.Rule(path, at(10)) == nil {
			t.Errorf("path %d was in use: got no rule", path)
		}
	}
}

func TestForgetIsSeenByItsPath(t *testing.T) {
	table := New(0)
	before := table.Forgotten(1)
	if table.Forget(1) != nil {
		t.Error("got a rule, want none")
	}
	if table.Forgotten(1) == before {
		t.Error("Forget changed nothing")
	}
	learn(t, table, 1, ignoring("u"), at(0))
	if r := table.Forget(1); r == nil || string(r.AppendQuery(nil, []byte("u=1&a=b"))) != "a=b" {
		t.Error("got no rule that ignores u")
	}
	if table.Path([]byte("a"), []byte("/b")) == table.Path([]byte("a"), []byte("/c")) || table.Path([]byte("a"), []byte("/b")) == table.Path([]byte("b"), []byte("/b")) {
		t.Error("different paths have one hash")
	}
}

// The law of the package: a response that moves to a rule while its URL is forgotten is
// either not stored, or removed.
func TestNothingSlipsThrough(t *testing.T) {
	for range 2000 {
		table, path := New(0), uint64(1)
		var mu sync.Mutex // guards the store
		stored := map[uint64]bool{}
		var both sync.WaitGroup
		seen := table.Forgotten(path)
		both.Go(func() {
			r, _ := table.learn(path, ignoring("u"), at(0))
			mu.Lock()
			defer mu.Unlock()
			if table.Forgotten(path) == seen {
				stored[r.Number] = true
			}
		})
		both.Go(func() {
			r := table.Forget(path)
			mu.Lock()
			defer mu.Unlock()
			if r != nil {
				delete(stored, r.Number)
			}
		})
		both.Wait()
		if len(stored) > 0 {
			t.Fatal("stored, although its URL was forgotten")
		}
	}
}
