package cachekey

import (
	"bytes"
	"cmp"
	"strings"

	"edgeproxy/internal/http/wire"
)

// patterns are names of parameters, and prefixes of names.
type patterns struct {
	exact    map[string]bool
	prefixes []string
}

func newPatterns(names []string) patterns {
	p := patterns{exact: map[string]bool{}}
	for _, name := range names {
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			p.prefixes = append(p.prefixes, prefix)
		} else {
			p.exact[name] = true
		}
	}
	return p
}

// match reports whether name, as received, matches a pattern.
func (p *patterns) match(name []byte) bool {
	if isPlain(name) {
		return p.matchDecoded(name)
	}
	// One byte more than any pattern has: a name that does not fit is longer than every
	// pattern, and its beginning is enough for prefixes.
	var room [maxNameBytes + 1]byte
	n := 0
	for d := (decoder{rest: name}); n < len(room); n++ {
		c, ok := d.next()
		if !ok {
			break
		}
		room[n] = c
	}
	return p.matchDecoded(room[:n])
}

func (p *patterns) matchDecoded(name []byte) bool {
	if p.exact[string(name)] {
		return true
	}
	for _, prefix := range p.prefixes {
		if len(prefix) <= len(name) && string(name[:len(prefix)]) == prefix {
			return true
		}
	}
	return false
}

// decoder reads a name as an origin does (wire.NextQueryByte).
type decoder struct{ rest []byte }

func (d *decoder) next() (c byte, ok bool) {
	if len(d.rest) == 0 {
		return 0, false
	}
	c, n := d.rest[0], 1
	if !wire.PlainQueryByte(c) {
		c, n = wire.NextQueryByte(d.rest)
	}
	d.rest = d.rest[n:]
	return c, true
}

// compareDecoded orders names by what they decode to.
func compareDecoded(a, b []byte) int {
	if isPlain(a) && isPlain(b) {
		return bytes.Compare(a, b)
	}
	x, y := decoder{rest: a}, decoder{rest: b}
	for {
		c, more := x.next()
		d, moreToo := y.next()
		switch {
		case !more && !moreToo:
			return 0
		case !more:
			return -1
		case !moreToo:
			return 1
		case c != d:
			return cmp.Compare(c, d)
		}
	}
}

func isPlain(name []byte) bool {
	return bytes.IndexByte(name, '%') < 0 && bytes.IndexByte(name, '+') < 0
}
