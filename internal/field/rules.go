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
	removed  map[string]bool        // canonical
	prefixes []string               // canonical prefixes, of names with a *
	reserved func(name string) bool // no rule may remove or set such a field
	set      List
	values   map[string][]byte // of set, by canonical name
}

// RuleError says what is wrong with one rule.
type RuleError struct {
	Rule string // "remove" or "set"
	Name string // as it was given; "" if it is about the rule
	Want string
}

func (e *RuleError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: want %s", e.Rule, e.Want)
	}
	return fmt.Sprintf("%s: %q: want %s", e.Rule, e.Name, e.Want)
}

// NewRules returns the rules that remove fields by name and set others to a literal
// value. Names may be in any case. A * at the end of a name to remove matches any
// ending. A field that is set is the only one of its name. Fields for which reserved
// returns true can be neither removed nor set, and a * does not remove them; reserved gets
// canonical names. The error joins a *RuleError for each mistake. Without any rule the
// result is nil.
func NewRules(remove []string, set map[string]string, reserved func(name string) bool) (*Rules, error) {
	r := &Rules{removed: map[string]bool{}, reserved: reserved, values: map[string][]byte{}}
	var problems []error
	fail := func(rule, name, want string) {
		problems = append(problems, &RuleError{Rule: rule, Name: name, Want: want})
	}
	if len(remove) > maxRules {
		fail("remove", "", fmt.Sprintf("at most %d names, not %d", maxRules, len(remove)))
	}
	if len(set) > maxRules {
		fail("set", "", fmt.Sprintf("at most %d fields, not %d", maxRules, len(set)))
	}
	for _, name := range remove {
		if want := r.remove(name); want != "" {
			fail("remove", name, want)
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
	if len(remove)+len(set) == 0 {
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

// remove adds a rule that removes a field. If name is not acceptable, it returns what is
// wanted instead, else "".
func (r *Rules) remove(name string) (want string) {
	start, open := strings.CutSuffix(name, "*")
	switch {
	case !ValidName(start) || strings.Contains(start, "*") || len(start) > maxNameBytes:
		return fmt.Sprintf("the name of a field, or how it begins and *, up to %d bytes", maxNameBytes)
	case open:
		r.prefixes = append(r.prefixes, Canonical(start))
	case r.reserved(Canonical(name)):
		return wantUnreserved
	default:
		r.removed[Canonical(name)] = true
	}
	return ""
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
		return "each field once, whatever its case"
	case r.removed[canonical]:
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
	if r == nil {
		return false
	}
	if r.removed[name] || r.values[name] != nil {
		return true
	}
	return slices.ContainsFunc(r.prefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix) && !r.reserved(name)
	})
}

// Dropping returns rules that also remove the field of this canonical name, unless r sets
// it. r may be nil.
func (r *Rules) Dropping(name string) *Rules {
	out := &Rules{removed: map[string]bool{name: true}}
	if r == nil {
		return out
	}
	if r.values[name] != nil {
		return r
	}
	maps.Copy(out.removed, r.removed)
	out.prefixes, out.reserved, out.set, out.values = r.prefixes, r.reserved, r.set, r.values
	return out
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
