package trace

import (
	"bytes"
	"strings"
)

// hostFinder finds the host in the lines of a log in the combined format, which has none. Servers put it in front:
//
//	host client ident user [time] ...        Apache's vhost_combined, and nginx with $host first
//	client host ident user [time] ...
//
// Behind the combined fields, two proxies write what stands for a site there:
//
//	... "agent" length seconds [upstream] ...        ingress-nginx: namespace, service and port
//	... "agent" number "router" "server" 3ms         Traefik
type hostFinder struct {
	named bool // the log has hosts in front, so an address there is one too
}

// before returns the host in the text before the time, nil if there is none.
func (h *hostFinder) before(text []byte) []byte {
	first, rest := field(text)
	second, rest := field(rest)
	if len(second) == 0 || string(second) == "-" {
		return nil // a client and no identity, as everywhere
	}
	if isAddress(first) && isAddress(second) {
		if h.named {
			return hostName(first)
		}
		return nil
	}
	host := hostAmong(first, second, rest)
	if !isHost(host) {
		return nil
	}
	h.named = true
	return hostName(host)
}

// hostAmong returns which of the first two words of a line is the host, nil if neither is. One of them at most is an address.
func hostAmong(first, second, rest []byte) []byte {
	third, rest := field(rest)
	fourth, _ := field(rest)
	noIdent := string(third) == "-" && len(fourth) > 0
	switch {
	case isAddress(first):
		if noIdent || bytes.IndexByte(second, '.') >= 0 { // the identity of a client is no domain
			return second
		}
	case isAddress(second) || noIdent:
		return first
	}
	return nil
}

// hostAfter returns what stands for the host in the text behind the bytes, nil if nothing does.
func hostAfter(text []byte) []byte {
	if len(text) == 0 || text[len(text)-1] == '"' {
		return nil // nothing follows the agent, as in most logs
	}
	for range 2 { // referer and agent
		i := bytes.IndexByte(text, '"')
		if i < 0 || len(bytes.Trim(text[:i], " ")) > 0 {
			return nil
		}
		var ok bool
		if _, text, ok = cutQuoted(text[i+1:]); !ok {
			return nil
		}
	}
	number, rest := field(text)
	if !allDigits(number) {
		return nil
	}
	rest = bytes.TrimLeft(rest, " ")
	if len(rest) > 0 && rest[0] == '"' {
		return routerName(rest[1:])
	}
	return upstreamName(rest)
}

// upstreamName reads `seconds [name] ...`.
func upstreamName(text []byte) []byte {
	seconds, rest := field(text)
	whole, fraction, ok := bytes.Cut(seconds, []byte("."))
	if rest = bytes.TrimLeft(rest, " "); !ok || !allDigits(whole) || !allDigits(fraction) || len(rest) == 0 || rest[0] != '[' {
		return nil
	}
	name, _, ok := bytes.Cut(rest[1:], []byte("]"))
	if !ok {
		return nil
	}
	return hostName(name)
}

// routerName reads `name" "server" 3ms`.
func routerName(text []byte) []byte {
	name, rest, ok := cutQuoted(text)
	if rest = bytes.TrimLeft(rest, " "); !ok || len(rest) == 0 || rest[0] != '"' {
		return nil
	}
	_, rest, ok = cutQuoted(rest[1:])
	duration, _ := field(rest)
	if milliseconds, isTime := bytes.CutSuffix(duration, []byte("ms")); !ok || !isTime || !allDigits(milliseconds) {
		return nil
	}
	return hostName(name)
}

// isHost reports whether s looks like the name of a host, with a port or without: no time, number or list.
func isHost(s []byte) bool {
	name, port, ok := bytes.Cut(s, []byte(":"))
	if ok && !allDigits(port) {
		return false
	}
	letters := false
	for _, c := range name {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
		if !letter && strings.IndexByte("0123456789.-_", c) < 0 {
			return false
		}
		letters = letters || letter
	}
	return letters
}

// isAddress reports whether s looks like the address of a client: of IPv4 or IPv6, with a port or without, or nginx's word for a socket.
func isAddress(s []byte) bool {
	dots, colons := 0, 0
	for _, c := range s {
		switch {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c == '[' || c == ']' || isHex(c):
		default:
			return string(s) == "unix:"
		}
	}
	return colons > 1 || dots == 3 && s[len(s)-1] != '.' && s[len(s)-1] <= '9'
}
