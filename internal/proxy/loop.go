package proxy

import (
	"bytes"
	"strings"
)

const headerCDNLoop = "Cdn-Loop" // canonical

// maxPassed is the most members that Via or CDN-Loop may have, so the most proxies that a
// request may have passed. It ends a loop through a proxy that drops CDN-Loop.
const maxPassed = 20

// loops reports whether the request has passed this process before (RFC 8586), or too many
// proxies.
//
// It looks for the id that this process took at its start, anywhere in the field. Two nodes may
// have the same name and stand behind each other, and an open quote that a client wrote could
// hide a member from a parser. The id is random, and only origins see it.
func (p *Proxy) loops(x *exchange) bool {
	if x.seen.loop {
		lines := x.fieldLines(headerCDNLoop)
		for _, line := range lines {
			if bytes.Contains(line, p.instance) {
				return true
			}
		}
		if members(lines) > maxPassed {
			return true
		}
	}
	return x.seen.via && members(x.fieldLines("Via")) > maxPassed
}

// members counts the members of a list by its commas. It counts commas in comments and quoted
// strings, too.
func members(lines [][]byte) int {
	n := 0
	for _, line := range lines {
		n += bytes.Count(line, []byte(",")) + 1
	}
	return n
}

// forwardedList returns the field called name as it is forwarded: the client's members as they came,
// then our own (RFC 9110 section 7.6.3, RFC 8586 section 2). Connection cannot remove it.
func (x *exchange) forwardedList(name, own string) string {
	lines := x.fieldLines(name)
	if len(lines) == 0 {
		return own
	}
	var b strings.Builder
	for _, line := range lines {
		if len(line) > 0 {
			b.Write(line)
			b.WriteString(", ")
		}
	}
	b.WriteString(own)
	return b.String()
}
