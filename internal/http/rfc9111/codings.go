package rfc9111

import (
	"bytes"
	"strings"
)

// The content codings that Codings knows, as bits of a set.
const (
	codingZstd = 1 << iota
	codingBr
	codingGzip
	codingDcb
	codingDcz
	codingIdentity

	codingKnown      = codingZstd | codingBr | codingGzip
	codingDictionary = codingDcb | codingDcz
)

// codingWords are the names of the codings, in the order in which Codings writes them.
var codingWords = [...]string{"zstd", "br", "gzip", "dcb", "dcz", "identity"}

const identityRefused = "identity;q=0"

// foldedCodings has every value that Codings returns for lines that are not all empty.
// The first index is 1 if identity is refused, the second is the set of accepted
// codings.
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

// Codings returns the Accept-Encoding lines of a request as one normalized value (RFC
// 9110 section 12.5.3). It lists the accepted ones of zstd, br, gzip and identity, in
// this order and without weights. "identity;q=0" comes last if identity is refused. The
// result is nil if there is no line, and empty if all lines are empty.
//
// The result never accepts more than the client does. Other codings are left out, dcb and dcz among them, and
// so is a member that is malformed, or that another member refuses. "*" adds nothing
// unless identity is refused; then it stands for the codings that are not named. If
// no coding is left and identity is not refused, the result is "identity".
//
// The order of codings has no meaning, and few origins respect weights. Without both,
// browsers share variants, and a client cannot make many variants by other spellings. The
// caller must not write to the result. Codings allocates nothing.
func Codings(lines [][]byte) []byte { return normalizedCodings(lines, codingDictionary) }

// DictionaryCodings is Codings for a request whose Available-Dictionary names a dictionary (see Dictionary). It also lists
// dcb and dcz, behind gzip: content that is compressed with that dictionary (RFC 9842 sections 4 to 6). "*" never stands for them.
func DictionaryCodings(lines [][]byte) []byte { return normalizedCodings(lines, 0) }

// normalizedCodings is Codings, without those of the set without.
func normalizedCodings(lines [][]byte, without int) []byte {
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
	c.accepted &^= without
	return c.folded()
}

// Dictionary reports whether value is that of an Available-Dictionary: the SHA-256 of a dictionary as a structured field of
// bytes (RFC 9842 section 2.2, RFC 9651 section 3.3.5).
func Dictionary(value []byte) bool {
	const length = len(":") + 43 + len("=:") // 32 bytes in base64
	if len(value) != length || value[0] != ':' || value[length-2] != '=' || value[length-1] != ':' {
		return false
	}
	for _, c := range value[1 : length-2] {
		if !isBase64(c) {
			return false
		}
	}
	return true
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// AcceptsCodings reports whether a client whose request has these lines of Accept-Encoding accepts content with the codings of a
// Content-Encoding (RFC 9110 section 12.5.3). Without a line it accepts any. A coding that one member accepts and another
// refuses is refused. A word that is no registered coding can be refused by nobody: what it means is between the origin and its
// clients. AcceptsCodings does not allocate.
func AcceptsCodings(lines [][]byte, contentEncoding string) bool {
	if len(lines) == 0 {
		return true
	}
	for coding, rest := "", contentEncoding; len(rest) > 0; {
		if coding, rest = cutMember(rest); !isRegistered(coding) || equalFold(coding, "identity") {
			continue
		}
		if !acceptsCoding(lines, coding) {
			return false
		}
	}
	return true
}

// isRegistered reports whether coding is in the registry of content codings (RFC 9110 section 16.6.1).
func isRegistered(coding string) bool {
	if codingOf(coding) != 0 {
		return true
	}
	for _, name := range [...]string{"deflate", "compress", "x-compress", "aes128gcm", "exi", "pack200-gzip"} {
		if equalFold(coding, name) {
			return true
		}
	}
	return false
}

// acceptsCoding is AcceptsCodings for one coding.
func acceptsCoding(lines [][]byte, coding string) bool {
	listed, others := false, false
	for _, line := range lines {
		for rest := line; len(rest) > 0; {
			var member []byte
			member, rest = cutMember(rest)
			name, accepted, ok := readCoding(member)
			switch {
			case !ok:
			case len(name) == 1 && name[0] == '*':
				others = accepted
			case !sameCoding(name, coding):
			case !accepted:
				return false
			default:
				listed = true
			}
		}
	}
	return listed || others
}

// sameCoding reports whether two names are those of one coding. x-gzip is gzip.
func sameCoding(name []byte, coding string) bool {
	if c := codingOf(name); c != 0 {
		return c == codingOf(coding)
	}
	return strings.EqualFold(string(name), coding)
}

// WithoutCodings returns a result of Codings without its content codings: "identity", or "identity;q=0" if identity is
// refused. An empty or nil one stays as it is. The caller must not write to the result.
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

// codings collects the members of Accept-Encoding.
type codings struct {
	accepted, refused int  // sets
	any, none         bool // "*" is accepted, is refused
	members           bool // there is a member that is not empty
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

// codingOf returns the set with this one coding, the empty set for a coding that
// Codings does not know. x-gzip is gzip (RFC 9110 section 8.4.1.3).
func codingOf[T text](name T) int {
	switch {
	case equalFold(name, "gzip"), equalFold(name, "x-gzip"):
		return codingGzip
	case equalFold(name, "br"):
		return codingBr
	case equalFold(name, "zstd"):
		return codingZstd
	case equalFold(name, "dcb"):
		return codingDcb
	case equalFold(name, "dcz"):
		return codingDcz
	case equalFold(name, "identity"):
		return codingIdentity
	}
	return 0
}

// readCoding parses one member: a coding and an optional weight (RFC 9110 section 12.4.2).
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

// readWeight parses a qvalue. Above says that it is greater than 0.
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
