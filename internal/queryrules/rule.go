package queryrules

import (
	"sync/atomic"

	"edgeproxy/internal/rfc9111"
)

// Rule is what the responses of one path say of its queries. It does not change
// but for what the table keeps of its use.
type Rule struct {
	// Number is this rule's alone, for this path and this time.
	Number uint64

	search rfc9111.NoVarySearch
	path   uint64
	used   atomic.Int64 // the last minute in which somebody asked for it
	votes  int          // guarded by Table.mu
}

// AppendQuery appends the form in which all queries that mean the same as query are
// the same; see rfc9111.NoVarySearch. It is safe for concurrent use.
func (r *Rule) AppendQuery(dst, query []byte) []byte { return r.search.AppendQuery(dst, query) }

// small reports whether v is short enough to be kept for a path.
func small(v rfc9111.NoVarySearch) bool {
	bytes := 0
	for _, name := range v.Names {
		bytes += len(name)
	}
	return len(v.Names) <= maxNames && bytes <= maxNameBytes
}
