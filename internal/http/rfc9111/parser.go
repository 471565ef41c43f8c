package rfc9111

import "edgeproxy/internal/http/field"

// directive is one member of a Cache-Control list (RFC 9111 section 5.2).
type directive[T text] struct {
	name   T
	arg    T    // the argument, without its quotes; quoted pairs are left in
	hasArg bool // an empty quoted string is an argument
	quoted bool
	sure   bool // false: found in a member or line that breaks the grammar
}

// bare reports whether x is well-formed and has no argument. Only such a directive
// may widen the use of a response.
func (x *directive[T]) bare() bool { return x.sure && !x.hasArg }

// parser iterates over the directives of one Cache-Control field line.
//
// Commas split the line except inside a quoted string, which may only come right
// after a member's first '='. A mistake in the grammar must neither hide a
// directive nor add one that widens:
//
//   - A malformed member ("private; max-age=60", "max-age =5") is read word by
//     word, and no word of it is sure.
//   - After a quote in the wrong place, or one that is never closed, nobody can
//     tell what is inside quotes. From there on every comma of the line splits, and
//     no directive is sure.
//
// A directive that is not sure may restrict the use of a response, but never widen it.
type parser[T text] struct {
	rest  T    // rest of the line
	words T    // the rest of a member that is read word by word
	doubt bool // a quote was misplaced or never closed
	at    directive[T]
}

// next moves to the next directive and reports whether there is one.
func (p *parser[T]) next() bool {
	for {
		if p.nextWord() {
			return true
		}
		if len(p.rest) == 0 {
			return false
		}
		member := trim(p.cut())
		if p.read(member) {
			return true
		}
		p.words = member
	}
}

// cut removes and returns the first member of the line, up to its comma.
func (p *parser[T]) cut() T {
	s, equals := p.rest, -2 // equals is the index of the first '='; -2: none yet
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			p.rest = s[i+1:]
			return s[:i]
		case '=':
			if equals < 0 {
				equals = i
			}
		case '"':
			if !p.doubt {
				i = p.skipQuoted(i, equals == i-1)
			}
		}
	}
	p.rest = s[len(s):]
	return s
}

// skipQuoted returns the index of the quote that closes the one at open. If a quote
// is not allowed there, or is never closed, it sets doubt and returns open. After
// that no quote is looked for, so a line is searched in vain at most once.
func (p *parser[T]) skipQuoted(open int, allowed bool) int {
	if allowed {
		if end := closingQuote(p.rest, open); end < len(p.rest) {
			return end
		}
	}
	p.doubt = true
	return open
}

// read makes member the current directive and reports true, if member follows the grammar.
func (p *parser[T]) read(member T) bool {
	equals := index(member, '=')
	name := member[:equals]
	if !field.ValidName(name) {
		return false
	}
	p.at = directive[T]{name: name, sure: !p.doubt}
	if equals == len(member) {
		return true
	}
	p.at.arg, p.at.hasArg = member[equals+1:], true
	if field.ValidName(p.at.arg) {
		return true
	}
	if n := len(p.at.arg); n > 0 && p.at.arg[0] == '"' && closingQuote(p.at.arg, 0) == n-1 {
		p.at.arg, p.at.quoted = p.at.arg[1:n-1], true
		return true
	}
	return false
}

// nextWord makes the next run of token characters of a malformed member the current
// directive.
func (p *parser[T]) nextWord() bool {
	s, i := p.words, 0
	for i < len(s) && !field.ValidName(s[i:i+1]) {
		i++
	}
	j := i
	for j < len(s) && field.ValidName(s[j:j+1]) {
		j++
	}
	p.words = s[j:]
	p.at = directive[T]{name: s[i:j]}
	return i < j
}

// closingQuote returns the index of the quote that closes the one at open (RFC 9110
// section 5.6.4), len(s) if it is never closed.
func closingQuote[T text](s T, open int) int {
	for i := open + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}
