package rfc9111

import "edgeproxy/internal/http/field"

// cutTag cuts an entity tag off the front of s (RFC 9110 section 8.8.3). Opaque is
// what is between the quotes; weak comparison compares nothing else.
func cutTag[T text](s T) (opaque, rest T, weak, ok bool) {
	body := s
	if len(s) >= 2 && s[0] == 'W' && s[1] == '/' {
		weak, body = true, s[2:]
	}
	if len(body) < 2 || body[0] != '"' {
		return s[:0], s, false, false
	}
	for i := 1; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			return body[1:i], body[i+1:], weak, true
		case c <= ' ' || c == 0x7f:
			return s[:0], s, false, false
		}
	}
	return s[:0], s, false, false
}

// parseTag parses s as exactly one entity tag.
func parseTag[T text](s T) (opaque T, weak, ok bool) {
	opaque, rest, weak, ok := cutTag(s)
	return opaque, weak, ok && len(rest) == 0
}

// isStar reports whether the list, over all its lines, is "*" alone.
func isStar(lines [][]byte) bool {
	return len(lines) == 1 && equal(trim(lines[0]), "*")
}

// listsTag reports whether a line of If-None-Match has a tag equal to etag by weak
// comparison (RFC 9110 section 8.8.3.2). It stops at the first member that is no
// entity tag: after it, the quotes of tags cannot be told from other quotes.
func listsTag(line []byte, etag string) bool {
	want, _, ok := parseTag(etag)
	if !ok {
		return false
	}
	for rest := line; ; {
		for len(rest) > 0 && (isSpace(rest[0]) || rest[0] == ',') {
			rest = rest[1:]
		}
		opaque, after, _, ok := cutTag(rest)
		if !ok {
			return false
		}
		if rest = trim(after); len(rest) > 0 && rest[0] != ',' {
			return false
		}
		if equal(opaque, want) {
			return true
		}
	}
}

// StronglyTagged reports whether h has exactly one entity tag, and it is valid and strong (RFC
// 9110 section 8.8.3).
func StronglyTagged(h field.List) bool {
	tag, ok := single(h, "Etag")
	if !ok {
		return false
	}
	_, weak, ok := parseTag(tag)
	return ok && !weak
}

// Weakened returns the one entity tag of h as a weak tag, which says that the content is equivalent and may have other
// bytes. Ok is false unless h has exactly one tag and it is valid.
func Weakened(h field.List) (tag string, ok bool) {
	tag, ok = validTag(h)
	if ok && tag[0] == '"' {
		tag = "W/" + tag
	}
	return tag, ok
}

// ListsWeaklyAlone reports whether the lines of If-None-Match list the weak form of tag,
// which is strong, and not tag itself.
func ListsWeaklyAlone(lines []string, tag string) bool {
	want, weak, ok := parseTag(tag)
	if !ok || weak {
		return false
	}
	found := false
	for _, rest := range lines {
		for rest != "" {
			if rest[0] == ',' || isSpace(rest[0]) {
				rest = rest[1:]
				continue
			}
			opaque, after, weak, ok := cutTag(rest)
			switch {
			case !ok:
				return found
			case opaque == want && !weak:
				return false
			}
			found, rest = found || opaque == want, after
		}
	}
	return found
}
