package rfc9111

import (
	"bytes"
	"strings"
)

// AppendLanguages appends to dst the one line of Accept-Language that says what the
// lines of a request say, in one form: language ranges in the case that RFC 5646 section
// 2.1.1 gives them (de-DE, zh-Hans), parameters in lower case, no empty members, and no
// white space but one space behind each comma. None of this changes what they mean (RFC 9110 section
// 12.5.4). With anyOrder, the operator's word that the origin does not go by it, members
// are sorted too.
//
// It reports false where there is no line, or one that holds what no list of languages
// is made of and that may mean anything: such lines stay as they are. AppendLanguages of
// its own result is the same. It allocates only if dst has to grow.
func AppendLanguages(dst []byte, lines [][]byte, anyOrder bool) ([]byte, bool) {
	if len(lines) == 0 || !languageBytes(lines) {
		return dst, false
	}
	start := len(dst)
	for _, line := range lines {
		for rest := line; len(rest) > 0; {
			var member []byte
			if member, rest = cutMember(rest); len(member) == 0 {
				continue
			}
			if len(dst) > start {
				dst = append(dst, separator...)
			}
			dst = appendRange(dst, member)
		}
	}
	if anyOrder {
		dst = sortMembers(dst, start)
	}
	return dst, true
}

// languageBytes reports whether the lines hold nothing but what a list of language
// ranges is made of.
func languageBytes(lines [][]byte) bool {
	for _, line := range lines {
		for _, c := range line {
			letter := 'a' <= lower(c) && lower(c) <= 'z'
			if !letter && strings.IndexByte("0123456789-*._,;= \t", c) < 0 {
				return false
			}
		}
	}
	return true
}

// appendRange appends one member: a language range and perhaps parameters.
func appendRange(dst, member []byte) []byte {
	end := index(member, ';')
	dst = appendTag(dst, trim(member[:end]))
	for end < len(member) {
		member = member[end+1:]
		end = index(member, ';')
		dst = append(dst, ';')
		for _, c := range trim(member[:end]) {
			dst = append(dst, lower(c))
		}
	}
	return dst
}

// appendTag appends a language range: in lower case, but for regions, which are two
// letters, and scripts, which are four, neither first nor behind a single letter.
func appendTag(dst, tag []byte) []byte {
	single := true // the subtag before has one letter, or there is none
	for from := 0; from <= len(tag); {
		to := from
		for to < len(tag) && tag[to] != '-' {
			to++
		}
		for i, c := range tag[from:to] {
			c = lower(c)
			if n := to - from; !single && 'a' <= c && c <= 'z' && (n == 2 || n == 4 && i == 0) {
				c -= 'a' - 'A'
			}
			dst = append(dst, c)
		}
		if to < len(tag) {
			dst = append(dst, '-')
		}
		single = to-from == 1
		from = to + 1
	}
	return dst
}

// maxSorted is how many members a list may have to be sorted. A longer one selects
// a variant of its own order.
const maxSorted = 32

// sortMembers sorts the members of the list in dst[start:]. It works in the room
// behind, so that it allocates only if dst has to grow.
func sortMembers(dst []byte, start int) []byte {
	type span struct{ from, to int }
	var members [maxSorted]span
	member := func(s span) []byte { return dst[s.from:s.to] }
	n := 0
	for at, done := start, false; !done; n++ {
		if n == maxSorted {
			return dst
		}
		s := span{at, len(dst)}
		if i := bytes.Index(dst[at:], separator); i >= 0 {
			s.to = at + i
		}
		at, done = s.to+len(separator), s.to == len(dst)
		i := n
		for ; i > 0 && bytes.Compare(member(s), member(members[i-1])) < 0; i-- {
			members[i] = members[i-1]
		}
		members[i] = s
	}
	end := len(dst)
	for i, s := range members[:n] {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = append(dst, member(s)...)
	}
	copy(dst[start:], dst[end:])
	return dst[:end]
}

// separator stands between the members of a list that AppendLanguages writes.
var separator = []byte(", ")
