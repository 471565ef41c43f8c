package forwarded

import (
	"bytes"
	"net/netip"
	"slices"

	"edgeproxy/internal/http/field"
)

// maxElements is how many elements of one line are looked at, from its end.
const maxElements = 16

// Forwarded is XForwardedFor for lines of Forwarded, whose elements also tell of
// scheme and host: what the outermost of the believed ones that has it says, nil
// where none does. Proto and host share the bytes of lines.
//
// A line that is malformed anywhere is not believed at all: a client may have opened
// a quoted string that the proxy behind it closed.
func (t *Trusted) Forwarded(chain []netip.Addr, lines [][]byte) (told []netip.Addr, proto, host []byte) {
	for _, line := range slices.Backward(lines) {
		var elements [maxElements]element
		n, ok := parseLine(&elements, line)
		if !ok {
			break
		}
		for k := n - 1; k >= max(n-maxElements, 0); k-- {
			e := &elements[k%maxElements]
			proto, host = orOwn(e.proto, proto), orOwn(e.host, host)
			addr, ok := parseNode(e.node)
			if !ok || len(chain) == cap(chain) {
				return chain, proto, host
			}
			chain = append(chain, addr)
			if !t.Holds(addr) {
				return chain, proto, host
			}
		}
		if n > maxElements {
			break
		}
	}
	return chain, proto, host
}

func orOwn(outer, own []byte) []byte {
	if outer != nil {
		return outer
	}
	return own
}

// element is what one proxy wrote. A value with a backslash counts as empty: no
// address, scheme or host has one.
type element struct {
	node, by, proto, host []byte
}

// parseLine parses a line into the last of its elements, the n-th at n modulo their
// number, and returns how many there are. Empty ones do not count.
func parseLine(elements *[maxElements]element, line []byte) (n int, ok bool) {
	for more := true; more; {
		var e element
		var pairs int
		if pairs, line, more, ok = e.parse(line); !ok {
			return 0, false
		}
		if pairs > 0 {
			elements[n%maxElements] = e
			n++
		}
	}
	return n, true
}

// parse parses pairs up to a comma (RFC 7239 section 4) and returns what is behind
// it. White space is taken around the separators, which the RFC has none.
func (e *element) parse(b []byte) (pairs int, rest []byte, more, ok bool) {
	for {
		b = bytes.TrimLeft(b, " \t")
		switch {
		case len(b) == 0:
			return pairs, nil, false, true
		case b[0] == ',':
			return pairs, b[1:], true, true
		case b[0] == ';':
			b = b[1:]
			continue
		}
		name, value, behind, ok := cutPair(b)
		if !ok || !e.set(name, value) {
			return 0, nil, false, false
		}
		pairs++
		b = bytes.TrimLeft(behind, " \t")
		if len(b) > 0 && b[0] != ';' && b[0] != ',' {
			return 0, nil, false, false
		}
	}
}

// set notes a pair; one name may stand once in an element.
func (e *element) set(name, value []byte) bool {
	var at *[]byte
	switch {
	case bytes.EqualFold(name, []byte("for")):
		at = &e.node
	case bytes.EqualFold(name, []byte("by")):
		at = &e.by
	case bytes.EqualFold(name, []byte("proto")):
		at = &e.proto
	case bytes.EqualFold(name, []byte("host")):
		at = &e.host
	default:
		return true
	}
	if *at != nil {
		return false
	}
	*at = value
	return true
}

// cutPair parses token "=" ( token / quoted-string ). Value is not nil.
func cutPair(b []byte) (name, value, rest []byte, ok bool) {
	name, b, ok = bytes.Cut(b, []byte("="))
	if !ok || !field.ValidName(name) || len(b) == 0 {
		return nil, nil, nil, false
	}
	if b[0] == '"' {
		value, rest, ok = cutQuoted(b[1:])
		return name, value, rest, ok
	}
	end := bytes.IndexAny(b, ",; \t")
	if end < 0 {
		end = len(b)
	}
	return name, b[:end], b[end:], field.ValidName(b[:end])
}

// cutQuoted parses a quoted string behind its opening quote.
func cutQuoted(b []byte) (value, rest []byte, ok bool) {
	escaped := false
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			if escaped {
				return b[:0], b[i+1:], true
			}
			return b[:i], b[i+1:], true
		}
	}
	return nil, nil, false
}
