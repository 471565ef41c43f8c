package admin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// host is a Host field value taken apart and in normal form: lower case, no
// trailing dot, IP addresses as netip writes them.
type host struct {
	name string
	port string // "": none
}

// parseHost takes a Host field value apart (RFC 9110 section 7.2). It is
// stricter than a resolver on purpose: "127.1" or an IPv6 address without
// brackets is no Host that a browser sends.
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
		if rest[0] != ':' || !digits(rest[1:]) {
			return host{}, false
		}
		h.port = rest[1:]
	}
	h.name = normal(name)
	return h, h.name != ""
}

// digits reports whether s has no byte but digits; RFC 3986 section 3.2.3
// allows a port of none at all.
func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func normal(name string) string {
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

// addressHost returns the host that a listen address stands for, and false if
// it stands for none: a socket, or every interface.
func addressHost(address string) (h host, ok bool, err error) {
	if address == "" || strings.HasPrefix(address, "unix:") {
		return host{}, false, nil
	}
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return host{}, false, fmt.Errorf("address %q: want HOST:PORT or unix:PATH", address)
	}
	h.name = normal(name)
	if addr, err := netip.ParseAddr(h.name); h.name == "" || err == nil && addr.IsUnspecified() {
		return host{}, false, nil
	}
	return h, true, nil
}

// acceptedHosts returns the names of the listener; without a port they hold for
// every port.
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
			errs = append(errs, fmt.Errorf("host %q: want a name or an address, with a port or without", s))
			continue
		}
		out = append(out, h)
	}
	return out, errors.Join(errs...)
}

// parseEntry is parseHost for a setting. IPv6 needs no brackets there, and a
// name that no Host can ever have, such as a wildcard, is refused.
func parseEntry(s string) (host, bool) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return host{name: normal(addr.String())}, true
	}
	h, ok := parseHost(s)
	if _, err := netip.ParseAddr(h.name); err == nil {
		return h, ok
	}
	return h, ok && strings.Trim(h.name, "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}
