package rfc9111

import (
	"bytes"
	"strings"
)

// AppendLanguages appends to dst the Accept-Language lines of a request as one normalized line.
// Language ranges get the case of RFC 5646 section 2.1.1 (de-DE, zh-Hans), and parameters get lower
// case. There are no empty members, and no white space but one space after each comma. None of this
// changes the meaning (RFC 9110 section 12.5.4). AnyOrder also sorts the members: the operator says
// that the origin ignores their order.
//
// It reports false and appends nothing if there is no line, or if a line has a byte that
// no list of languages has: the meaning is unknown, so the caller leaves the lines as
// they are. A second pass over the result does not change it. AppendLanguages allocates
// only if dst has to grow.
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

// languageBytes reports whether the lines have only bytes that a list of language
// ranges may have.
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

// appendRange appends one member: a language range and optional parameters.
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

// appendTag appends a language range in lower case. Exceptions are regions (two
// letters, as DE) and scripts (four letters, as Hans), unless they are the first
// subtag or follow one of a single letter.
func appendTag(dst, tag []byte) []byte {
	single := true // the previous subtag has one letter, or there is none
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

// maxSorted is the largest number of members that are sorted. A longer list keeps
// its order, and selects a variant by it.
const maxSorted = 32

// sortMembers sorts the members of the list in dst[start:]. It uses the capacity
// after the list as a buffer, so it allocates only if dst has to grow.
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

// separator is between the members of a list that AppendLanguages writes.
var separator = []byte(", ")
