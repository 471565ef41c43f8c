package admin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// host is a parsed Host field value in normal form: lower case, no trailing dot,
// IP addresses as netip writes them.
type host struct {
	name string
	port string // "": none
}

// parseHost parses a Host field value (RFC 9110 section 7.2). It is stricter than
// a resolver on purpose: no browser sends "127.1", or an IPv6 address without
// brackets, as Host.
func parseHost(s string) (h host, ok bool) {
	name, rest := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return host{}, false
		}
		name, rest = s[1:end], s[end+1:]
		if addr, err := netip.ParseAddr(name); err != nil || !addr.Is6() {
			return host{}, false
		}
	} else if colon := strings.IndexByte(s, ':'); colon >= 0 {
		name, rest = s[:colon], s[colon:]
	}
	if rest != "" {
		if rest[0] != ':' || !isDigits(rest[1:]) {
			return host{}, false
		}
		h.port = rest[1:]
	}
	h.name = normalName(name)
	return h, h.name != ""
}

// isDigits reports whether s consists of digits only. It may be empty: RFC 3986
// section 3.2.3 allows an empty port.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func normalName(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	return name
}

func (h host) loopback() bool {
	if h.name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(h.name)
	return err == nil && addr.IsLoopback()
}

// addressHost returns the host of a listen address, and false if it has none: a
// socket, or all interfaces.
func addressHost(address string) (h host, ok bool, err error) {
	if address == "" || strings.HasPrefix(address, "unix:") {
		return host{}, false, nil
	}
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return host{}, false, fmt.Errorf("address %q: must be HOST:PORT or unix:PATH", address)
	}
	h.name = normalName(name)
	if addr, err := netip.ParseAddr(h.name); h.name == "" || err == nil && addr.IsUnspecified() {
		return host{}, false, nil
	}
	return h, true, nil
}

// acceptedHosts returns the names of the listener. A name without a port is
// accepted with any port.
func acceptedHosts(address string, hosts []string) ([]host, error) {
	var out []host
	own, ok, err := addressHost(address)
	if err != nil {
		return nil, err
	}
	if ok {
		out = append(out, own)
	}
	var errs []error
	for _, s := range hosts {
		h, ok := parseEntry(s)
		if !ok {
			errs = append(errs, fmt.Errorf("host %q: must be a name or an address, with a port or without", s))
			continue
		}
		out = append(out, h)
	}
	return out, errors.Join(errs...)
}

// parseEntry is parseHost for a setting. IPv6 needs no brackets there. A name that
// no Host can have, such as a wildcard, is refused.
func parseEntry(s string) (host, bool) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return host{name: normalName(addr.String())}, true
	}
	h, ok := parseHost(s)
	if _, err := netip.ParseAddr(h.name); err == nil {
		return h, ok
	}
	return h, ok && strings.Trim(h.name, "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}
