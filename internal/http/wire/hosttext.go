package wire

import (
	"net/netip"
	"strconv"
	"strings"
)

// ParseHost splits HOST[:PORT] as an operator writes it. The host is in lower case, without a trailing dot and
// with the brackets of an IPv6 address. The port is 1 to 65535, or 0 if there is none.
func ParseHost(text string) (host string, port int, ok bool) {
	host = text
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		if port, ok = ParsePort(text[i+1:]); !ok || port == 0 {
			return "", 0, false
		}
		host = text[:i]
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if inside, bracket := strings.CutPrefix(host, "["); bracket {
		inside, closed := strings.CutSuffix(inside, "]")
		addr, err := netip.ParseAddr(inside)
		return host, port, closed && err == nil && addr.Is6() && addr.Zone() == ""
	}
	return host, port, ValidName(host)
}

// ParsePort reads 0 to 65535 in decimal digits, without leading zeros.
func ParsePort(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil && strconv.FormatUint(n, 10) == text
}

// ValidName reports whether host is a name (RFC 1123 section 2.1, and '_', which
// service names have) or an IPv4 address, in lower case.
func ValidName(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if !validLabel(label) {
			return false
		}
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		_, err := netip.ParseAddr(host) // no top level domain is a number
		return err == nil
	}
	return true
}

func validLabel(label string) bool {
	return label != "" && len(label) <= 63 && strings.Trim(label, "-") == label &&
		!strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
		})
}
