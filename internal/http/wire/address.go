package wire

import (
	"bytes"
	"net/netip"
)

// ParseAddr parses an IPv4 or IPv6 address without brackets or zone. It accepts what
// netip.ParseAddr accepts, and does not allocate. An IPv4-mapped IPv6 address is not
// unmapped.
func ParseAddr(b []byte) (netip.Addr, bool) {
	var v4 [4]byte
	if parseIPv4(v4[:], b) {
		return netip.AddrFrom4(v4), true
	}
	return parseIPv6(b)
}

// parseIPv6 parses eight groups, of which "::" replaces one or more (RFC 4291
// section 2.2).
func parseIPv6(b []byte) (netip.Addr, bool) {
	var ip, end [16]byte
	left, right, short := bytes.Cut(b, []byte("::"))
	n, ok := parseGroups(&ip, left, !short)
	if !short {
		return netip.AddrFrom16(ip), ok && n == len(ip)
	}
	m, also := parseGroups(&end, right, true)
	if !ok || !also || n+m > len(ip)-2 {
		return netip.Addr{}, false
	}
	copy(ip[len(ip)-m:], end[:m])
	return netip.AddrFrom16(ip), true
}

// parseGroups parses groups into ip and returns how many bytes it wrote. Last says
// that the address ends with these groups: the last two may then be an IPv4
// address.
func parseGroups(ip *[16]byte, b []byte, last bool) (n int, ok bool) {
	for more := len(b) > 0; more; {
		var group []byte
		group, b, more = bytes.Cut(b, []byte(":"))
		value, hex := hexGroup(group)
		switch {
		case hex && n+2 <= len(ip):
			ip[n], ip[n+1] = byte(value>>8), byte(value)
			n += 2
		case last && !more && n+4 <= len(ip) && parseIPv4(ip[n:n+4], group):
			n += 4
		default:
			return 0, false
		}
	}
	return n, true
}

// hexGroup parses 1 to 4 hexadecimal digits.
func hexGroup(b []byte) (value uint16, ok bool) {
	for _, c := range b {
		digit := Unhex(c)
		if digit == 0xff {
			return 0, false
		}
		value = value<<4 | uint16(digit)
	}
	return value, 1 <= len(b) && len(b) <= 4
}

// parseIPv4 parses four decimal numbers up to 255, without leading zeros, into ip.
func parseIPv4(ip, b []byte) bool {
	for i := range ip {
		number, rest, more := bytes.Cut(b, []byte("."))
		value, ok := octet(number)
		if !ok || more != (i < len(ip)-1) {
			return false
		}
		ip[i], b = value, rest
	}
	return true
}

func octet(b []byte) (value byte, ok bool) {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || len(b) > 3 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return byte(n), len(b) > 0 && n <= 255 && (b[0] != '0' || len(b) == 1)
}
