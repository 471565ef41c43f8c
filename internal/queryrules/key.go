package queryrules

import (
	"bytes"

	"edgeproxy/internal/wire"
)

// AppendKey appends the URL key of all targets that mean the same as target by the rule, and
// returns it, too. In dst other bytes may come before it. It allocates nothing when dst has
// room.
func (r *Rule) AppendKey(dst []byte, scheme string, host, target []byte) (extended, key []byte) {
	path, query, _ := bytes.Cut(target, []byte("?"))
	n := len(dst)
	dst = r.AppendQuery(dst, query)
	query, n = dst[n:], len(dst)
	dst = wire.AppendSearchKey(dst, scheme, host, path, r.Number, query)
	return dst, dst[n:]
}

// AppendTarget appends the one target that stands for all whose queries mean the same as
// that of target.
func (r *Rule) AppendTarget(dst, target []byte) []byte {
	path, query, _ := bytes.Cut(target, []byte("?"))
	dst = append(dst, path...)
	n := len(dst)
	dst = r.AppendQuery(append(dst, '?'), query)
	if len(dst) == n+1 { // nothing is left that matters
		dst = dst[:n]
	}
	return dst
}

// PathKey returns what the keys by rules begin with whose targets begin with target. Ok is
// false where target ends before its query.
func PathKey(scheme string, host, target []byte) (key []byte, ok bool) {
	path, _, ok := bytes.Cut(target, []byte("?"))
	if !ok {
		return nil, false
	}
	return wire.AppendSearchPath(nil, scheme, host, path), true
}
