package cachekey

import (
	"bytes"
	"strings"
)

// CookieNames are names of cookies. A * at the end stands for any ending.
type CookieNames []string

// Match reports whether n names the cookie. Case matters.
func (n CookieNames) Match(cookie []byte) bool {
	for _, name := range n {
		if start, open := strings.CutSuffix(name, "*"); open && strings.HasPrefix(string(cookie), start) || string(cookie) == name {
			return true
		}
	}
	return false
}

// Found reports whether a line of Cookie, which is Readable, has a named cookie, or one that
// some origin may take for it.
func (n CookieNames) Found(line []byte) bool {
	for len(line) > 0 {
		var piece []byte
		piece, line = nextCookie(line)
		cookie := cookieName(piece)
		for _, name := range n {
			if start, open := strings.CutSuffix(name, "*"); resembles(cookie, start, open) {
				return true
			}
		}
	}
	return false
}

// AppendOthers appends a line of Cookie to dst without the cookies that are named, and
// reports whether there were any; otherwise it appends nothing. It splits any line at
// semicolons, and joins the rest by a semicolon and a space. It allocates only if dst has to
// grow.
func (n CookieNames) AppendOthers(dst, line []byte) (out []byte, found bool) {
	named := func(piece []byte) bool { return n.Match(bytes.Trim(cookieName(piece), " \t")) }
	for piece := range bytes.SplitSeq(line, semicolon) {
		if found = named(piece); found {
			break
		}
	}
	if !found {
		return dst, false
	}
	start := len(dst)
	for piece := range bytes.SplitSeq(line, semicolon) {
		if piece = bytes.Trim(piece, " \t"); len(piece) == 0 || named(piece) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, "; "...)
		}
		dst = append(dst, piece...)
	}
	return dst, true
}
