package queryrules

import (
	"bytes"

	"edgeproxy/internal/http/wire"
)

// AppendKey appends to dst the URL key of all targets that mean the same as target by the
// rule, and returns the key as well. It does not allocate if dst has room.
func (r *Rule) AppendKey(dst []byte, scheme string, host, target []byte) (extended, key []byte) {
	path, query, _ := bytes.Cut(target, []byte("?"))
	n := len(dst)
	dst = r.AppendQuery(dst, query)
	query, n = dst[n:], len(dst)
	dst = wire.AppendSearchKey(dst, scheme, host, path, r.Number, query)
	return dst, dst[n:]
}

// AppendTarget appends the target that represents all targets whose queries mean the same
// as that of target.
func (r *Rule) AppendTarget(dst, target []byte) []byte {
	path, query, _ := bytes.Cut(target, []byte("?"))
	dst = append(dst, path...)
	n := len(dst)
	dst = r.AppendQuery(append(dst, '?'), query)
	if len(dst) == n+1 { // the query has no significant part
		dst = dst[:n]
	}
	return dst
}

// PathKey returns the common beginning of the keys by rules whose targets begin with target.
// ok is false if target ends before its query.
func PathKey(scheme string, host, target []byte) (key []byte, ok bool) {
	path, _, ok := bytes.Cut(target, []byte("?"))
	if !ok {
		return nil, false
	}
	return wire.AppendSearchPath(nil, scheme, host, path), true
}
