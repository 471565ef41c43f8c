package proxy

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/fieldrules"
)

// This file decides which of a client's fields reach the origin, and in which form. Keys are
// made of the same lines. So requests that may share a stored response send the origin equal
// lines for every field that selects it.

// clientLines returns the lines of a field as the client sent them. It returns none for a hop-by-hop
// field and for one that Connection names. They are valid until the lines of a field are asked for again.
// It allocates nothing once x.raw has room.
func (x *incoming) clientLines(name string) [][]byte {
	x.raw = x.raw[:0]
	if rfc9111.HopByHop(name) || x.asks.connectionNames && x.namedByConnection(name) {
		return nil
	}
	return x.fieldLines(name)
}

// forwardedLines returns the lines of the field with this canonical name as they are forwarded. They are
// valid until the lines of a field are asked for again. It allocates nothing once x.raw has room,
// unless the name has unusual characters.
func (x *routed) forwardedLines(name string) [][]byte {
	x.raw = x.raw[:0]
	if value := x.route.Request.Value(name); value != nil {
		x.raw = append(x.raw, value)
		return x.raw
	}
	if x.asks.connectionNames && x.namedByConnection(name) || x.notForwarded(name) {
		return nil
	}
	return x.normal(name, x.fieldLines(name))
}

// fieldLines returns the lines of a field as they came.
func (x *incoming) fieldLines(name string) [][]byte {
	x.raw = x.raw[:0]
	for i := range x.fields {
		if sameName(x.fields[i].Name, name) {
			x.raw = append(x.raw, x.fields[i].Value)
		}
	}
	return x.raw
}

// hasField reports whether the request came with the field, empty or not.
func (x *incoming) hasField(name string) bool {
	for i := range x.fields {
		if sameName(x.fields[i].Name, name) {
			return true
		}
	}
	return false
}

// normal returns the lines of a field in the form in which they are forwarded. Where the cache
// may not answer the request, that is the form in which they came. Otherwise Accept-Encoding and
// Accept-Language, by which many origins choose, get one spelling for each meaning, and several
// lines of a field are joined to one (RFC 9110 section 5.3). Cookie is no list and stays as it
// is.
func (x *routed) normal(name string, lines [][]byte) [][]byte {
	if !x.answerable || len(lines) == 0 || name == "Cookie" {
		return lines
	}
	switch name {
	case "Accept-Encoding":
		x.raw = append(x.raw[:0], x.codings(lines))
		return x.raw
	case "Accept-Language":
		var ok bool
		if x.folded, ok = rfc9111.AppendLanguages(x.folded[:0], lines, x.route.AnyLanguageOrder); ok {
			x.raw = append(x.raw[:0], x.folded)
			return x.raw
		}
	}
	if len(lines) > 1 {
		x.folded = x.folded[:0]
		for i, line := range lines {
			if i > 0 {
				x.folded = append(x.folded, ", "...)
			}
			x.folded = append(x.folded, line...)
		}
		x.raw = append(x.raw[:0], bytes.Trim(x.folded, " "))
	}
	return x.raw
}

// notForwarded reports whether the field of this canonical name never goes from a client to the
// origin. These are hop-by-hop fields, fields that internal/origin or the proxy writes itself,
// fields that a rule drops, and fields that would shape a response without being in its key,
// because origins believe them or mistake them for another. Fields that Connection names are not
// looked at here.
func (x *routed) notForwarded(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Accept-Language", "Cookie", "Origin", "User-Agent": // what most hits vary by
	case "Host": // every request has it
		return true
	default:
		usual := field.Hyphenated(name)
		if rfc9111.HopByHop(usual) || fieldrules.Framing(usual) || x.overrides(name, usual) || usual != name && x.unusual(name) {
			return true
		}
	}
	return x.route.Key.Imitates(name) || x.route.imitates(name) || x.route.Request.Drops(name)
}

// overrides reports whether the field of this canonical name, which origins may take for the usual
// one, contradicts the key or the
// connection: origins may take from it what the key or the connection says. A field that is
// keyed does not, nor does an X-Forwarded field of a trusted proxy. What a trusted proxy says
// reaches the origin in fields that the proxy writes itself; the other such fields may come from
// the clients of that proxy.
func (x *routed) overrides(name, usual string) bool {
	switch {
	case !forwarded.Overrides(usual):
		return false
	case fieldrules.AboutClient(usual):
		return true
	case x.route.Key.Reads(name):
		return false
	}
	return x.trusted == nil || usual == "X-Real-Ip" || strings.HasPrefix(usual, "X-Forwarded")
}

