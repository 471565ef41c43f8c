package queryrules

import (
	"testing"

	"edgeproxy/internal/http/field"
)

// fields returns the fields of a response that says value of its queries; "" is nothing.
func fields(value string) field.List {
	if value == "" {
		return nil
	}
	return field.List{{Name: "No-Vary-Search", Value: value}}
}

func TestTeach(t *testing.T) {
	table := New(0)
	path := table.Path([]byte("a.example"), []byte("/b"))
	f := func(target, value string, wantRule, wantNew, wantCovers bool) {
		t.Helper()
		said := table.Teach(path, []byte(target), fields(value), at(0))
		if (said.Rule != nil) != wantRule || said.New != wantNew || said.Covers != wantCovers {
			t.Errorf("%s, %q: got %+v, want rule %v, new %v, covers %v", target, value, said, wantRule, wantNew, wantCovers)
		}
		if said.Rule != nil && said.Rule != table.Rule(path, at(0)) {
			t.Errorf("%s, %q: got a rule that the path has not", target, value)
		}
	}
	const ignoresU = `params=("u")`
	f("/b", "", false, false, false)
	f("/b?u=1", ignoresU, true, true, false) // u may have shaped it
	f("/b", ignoresU, true, false, true)
	f("/b?a=1", ignoresU, true, false, true)
	f("/b?a=1&u=2", ignoresU, true, false, false)
	f("/b", `params=("w")`, false, false, false) // the path has another one
	f("/b", "params=(", false, false, false)
}

// Responses without a rule end one, as those with another do.
func TestTeachWithoutARuleEndsOne(t *testing.T) {
	table, path := New(0), uint64(1)
	table.Teach(path, []byte("/b"), fields(`params=("u")`), at(0))
	for range firstVotes {
		table.Teach(path, []byte("/b"), nil, at(0))
	}
	if !table.Empty() {
		t.Error("the rule is still there")
	}
}

func TestSaidByAndSame(t *testing.T) {
	table := New(0)
	said := table.Teach(1, []byte("/b"), fields(`params=("u" "w")`), at(0))
	f := func(value string, want bool) {
		t.Helper()
		if got := said.Rule.SaidBy(fields(value)); got != want {
			t.Errorf("SaidBy(%q): got %v, want %v", value, got, want)
		}
		if got := Same(fields(value), fields(`params=("u" "w")`)); got != want {
			t.Errorf("Same(%q): got %v, want %v", value, got, want)
		}
	}
	f(`params=("w" "u")`, true)
	f(`params=("u")`, false)
	f(`params`, false)
	f("", false)
	if !Same(nil, fields("")) {
		t.Error("two responses without a rule say different things")
	}
}

// Who forgets a URL meets each rule that its path has had meanwhile, and the last one last.
func TestForgetAllMeetsTheNextRule(t *testing.T) {
	table, path := New(0), uint64(1)
	before := table.Forgotten(path)
	var met []*Rule
	table.ForgetAll(path, func(r *Rule) {
		met = append(met, r)
		if len(met) == 1 {
			table.Teach(path, []byte("/b"), fields(`params=("u")`), at(0))
		}
	})
	if len(met) != 2 || met[0] != nil || met[1] == nil || met[1] != table.Rule(path, at(0)) {
		t.Errorf("got %v, want none and then the rule of the path", met)
	}
	if table.Forgotten(path) == before {
		t.Error("a fetch that began before cannot see it")
	}
}
