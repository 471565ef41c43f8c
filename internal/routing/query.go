package routing

import "bytes"

// TakesQuery reports whether the conditions of m on query parameters hold. query is as it was received,
// without its question mark. Values are decoded into room, which grows to the length of the longest one;
// with enough room TakesQuery allocates nothing. For each condition the work is linear in the length of
// query.
//
// Parameters are separated by ampersands, and a name ends at the first "=". internal/cachekey, whose rules
// may drop parameters, reads them in the same way. An empty parameter is none. Names and values are
// compared decoded: "%" and two hexadecimal digits are one byte, "+" is a space, any other byte is itself.
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
	for len(query) > 0 {
		piece := query
		if i := bytes.IndexByte(query, '&'); i >= 0 {
			piece, query = query[:i], query[i+1:]
		} else {
			query = nil
		}
		name, value := piece, []byte(nil)
		if i := bytes.IndexByte(piece, '='); i >= 0 {
			name, value = piece[:i], piece[i+1:]
		}
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
		c, n := next(name[at:])
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
	out := (*room)[:0]
	for at := 0; at < len(value); {
		c, n := next(value[at:])
		out = append(out, c)
		at += n
	}
	*room = out
	return out
}

// next returns the byte that rest, which is not empty, begins with when it is decoded, and how many
// of rest stand for it.
func next(rest []byte) (c byte, n int) {
	switch c = rest[0]; {
	case c == '+':
		return ' ', 1
	case c == '%' && len(rest) > 2:
		if high, low := unhex(rest[1]), unhex(rest[2]); high < 16 && low < 16 {
			return high<<4 | low, 3
		}
	}
	return c, 1
}

// unhex returns the value of a hexadecimal digit, 16 for any other byte.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
