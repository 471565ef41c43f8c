package forwarded

import (
	"bytes"
	"net/netip"
	"slices"

	"edgeproxy/internal/http/wire"
)

// XForwardedFor appends to chain, which holds the address of the trusted peer, the
// addresses that lines of X-Forwarded-For tell: nearest first, so the last of the
// chain is the client. It appends no more than chain has room for.
func (t *Trusted) XForwardedFor(chain []netip.Addr, lines [][]byte) []netip.Addr {
	for _, line := range slices.Backward(lines) {
		for rest, more := line, true; more; {
			var member []byte
			rest, member, more = cutLast(rest)
			addr, ok := parseHop(member)
			if !ok || len(chain) == cap(chain) {
				return chain
			}
			chain = append(chain, addr)
			if !t.Holds(addr) {
				return chain
			}
		}
	}
	return chain
}

// Last returns the last member of lines of X-Forwarded-Proto or X-Forwarded-Host, the
// one that the peer wrote or let through; nil where there is none. Proxies replace
// these fields, as a rule, and do not append to them.
func Last(lines [][]byte) []byte {
	if len(lines) == 0 {
		return nil
	}
	_, member, _ := cutLast(lines[len(lines)-1])
	return member
}

// cutLast separates the last member of a list; more says that there are others.
func cutLast(list []byte) (rest, member []byte, more bool) {
	i := bytes.LastIndexByte(list, ',')
	return list[:max(i, 0)], bytes.Trim(list[i+1:], " \t"), i >= 0
}

// parseHop parses an address as proxies write it into X-Forwarded-For: with or
// without port, IPv6 with or without brackets.
func parseHop(b []byte) (netip.Addr, bool) {
	if addr, ok := wire.ParseAddr(b); ok {
		return addr.Unmap(), true
	}
	return parseNode(b)
}

// parseNode parses IPv4 [":" port] and "[" IPv6 "]" [":" port], the nodes of RFC 7239
// section 6 that are addresses.
func parseNode(b []byte) (netip.Addr, bool) {
	name, port := b, []byte(nil)
	if end := bytes.LastIndexByte(b, ':'); end >= 0 && bytes.IndexByte(b[end:], ']') < 0 {
		name, port = b[:end], b[end+1:]
		if !validPort(port) {
			return netip.Addr{}, false
		}
	}
	inside, v6 := bytes.CutPrefix(name, []byte("["))
	if v6 {
		var closed bool
		if inside, closed = bytes.CutSuffix(inside, []byte("]")); !closed {
			return netip.Addr{}, false
		}
	}
	addr, ok := wire.ParseAddr(inside)
	if !ok || addr.Is6() != v6 {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

// validPort takes 1 to 5 digits, or a port that a proxy keeps to itself (RFC 7239
// section 6.3).
func validPort(port []byte) bool {
	hidden, obfuscated := bytes.CutPrefix(port, []byte("_"))
	if obfuscated {
		return validHidden(hidden)
	}
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
	}
	return 1 <= len(port) && len(port) <= 5
}

func validHidden(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return len(b) > 0
}
