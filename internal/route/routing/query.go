package routing

import (
	"bytes"

	"edgeproxy/internal/http/wire"
)

// TakesQuery reports whether the conditions of m on query parameters hold. query is as it was received,
// without its question mark. Values are decoded into room, which grows to the length of the longest one;
// with enough room TakesQuery allocates nothing. For each condition the work is linear in the length of
// query.
//
// Parameters are separated by ampersands, and a name ends at the first "=". internal/route/cachekey, whose rules
// may drop parameters, reads them in the same way. An empty parameter is none. Names and values are
// compared decoded (wire.NextQueryByte).
// If a name comes several times, one of its values has to match. So a query without some of its
// parameters never matches if the whole query does not.
func (m *Match) TakesQuery(query []byte, room *[]byte) bool {
	for i := range m.Query {
		if !m.Query[i].holdsIn(query, room) {
			return false
		}
	}
	return true
}

// holdsIn reports whether a parameter of query has the name and the value of m.
func (m *ValueMatch) holdsIn(query []byte, room *[]byte) bool {
	for piece := range bytes.SplitSeq(query, []byte("&")) {
		name, value, _ := bytes.Cut(piece, []byte("="))
		if len(piece) > 0 && decodesTo(name, m.Name) && m.holds(decoded(value, room)) {
			return true
		}
	}
	return false
}

// decodesTo reports whether name, as received, is want.
func decodesTo(name []byte, want string) bool {
	if len(name) < len(want) { // decoding makes nothing longer
		return false
	}
	at := 0
	for i := range len(want) {
		if at == len(name) {
			return false
		}
		c, n := wire.NextQueryByte(name[at:])
		if c != want[i] {
			return false
		}
		at += n
	}
	return at == len(name)
}

// decoded returns value, which is as received, decoded: value itself where that is the same, else what
// it has put into room.
func decoded(value []byte, room *[]byte) []byte {
	if bytes.IndexByte(value, '%') < 0 && bytes.IndexByte(value, '+') < 0 {
		return value
	}
	*room = wire.AppendQueryDecoded((*room)[:0], value)
	return *room
}
