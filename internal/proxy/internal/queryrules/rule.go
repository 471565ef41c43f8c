package queryrules

import (
	"sync/atomic"

	"edgeproxy/internal/http/rfc9111"
)

// Rule is what the responses of one path say of its queries. It does not change, except for
// the table's own fields.
type Rule struct {
	// Number is unique: no other rule has it, of any path or time.
	Number uint64

	search rfc9111.NoVarySearch
	path   uint64
	used   atomic.Int64 // the last minute in which it was used
	votes  int          // guarded by Table.mu
}

// AppendQuery appends the canonical form of query: queries that mean the same have the same
// form; see rfc9111.NoVarySearch. It is safe for concurrent use.
func (r *Rule) AppendQuery(dst, query []byte) []byte { return r.search.AppendQuery(dst, query) }

// storable reports whether v is short enough to be kept for a path.
func storable(v rfc9111.NoVarySearch) bool {
	bytes := 0
	for _, name := range v.Names {
		bytes += len(name)
	}
	return len(v.Names) <= maxNames && bytes <= maxNameBytes
}
