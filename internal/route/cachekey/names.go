package cachekey

import (
	"bytes"
	"slices"
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
		if n.may(cookieName(piece)) {
			return true
		}
	}
	return false
}

// may reports whether n names the cookie, or some origin may take it for one that n names.
func (n CookieNames) may(cookie []byte) bool {
	for _, name := range n {
		if start, open := strings.CutSuffix(name, "*"); resembles(cookie, start, open) {
			return true
		}
	}
	return false
}

// CookieFilter says which cookies are taken out of requests. The zero CookieFilter takes none.
type CookieFilter struct {
	strip, keep CookieNames // one of them is empty
	named       CookieNames // cookies that rules for bypass and key name: these stay
}

// NewCookieFilter returns the filter that takes the cookies of strip or, if there is one in keep, all but those of keep. It never takes one
// that bypass or the rules name, nor one that some origin may take for it: what the rules go by has to be there when they are applied.
func NewCookieFilter(strip, keep, bypass CookieNames, rules *Rules) CookieFilter {
	return CookieFilter{strip: strip, keep: keep, named: slices.Concat(bypass, rules.cookies)}
}

// Active reports whether f takes any cookie.
func (f *CookieFilter) Active() bool { return len(f.strip)+len(f.keep) > 0 }

// takes reports whether f takes a piece of a line of Cookie, between semicolons.
func (f *CookieFilter) takes(piece []byte) bool {
	cookie := bytes.Trim(cookieName(piece), " \t")
	out := f.strip.Match(cookie)
	if len(f.keep) > 0 {
		out = !f.keep.Match(cookie)
	}
	return out && !f.named.may(cookie)
}

// AppendOthers appends a line of Cookie to dst without the cookies that f takes, and
// reports whether there were any; otherwise it appends nothing. It splits any line at
// semicolons, and joins the rest by a semicolon and a space. It allocates only if dst has to
// grow.
func (f *CookieFilter) AppendOthers(dst, line []byte) (out []byte, found bool) {
	for piece := range bytes.SplitSeq(line, semicolon) {
		if found = f.takes(piece); found {
			break
		}
	}
	if !found {
		return dst, false
	}
	start := len(dst)
	for piece := range bytes.SplitSeq(line, semicolon) {
		if piece = bytes.Trim(piece, " \t"); len(piece) == 0 || f.takes(piece) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, "; "...)
		}
		dst = append(dst, piece...)
	}
	return dst, true
}
