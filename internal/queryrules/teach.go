package queryrules

import (
	"time"

	"edgeproxy/internal/field"
	"edgeproxy/internal/rfc9111"
)

// Said is what a response says of the queries of its path.
type Said struct {
	// Rule is the rule of the path, where the response has the same. Else it is nil.
	Rule *Rule
	// New says that it is the rule of the path since this response.
	New bool
	// Covers says that the rule drops nothing from the target of the response. Only then
	// the response may be stored by the rule: what the rule drops may have shaped it.
	Covers bool
}

// Teach notes what a response says that was received now, with these fields, and whose
// request asked for target, which is of this path.
func (t *Table) Teach(path uint64, target []byte, fields field.List, now time.Time) Said {
	v, ok := rfc9111.ParseNoVarySearch(fields)
	if !ok {
		t.disown(path)
		return Said{}
	}
	rule, taught := t.learn(path, v, now)
	if rule == nil {
		return Said{}
	}
	return Said{Rule: rule, New: taught, Covers: string(rule.AppendTarget(nil, target)) == string(target)}
}

// SaidBy reports whether a response with these fields has the rule.
func (r *Rule) SaidBy(fields field.List) bool {
	v, ok := rfc9111.ParseNoVarySearch(fields)
	return ok && r.search.Equal(&v)
}

// Same reports whether two responses, with these fields, say the same.
func Same(a, b field.List) bool {
	v, _ := rfc9111.ParseNoVarySearch(a)
	w, _ := rfc9111.ParseNoVarySearch(b)
	return v.Equal(&w)
}
