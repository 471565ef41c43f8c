package field

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func fixed(name string) bool { return name == "Host" || name == "X-Ours" }

func TestRulesRemoveAndSet(t *testing.T) {
	r, err := NewRules([]string{"x-a", "X-B*"}, nil, map[string]string{"x-new": "1", "Server": "edge"}, fixed)
	if err != nil {
		t.Fatal(err)
	}
	in := List{{"Host", "h"}, {"X-A", "1"}, {"X-A2", "2"}, {"X-B", "3"}, {"X-Bc", "4"}, {"Server", "a"}, {"Server", "b"}}
	want := List{{"Host", "h"}, {"X-A2", "2"}, {"Server", "edge"}, {"X-New", "1"}}
	if diff := cmp.Diff(want, r.Apply(in)); diff != "" {
		t.Error(diff)
	}
	if string(r.Value("Server")) != "edge" || r.Value("X-A") != nil {
		t.Errorf("Value: got %q and %q", r.Value("Server"), r.Value("X-A"))
	}
	for name, want := range map[string]bool{"X-A": true, "X-Bcd": true, "Server": true, "X-New": true, "X-C": false, "Host": false} {
		if got := r.Drops(name); got != want {
			t.Errorf("Drops(%s): got %v, want %v", name, got, want)
		}
	}
}

func TestAStarLeavesFixedFieldsAlone(t *testing.T) {
	r, err := NewRules([]string{"X-*", "H*"}, nil, nil, fixed)
	if err != nil {
		t.Fatal(err)
	}
	if r.Drops("X-Ours") || r.Drops("Host") || !r.Drops("X-Other") || !r.Drops("Hx-Request") {
		t.Error("got the wrong fields removed")
	}
}

func TestOnlyRemovesWhatItDoesNotName(t *testing.T) {
	r, err := NewRules([]string{"Accept-Charset"}, []string{"accept*", "Cookie"}, map[string]string{"X-New": "1"}, fixed)
	if err != nil {
		t.Fatal(err)
	}
	in := List{{"Host", "h"}, {"Accept", "a"}, {"Accept-Charset", "b"}, {"Cookie", "c"}, {"Cookie2", "d"}, {"X-New", "e"}, {"X-Path", "f"}, {"X-Ours", "g"}}
	want := List{{"Host", "h"}, {"Accept", "a"}, {"Cookie", "c"}, {"X-Ours", "g"}, {"X-New", "1"}}
	if diff := cmp.Diff(want, r.Apply(in)); diff != "" {
		t.Error(diff)
	}
	if r.Drops("Accept-Language") || !r.Dropping("Cookie").Drops("Cookie") || !r.Dropping("Cookie").Drops("X-Path") {
		t.Error("got other fields removed")
	}
	if r, err = NewRules(nil, []string{"*"}, nil, fixed); err != nil || r.Drops("X-Path") {
		t.Errorf("a * alone: got %v, and X-Path removed, want all that clients send", err)
	}
}

func TestWithoutRulesNothingChanges(t *testing.T) {
	r, err := NewRules(nil, nil, nil, fixed)
	l := List{{"A", "b"}}
	if err != nil || r != nil || r.Drops("A") || r.Value("A") != nil || r.Set() != nil || !cmp.Equal(r.Apply(l), l) {
		t.Errorf("got %v %v, want rules that do nothing", r, err)
	}
}

func TestNewRulesSaysAllThatIsWrong(t *testing.T) {
	_, err := NewRules(
		[]string{"", "*", "a b", "x**", "HOST", strings.Repeat("x", 129), "X-Both"},
		[]string{"a b", "x**", "HOST", "Accept"},
		map[string]string{
			"X-Ours": "1", "X-Any-*": "1", "a:b": "1", "X-Both": "1", "X-Empty": "", "X-Space": " a", "X-Line": "a\r\nb: c",
			"X-Twice": "1", "x-twice": "2", "X-Long": strings.Repeat("x", 4097),
		}, fixed)
	var got []string
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		t.Fatalf("got %v", err)
	}
	for _, e := range joined.Unwrap() {
		var rule *RuleError
		if !errors.As(e, &rule) || !strings.Contains(e.Error(), "must be ") {
			t.Fatalf("got %v", e)
		}
		got = append(got, rule.Rule+" "+rule.Name)
	}
	want := []string{
		"remove ", "remove *", "remove a b", "remove x**", "remove HOST", "remove " + strings.Repeat("x", 129), "only a b", "only x**", "only HOST",
		"set X-Any-*", "set X-Both", "set X-Empty", "set X-Line", "set X-Long", "set X-Ours", "set X-Space", "set a:b", "set x-twice",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := NewRules(make([]string, 65), make([]string, 66), nil, fixed); !strings.Contains(err.Error(), "at most 64 names, not 65") || !strings.Contains(err.Error(), "not 66") {
		t.Errorf("65 names: got %v", err)
	}
}
