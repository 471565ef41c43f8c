package trace

import "bytes"

// newCombined reads the default logs of Apache and nginx, the common log format and
// the combined one:
//
//	... [time] "METHOD TARGET PROTOCOL" status bytes ...
//
// hostFinder says where it finds a host. It ignores what else follows the bytes: that comes from clients.
func newCombined() parser {
	p := &combinedParser{}
	return p.parse
}

type combinedParser struct {
	times clock
	hosts hostFinder
	text  []byte // an unescaped request line
}

func (p *combinedParser) parse(line []byte, r *request) verdict {
	before, rest, ok := bytes.Cut(line, []byte(`] "`))
	if !ok {
		return bad
	}
	quoted, rest, ok := cutQuoted(rest)
	if !ok {
		return bad
	}
	status, behindStatus := field(rest)
	sent, rest := field(behindStatus)
	opening := bytes.LastIndexByte(before, '[')
	if !isStatus(status) || opening == 0 && isEnvoys(behindStatus) {
		return bad
	}
	if r.size, ok = parseSent(sent); !ok {
		return bad
	}
	if bytes.IndexByte(quoted, '\\') >= 0 {
		p.text = unescape(p.text[:0], quoted)
		quoted = p.text
	}
	method, target, ok := splitRequest(quoted)
	switch {
	case !ok && status[0] >= '4': // no request line came: the server refused what did
		return skipped
	case !ok:
		return bad
	}
	if r.host = p.hosts.before(before[:max(opening, 0)]); r.host == nil {
		r.host = hostAfter(rest)
	}
	r.setURL(target)
	r.at, r.timed = p.times.read(before[opening+1:])
	return r.judge(method, status)
}

// judge decides whether a line of a log is used: a GET or HEAD with status 200 or 304 is.
// The bytes of a response to HEAD are not the object's.
func (r *request) judge(method, status []byte) verdict {
	if string(status) != "200" && string(status) != "304" {
		return skipped
	}
	switch string(method) {
	case "GET":
		return used
	case "HEAD":
		r.head, r.size = true, 0
		return used
	}
	return skipped
}

func isStatus(s []byte) bool {
	_, ok := parseCount(s)
	return ok && len(s) == 3
}

// cutQuoted returns the text before the closing quote, still escaped, and the
// rest.
func cutQuoted(s []byte) (text, rest []byte, ok bool) {
	for end := 0; ; end++ {
		i := bytes.IndexByte(s[end:], '"')
		if i < 0 {
			return nil, nil, false
		}
		end += i
		backslashes := 0
		for backslashes < end && s[end-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return s[:end], s[end+1:], true
		}
	}
}

// unescape decodes the escapes of Apache and nginx: \xHH, and a backslash before a quote
// or a backslash.
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		c, rest := s[i], s[i+1:]
		switch {
		case c == '\\' && len(rest) >= 3 && rest[0] == 'x' && isHex(rest[1]) && isHex(rest[2]):
			c = nibble(rest[1])<<4 | nibble(rest[2])
			i += 3
		case c == '\\' && len(rest) >= 1 && (rest[0] == '"' || rest[0] == '\\'):
			c = rest[0]
			i++
		}
		dst = append(dst, c)
	}
	return dst
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// nibble is the value of a digit that isHex.
func nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&7 + 9
}

// splitRequest cuts a request line. The target may hold spaces, as clients send
// them; the protocol may be missing (HTTP/0.9).
func splitRequest(s []byte) (method, target []byte, ok bool) {
	method, target, ok = bytes.Cut(s, []byte(" "))
	if i := bytes.LastIndexByte(target, ' '); i >= 0 && bytes.HasPrefix(target[i+1:], []byte("HTTP/")) {
		target = target[:i]
	}
	return method, target, ok && len(method) > 0 && len(target) > 0
}
