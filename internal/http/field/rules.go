package field

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of rules. More than that is more likely a mistake than a need.
const (
	maxRules      = 64
	maxNameBytes  = 128
	maxValueBytes = 4096
)

// Rules remove fields from a message and set others. They are immutable; a nil *Rules
// has no rule.
type Rules struct {
	removed  names
	only     *names                 // all others are removed as well; nil is all
	reserved func(name string) bool // no rule may remove or set such a field
	set      List
	values   map[string][]byte // values of set, under canonical names
}

// names are names of fields, and how names begin.
type names struct {
	whole    map[string]bool // canonical
	prefixes []string        // canonical
}

// has reports whether the field of this canonical name is among them.
func (n *names) has(name string) bool {
	return n.whole[name] || slices.ContainsFunc(n.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// RuleError says what is wrong with one rule.
type RuleError struct {
	Rule string // "remove", "only" or "set"
	Name string // name that was given; "" if it is about the rule
	Want string
}

func (e *RuleError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: must be %s", e.Rule, e.Want)
	}
	return fmt.Sprintf("%s: %q: must be %s", e.Rule, e.Name, e.Want)
}

// NewRules returns the rules that remove fields by name and set others to a literal
// value. If only is not empty, they also remove each field that it does not name. Names may be
// in any case. A * at the end of a name of remove or only matches any ending, and a * alone of
// only any name. A field that is set is the only one of its name. Fields for which reserved
// returns true can be neither removed nor set nor named by only, and no rule removes them;
// reserved gets canonical names. The error joins a *RuleError for each mistake. Without any rule the
// result is nil.
func NewRules(remove, only []string, set map[string]string, reserved func(name string) bool) (*Rules, error) {
	r := &Rules{reserved: reserved, values: map[string][]byte{}}
	var problems []error
	fail := func(rule, name, want string) {
		problems = append(problems, &RuleError{Rule: rule, Name: name, Want: want})
	}
	for _, list := range []struct {
		rule  string
		names []string
	}{{"remove", remove}, {"only", only}} {
		if len(list.names) > maxRules {
			fail(list.rule, "", fmt.Sprintf("at most %d names, not %d", maxRules, len(list.names)))
		}
	}
	if len(set) > maxRules {
		fail("set", "", fmt.Sprintf("at most %d fields, not %d", maxRules, len(set)))
	}
	for _, name := range remove {
		if want := r.removed.add(name, reserved); want != "" {
			fail("remove", name, want)
		}
	}
	for _, name := range only {
		if want := r.letThrough(name); want != "" {
			fail("only", name, want)
		}
	}
	for _, name := range sortedKeys(set) {
		if want := r.put(name, set[name]); want != "" {
			fail("set", name, want)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(remove)+len(only)+len(set) == 0 {
		return nil, nil //nolint:nilnil // no rules are no error
	}
	return r, nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

const wantUnreserved = "another field: this one is framing, belongs to a connection, or is written or evaluated here"

// add adds a name, or how names begin and *. If name is not acceptable, it returns what is
// wanted instead, else "".
func (n *names) add(name string, reserved func(name string) bool) (want string) {
	start, open := strings.CutSuffix(name, "*")
	switch {
	case !ValidName(start) || strings.Contains(start, "*") || len(start) > maxNameBytes:
		return fmt.Sprintf("the name of a field, or how it begins and *, up to %d bytes", maxNameBytes)
	case open:
		n.prefixes = append(n.prefixes, Canonical(start))
	case reserved(Canonical(name)):
		return wantUnreserved
	case n.whole == nil:
		n.whole = map[string]bool{Canonical(name): true}
	default:
		n.whole[Canonical(name)] = true
	}
	return ""
}

// letThrough adds a name to the only ones, which may be a * alone. If name is not acceptable, it returns what is wanted
// instead, else "".
func (r *Rules) letThrough(name string) (want string) {
	if r.only == nil {
		r.only = &names{}
	}
	if name == "*" {
		r.only.prefixes = append(r.only.prefixes, "")
		return ""
	}
	return r.only.add(name, r.reserved)
}

// put adds a rule that sets a field. If it is not acceptable, it returns what is wanted
// instead, else "".
func (r *Rules) put(name, value string) (want string) {
	canonical := Canonical(name)
	switch {
	case !ValidName(name) || strings.Contains(name, "*") || len(name) > maxNameBytes:
		return fmt.Sprintf("the name of a field, without *, up to %d bytes", maxNameBytes)
	case r.reserved(canonical):
		return wantUnreserved
	case r.values[canonical] != nil:
		return "listed once, whatever its case"
	case r.removed.whole[canonical]:
		return "the field here or under remove, not both"
	case value == "" || len(value) > maxValueBytes || !ValidValue(value) || strings.Trim(value, " \t") != value:
		return fmt.Sprintf("a value of 1 to %d bytes, without control characters or white space around it; remove takes a field away", maxValueBytes)
	}
	r.values[canonical] = []byte(value)
	r.set.Add(canonical, value)
	return ""
}

// Drops reports whether the rules drop the sender's field of this canonical name: it is
// removed, or set to another value.
func (r *Rules) Drops(name string) bool {
	switch {
	case r == nil:
		return false
	case r.values[name] != nil:
		return true
	}
	return (r.removed.has(name) || r.only != nil && !r.only.has(name)) && !r.reserved(name)
}

// Dropping returns rules that also remove the field of this canonical name, unless r sets
// it. r may be nil.
func (r *Rules) Dropping(name string) *Rules {
	if r == nil {
		return &Rules{removed: names{whole: map[string]bool{name: true}}, reserved: func(string) bool { return false }}
	}
	if r.values[name] != nil {
		return r
	}
	out := *r
	out.removed.whole = map[string]bool{name: true}
	maps.Copy(out.removed.whole, r.removed.whole)
	return &out
}

// Value returns the value to which the field of this canonical name is set, nil if it is
// not set. The caller must not write to it.
func (r *Rules) Value(name string) []byte {
	if r == nil {
		return nil
	}
	return r.values[name]
}

// Set returns the fields that are set, sorted by name. The caller must not write to them.
func (r *Rules) Set() List {
	if r == nil {
		return nil
	}
	return r.set
}

// Apply returns l after the rules: l itself if there are none, else a new list.
//
//go:noinline
func (r *Rules) Apply(l List) List {
	if r == nil {
		return l
	}
	return append(l.Without(r.Drops), r.set...)
}
