package queryrules

import (
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// Said is what a response says of the queries of its path.
type Said struct {
	// Rule is the rule of the path if the response has the same, otherwise nil.
	Rule *Rule
	// New says that the path has got the rule by this response.
	New bool
	// Covers says that the rule drops nothing from the target of the response. Only then may
	// the response be stored by the rule: it may depend on what the rule drops.
	Covers bool
}

// Teach notes what a response with these fields says. It was received now, for a request of
// target, which has this path.
func (t *Table) Teach(path uint64, target []byte, fields field.List, now time.Time) Said {
	v, ok := rfc9111.ParseNoVarySearch(fields)
	if !ok {
		t.noRule(path)
		return Said{}
	}
	rule, taught := t.learn(path, v, now)
	if rule == nil {
		return Said{}
	}
	return Said{Rule: rule, New: taught, Covers: string(rule.AppendTarget(nil, target)) == string(target)}
}

// SaidBy reports whether a response with these fields says this rule.
func (r *Rule) SaidBy(fields field.List) bool {
	v, ok := rfc9111.ParseNoVarySearch(fields)
	return ok && r.search.Equal(&v)
}

// Same reports whether responses with these fields have the same rule.
func Same(a, b field.List) bool {
	v, _ := rfc9111.ParseNoVarySearch(a)
	w, _ := rfc9111.ParseNoVarySearch(b)
	return v.Equal(&w)
}
