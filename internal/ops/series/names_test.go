package series

import (
	"fmt"
	"slices"
	"testing"
)

func idle(string) bool { return false }

// change adds the names and has them in force.
func (n *Names) change(busy func(string) bool, names ...string) []string {
	for _, name := range names {
		n.Add(name)
	}
	return n.Change(names, busy)
}

// TestNamesThatChangeGoInTheirOrder: the last Kept that went stay, and those that stay in force
// or have something under way.
func TestNamesThatChangeGoInTheirOrder(t *testing.T) {
	var n Names
	n.change(idle, "stays", "busy", "o0")
	busy := func(name string) bool { return name == "busy" }
	for i := 1; i < 300; i++ {
		got := n.change(busy, "stays", fmt.Sprint("o", i))
		var want []string
		if i >= Kept { // busy is one of those that keep theirs
			want = []string{fmt.Sprint("o", i-Kept)}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("change %d: got %v, want %v", i, got, want)
		}
	}
	if got := n.change(idle, "stays"); !slices.Equal(got, []string{"busy"}) {
		t.Errorf("when nothing is under way any more: got %v, want busy, which went first", got)
	}
	if len(n.removed) != Kept || len(n.known) != Kept+1 {
		t.Errorf("got %d that went and %d known, want %d and one more", len(n.removed), len(n.known), Kept)
	}
}

// TestOneChangeTakesManyNames: all of them have a last scrape.
func TestOneChangeTakesManyNames(t *testing.T) {
	var n Names
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("%03d", i))
	}
	n.change(idle, many...)
	if got := n.change(idle, "a"); got != nil {
		t.Errorf("got %d gone at once, want none", len(got))
	}
	if got := n.change(idle, "a"); len(got) != 1000-Kept || got[0] != "000" {
		t.Errorf("at the next change: got %d gone, want all but %d", len(got), Kept)
	}
}

// TestNameComesBack: what counts is when it went the last time.
func TestNameComesBack(t *testing.T) {
	var n Names
	n.change(idle, "back")
	n.change(idle)
	n.change(idle, "back")
	for i := range Kept {
		if got := n.change(idle, fmt.Sprint(i)); got != nil {
			t.Fatalf("got %v gone", got)
		}
	}
	n.change(idle, "x")
	if got := n.change(idle, "y"); !slices.Equal(got, []string{"0"}) {
		t.Errorf("got %v gone, want 0: back went before and has gone already", got)
	}
}

// TestNameThatWasNeverInForceGoesAtOnce, as those of a file that is refused.
func TestNameThatWasNeverInForceGoesAtOnce(t *testing.T) {
	var n Names
	n.change(idle, "app", "old")
	n.change(idle, "app")
	n.Add("new")
	n.Add("old")
	if got := n.Change([]string{"app"}, idle); !slices.Equal(got, []string{"new"}) {
		t.Errorf("got %v gone, want new alone", got)
	}
}
