package rfc9111

import (
	"bytes"
	"strings"
)

// The codings that Accept-Encoding is folded to, as a set.
const (
	codingZstd = 1 << iota
	codingBr
	codingGzip
	codingIdentity

	codingKnown = codingZstd | codingBr | codingGzip
)

// codingWords are the members of a folded field, in their order.
var codingWords = [...]string{"zstd", "br", "gzip", "identity"}

const identityRefused = "identity;q=0"

// foldedCodings are the fields that Codings returns: by the set that is accepted, and by
// whether identity is refused.
var foldedCodings = func() (all [2][2 * codingIdentity][]byte) {
	for refused := range all {
		for set := range all[refused] {
			var words []string
			for i, word := range codingWords {
				if set&(1<<i) != 0 {
					words = append(words, word)
				}
			}
			switch {
			case refused == 1:
				words = append(words, identityRefused)
			case set == 0:
				words = append(words, "identity")
			}
			all[refused][set] = []byte(strings.Join(words, ", "))
		}
	}
	return all
}()

// Codings returns the Accept-Encoding that says in one form what the lines of a request
// say of the codings that are in use: those accepted of zstd, br, gzip and identity, in
// this order, without weights; "identity;q=0" at the end where identity is refused (RFC
// 9110 section 12.5.3). It is nil where there is no line, and empty where all are empty.
//
// What a client accepts never grows by it. Other codings are left out; so is a member
// that cannot be read, or that is refused elsewhere. A "*" asks for nothing in
// particular, so identity answers it; only where identity is refused does it stand for
// the codings that are not named.
//
// The order of codings means nothing, and weights are wishes that hardly an origin
// heeds: without both, browsers share variants, and the spellings that a client can think
// of are few. The result is not to be written to. Codings allocates nothing.
func Codings(lines [][]byte) []byte {
	if len(lines) == 0 {
		return nil
	}
	var c codings
	for _, line := range lines {
		for rest := line; len(rest) > 0; {
			var member []byte
			member, rest = cutMember(rest)
			c.add(member)
		}
	}
	return c.folded()
}

// WithoutCodings returns what Codings has folded as it is where no coding is wanted but that of the origin: identity, or that
// it is refused. It is not to be written to.
func WithoutCodings(folded []byte) []byte {
	refused := 0
	switch {
	case len(folded) == 0:
		return folded
	case bytes.HasSuffix(folded, []byte(identityRefused)):
		refused = 1
	}
	return foldedCodings[refused][0]
}

// codings are what the members of Accept-Encoding have said so far.
type codings struct {
	accepted, refused int // sets
	any, none         bool
	members           bool
}

func (c *codings) add(member []byte) {
	if len(member) == 0 {
		return
	}
	c.members = true
	name, accepted, ok := readCoding(member)
	switch {
	case !ok:
	case len(name) == 1 && name[0] == '*':
		c.any, c.none = c.any || accepted, c.none || !accepted
	case accepted:
		c.accepted |= codingOf(name)
	default:
		c.refused |= codingOf(name)
	}
}

func (c *codings) folded() []byte {
	if !c.members {
		return []byte{}
	}
	set, refused := c.accepted&^c.refused, 0
	if c.refused&codingIdentity != 0 || c.none && c.accepted&codingIdentity == 0 {
		refused = 1
		if c.any && !c.none {
			set |= codingKnown &^ c.refused
		}
	}
	return foldedCodings[refused][set]
}

// codingOf returns the set of the one coding, an empty one for those not in use. x-gzip
// is gzip (RFC 9110 section 8.4.1.3).
func codingOf(name []byte) int {
	switch {
	case equalFold(name, "gzip"), equalFold(name, "x-gzip"):
		return codingGzip
	case equalFold(name, "br"):
		return codingBr
	case equalFold(name, "zstd"):
		return codingZstd
	case equalFold(name, "identity"):
		return codingIdentity
	}
	return 0
}

// readCoding reads one member: a coding and perhaps its weight (RFC 9110 section 12.4.2).
func readCoding(member []byte) (name []byte, accepted, ok bool) {
	i := index(member, ';')
	name = trim(member[:i])
	if i == len(member) {
		return name, true, true
	}
	weight := trim(member[i+1:])
	if len(weight) < 3 || lower(weight[0]) != 'q' || weight[1] != '=' {
		return nil, false, false
	}
	accepted, ok = readWeight(weight[2:])
	return name, accepted, ok
}

// readWeight reads a qvalue and reports whether it is above 0.
func readWeight(q []byte) (above, ok bool) {
	const most = "0.000"
	if len(q) == 0 || len(q) > len(most) || q[0] != '0' && q[0] != '1' || len(q) > 1 && q[1] != '.' {
		return false, false
	}
	digits := string(q[min(2, len(q)):])
	if q[0] == '1' {
		return true, strings.Trim(digits, "0") == ""
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false, false
		}
		above = above || c != '0'
	}
	return above, true
}
