package purgedialect

import (
	"fmt"
	"strings"
)

// This file reads regular expressions that stand for literal texts: ^, $, .*, groups and | are the only signs that it knows. A dot
// that stands alone is a dot, for programs do not escape those in paths and tags.

// sign is a part of a pattern.
type sign struct {
	kind signKind
	text string // the text of a literal
}

type signKind uint8

const (
	literal  signKind = iota
	begin             // ^
	end               // $
	anything          // .*
)

// sequence is one of the alternatives of a pattern.
type sequence []sign

const (
	// mostAlternatives bounds those of one pattern. A tag between separators, (^|,)x(,|$), is four.
	mostAlternatives = 1 << 13
	// deepest bounds groups within groups.
	deepest = 16
)

// patternReader reads a pattern from left to right.
type patternReader struct {
	text  string
	at    int
	depth int
	// words says that \b and \s may stand between words: they are nothing, and a space.
	words bool
}

// alternatives returns the alternatives that a pattern stands for. The error says which part of it is not understood.
func alternatives(pattern string, words bool) ([]sequence, error) {
	r := &patternReader{text: pattern, words: words}
	all, err := r.choice()
	if err == nil && r.at < len(pattern) {
		err = fmt.Errorf("%q at %d is not understood", pattern[r.at:r.at+1], r.at+1)
	}
	return all, err
}

// choice reads sequences with | between them.
func (r *patternReader) choice() (all []sequence, err error) {
	for {
		some, err := r.sequences()
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); len(all) > mostAlternatives {
			return nil, fmt.Errorf("more than %d alternatives", mostAlternatives)
		}
		if r.at == len(r.text) || r.text[r.at] != '|' {
			return all, nil
		}
		r.at++
	}
}

// sequences reads up to the next | or the end of a group. It returns several where a group on the way has alternatives.
func (r *patternReader) sequences() ([]sequence, error) {
	all := []sequence{nil}
	for r.at < len(r.text) && r.text[r.at] != '|' && r.text[r.at] != ')' {
		next, err := r.piece()
		if err != nil {
			return nil, err
		}
		if len(all)*len(next) > mostAlternatives {
			return nil, fmt.Errorf("more than %d alternatives", mostAlternatives)
		}
		all = product(all, next)
	}
	return all, nil
}

// product returns each of the first before each of the second.
func product(first, second []sequence) []sequence {
	out := make([]sequence, 0, len(first)*len(second))
	for _, a := range first {
		for _, b := range second {
			out = append(out, join(a, b))
		}
	}
	return out
}

// join returns a before b, with literals that touch as one.
func join(a, b sequence) sequence {
	out := append(sequence(nil), a...)
	for _, s := range b {
		if n := len(out); n > 0 && s.kind == literal && out[n-1].kind == literal {
			out[n-1].text += s.text
		} else {
			out = append(out, s)
		}
	}
	return out
}

// piece reads a sign, a group or a run of literal characters.
func (r *patternReader) piece() ([]sequence, error) {
	rest := r.text[r.at:]
	switch {
	case rest[0] == '(':
		return r.group()
	case rest[0] == '^':
		r.at++
		return []sequence{{{kind: begin}}}, nil
	case rest[0] == '$':
		r.at++
		return []sequence{{{kind: end}}}, nil
	case strings.HasPrefix(rest, ".*"):
		r.at += 2
		return []sequence{{{kind: anything}}}, nil
	case rest[0] == '\\':
		return r.escaped()
	case strings.IndexByte("*+?[]{}", rest[0]) >= 0:
		return nil, fmt.Errorf("%q at %d is not understood", rest[:1], r.at+1)
	}
	n := 1
	for n < len(rest) && strings.IndexByte(`()|^$.\*+?[]{}`, rest[n]) < 0 {
		n++
	}
	r.at += n
	return []sequence{{{kind: literal, text: rest[:n]}}}, nil
}

// group reads what is between ( and ).
func (r *patternReader) group() ([]sequence, error) {
	if r.depth++; r.depth > deepest {
		return nil, fmt.Errorf("more than %d groups within each other", deepest)
	}
	open := r.at
	r.at++
	if strings.HasPrefix(r.text[r.at:], "?:") {
		r.at += 2
	}
	all, err := r.choice()
	if err != nil {
		return nil, err
	}
	if r.at == len(r.text) {
		return nil, fmt.Errorf("%q at %d has no end", "(", open+1)
	}
	r.at++
	r.depth--
	return all, nil
}

// escaped reads a backslash and what it escapes: a sign, which is itself then.
func (r *patternReader) escaped() ([]sequence, error) {
	if r.at+1 == len(r.text) {
		return nil, fmt.Errorf("%q at the end is not understood", `\`)
	}
	c := r.text[r.at+1]
	r.at += 2
	switch {
	case r.words && c == 'b':
		return []sequence{nil}, nil
	case r.words && c == 's':
		c = ' '
	case c == '\\' || !isPunctuation(c):
		return nil, fmt.Errorf("%q is not understood", r.text[r.at-2:r.at])
	}
	return []sequence{{{kind: literal, text: string(c)}}}, nil
}

// isPunctuation reports whether a character is a sign of ASCII: escaped, it is itself.
func isPunctuation(c byte) bool {
	letter := c | 0x20
	return c > ' ' && c < 0x7f && (c < '0' || c > '9') && (letter < 'a' || letter > 'z')
}

// bounded is a sequence without its ends.
type bounded struct {
	text          string // all of it, or its beginning
	opens, closes bool   // it has ^, $
	more          bool   // it has .* behind the text
}

// bounds takes s apart. It is not understood if it has signs within its text, or .* before it.
func (s sequence) bounds() (b bounded, err error) {
	if len(s) > 0 && s[0].kind == begin {
		b.opens, s = true, s[1:]
	}
	if n := len(s); n > 0 && s[n-1].kind == end {
		b.closes, s = true, s[:n-1]
	}
	if n := len(s); n > 0 && s[n-1].kind == anything {
		b.more, s = true, s[:n-1]
	}
	switch {
	case len(s) == 0:
		return b, nil
	case len(s) > 1 || s[0].kind != literal:
		return b, fmt.Errorf("%s within it, or before it, is not understood", s.firstSign())
	}
	b.text = s[0].text
	return b, nil
}

// firstSign is the first of s that is no literal.
func (s sequence) firstSign() string {
	for i := range s {
		switch s[i].kind {
		case begin:
			return "^"
		case end:
			return "$"
		case anything:
			return ".*"
		case literal:
		}
	}
	return "a sign"
}