// unusual reports whether a name stays here for characters for which some origin takes it for another
// name. A route may let such names through, and its rules may name one.
func (x *routed) unusual(name string) bool {
	return !x.route.UnusualNames && !x.route.Key.Reads(name)
}

// endToEndFields copies the fields to forward, in order, as keys have them. Of the client's fields it leaves out
// those that drop names. The strings share memory with each other.
func (x *routed) endToEndFields(drop func(name string) bool) field.List {
	list := x.appendFields(nil, x.copied(nil, nil, netip.Addr{}).fields, drop)
	return append(list, x.route.Request.Set()...)
}

// mostAdded is how many fields originRequest adds.
const mostAdded = 5

// appendFields appends to list what endToEndFields returns of the client's, where text has names and values of all fields, one
// after the other. The list has room for those that originRequest adds.
func (x *routed) appendFields(list field.List, text string, drop func(name string) bool) field.List {
	named := x.connectionNames()
	list = slices.Grow(list, len(x.fields)+len(x.route.Request.Set())+mostAdded)
	for i := range x.fields {
		f := &x.fields[i]
		value := text[len(f.Name) : len(f.Name)+len(f.Value)]
		name := field.Canonical(text[:len(f.Name)])
		text = text[len(f.Name)+len(f.Value):]
		switch {
		case named[name], x.notForwarded(name), drop(name):
		case !x.answerable || name == "Cookie":
			list.Add(name, value)
		case !list.Has(name): // or all its lines are there
			for _, line := range x.normal(name, x.fieldLines(name)) {
				if string(line) != value {
					value = string(line)
				}
				list.Add(name, value)
			}
		}
	}
	return list
}

// copies is what a request to the origin is made of. It is one string, in parts.
type copies struct {
	fields       string // names and values of all fields, one after the other
	target, host string
	peer         string // an address; "" where there is none
}

// copied copies what a request to the origin is made of.
func (x *incoming) copied(target, host []byte, peer netip.Addr) (t copies) {
	var room [len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255%interface]")]byte
	address := peer.AppendTo(room[:0])
	size := 0
	for i := range x.fields {
		size += len(x.fields[i].Name) + len(x.fields[i].Value)
	}
	var b strings.Builder
	b.Grow(size + len(target) + len(host) + len(address))
	for i := range x.fields {
		b.Write(x.fields[i].Name)
		b.Write(x.fields[i].Value)
	}
	b.Write(target)
	b.Write(host)
	b.Write(address)
	rest := b.String()
	t.fields, rest = rest[:size], rest[size:]
	t.target, rest = rest[:len(target)], rest[len(target):]
	t.host, t.peer = rest[:len(host)], rest[len(host):]
	return t
}

// connectionNames returns the canonical names of the fields that Connection makes hop-by-hop.
// They are copies, so they stay valid when the front's bytes are gone.
func (x *incoming) connectionNames() map[string]bool {
	if !x.asks.connectionNames {
		return nil
	}
	named := map[string]bool{}
	for i := range x.fields {
		if sameName(x.fields[i].Name, "Connection") {
			for option := range rfc9111.ConnectionOptions(x.fields[i].Value) {
				named[field.Canonical(string(option))] = true
			}
		}
	}
	return named
}

func (x *incoming) namedByConnection(name string) bool {
	for i := range x.fields {
		if sameName(x.fields[i].Name, "Connection") {
			for option := range rfc9111.ConnectionOptions(x.fields[i].Value) {
				if sameName(option, name) {
					return true
				}
			}
		}
	}
	return false
}

// sameName reports whether a field has this name, without regard to case.
func sameName(k []byte, name string) bool {
	if len(k) != len(name) {
		return false
	}
	for i, c := range k {
		if lower(c) != lower(name[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// appendVariant appends to dst, a URL's key, what the fields of these names add to it.
func (x *routed) appendVariant(dst []byte, names []string) []byte {
	for _, name := range names {
		dst = rfc9111.AppendVariantField(dst, name, x.forwardedLines(name))
	}
	return dst
}
