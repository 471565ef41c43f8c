package trace

import (
	"bytes"
	"encoding/json"
)

// newJSON reads our own access log: one object a line, of which time (or ts),
// host, target, method, status, bytes, result and reason matter.
//
// The log knows what became of a request, so two more are skipped: one with
// result error, and one with result pass, which may not be stored. A pass that
// only confirmed what the client has (not-modified) or asked for that
// (precondition) says nothing against the object and is used, and so is a HEAD, whose
// method is the reason.
//
// It reads logs of nginx, too, whose log_format is JSON (escape=json), with keys named as its variables; see variable.
func newJSON() parser {
	p := &jsonParser{}
	return p.parse
}

type jsonParser struct {
	times clock
	said  said
}

// said is what a line says; nil where it says nothing. The bytes are the line's
// own where it has no escapes.
type said struct {
	time, status, bytes                  []byte // numbers or strings
	host, target, method, result, reason []byte // strings

	nginx struct {
		msec, iso, local, body, sent []byte // numbers or strings
		httpHost, serverName, line   []byte // strings
	}
}

func (p *jsonParser) parse(line []byte, r *request) verdict {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 || line[0] != '{' || !json.Valid(line) {
		return bad
	}
	p.said = said{}
	s := &p.said
	s.read(line[1:])
	s.asVariables()
	_, hasStatus := parseCount(s.status)
	size, hasBytes := parseSize(s.bytes)
	if !hasStatus || !hasBytes || s.target == nil || s.method == nil {
		return bad
	}
	if len(s.target) == 0 || !s.storable() {
		return skipped // refused before it was understood, or known not to be stored
	}
	r.host, r.target, r.size = lower(s.host), s.target, size
	r.at, r.timed = p.times.read(s.time)
	return r.judge(s.method, s.status)
}

func (s *said) storable() bool {
	switch string(s.result) {
	case "error":
		return false
	case "pass":
		return string(s.reason) == "not-modified" || string(s.reason) == "precondition" ||
			string(s.method) == "HEAD" && string(s.reason) == "method"
	}
	return true
}

// read takes the values it wants from the text behind the brace of a valid
// object. Of a name that comes twice the last counts.
func (s *said) read(text []byte) {
	for name, value, rest := cutMember(text); name != nil; name, value, rest = cutMember(rest) {
		if at := s.member(plainText(name), value[0] == '"'); at != nil {
			*at = plainText(value)
		}
	}
}

// cutMember cuts the next name and value off the text of a valid object, which is
// behind its brace; name is nil at its end.
func cutMember(text []byte) (name, value, rest []byte) {
	text = bytes.TrimLeft(text, " \t\r\n,")
	if text[0] == '}' {
		return nil, nil, nil
	}
	name, text = cutJSONValue(text)
	value, text = cutJSONValue(bytes.TrimLeft(text, " \t\r\n:"))
	return name, value, text
}

// member returns where the value of a name goes, nil if nowhere.
func (s *said) member(name []byte, quoted bool) *[]byte {
	switch string(name) {
	case "time", "ts":
		return &s.time
	case "status":
		return &s.status
	case "bytes":
		return &s.bytes
	}
	if !quoted {
		return s.variable(name)
	}
	switch string(name) {
	case "host":
		return &s.host
	case "target":
		return &s.target
	case "method":
		return &s.method
	case "result":
		return &s.result
	case "reason":
		return &s.reason
	}
	return s.textVariable(name)
}

// variable is member for numbers, in quotes or not, that are named as variables of nginx.
func (s *said) variable(name []byte) *[]byte {
	switch string(name) {
	case "msec":
		return &s.nginx.msec
	case "time_iso8601":
		return &s.nginx.iso
	case "time_local":
		return &s.nginx.local
	case "body_bytes_sent":
		return &s.nginx.body
	case "bytes_sent":
		return &s.nginx.sent
	}
	return nil
}

// textVariable is variable for strings, besides.
func (s *said) textVariable(name []byte) *[]byte {
	switch string(name) {
	case "request_uri":
		return &s.target
	case "request_method":
		return &s.method
	case "http_host":
		return &s.nginx.httpHost
	case "server_name":
		return &s.nginx.serverName
	case "request":
		return &s.nginx.line
	}
	return s.variable(name)
}

// asVariables has what is missing be what variables of nginx say: of several the one that says most.
func (s *said) asVariables() {
	n := &s.nginx
	s.time = firstOf(s.time, n.msec, n.iso, n.local)
	s.bytes = firstOf(s.bytes, n.body, n.sent)
	s.host = firstOf(s.host, n.httpHost, n.serverName)
	if s.target != nil && s.method != nil || n.line == nil {
		return
	}
	if method, target, ok := splitRequest(n.line); ok {
		s.method, s.target = firstOf(s.method, method), firstOf(s.target, target)
	} else { // of a client that sent none, or no request
		s.method, s.target = []byte{}, []byte{}
	}
}

// firstOf returns the first that says something, nil if none does.
func firstOf(all ...[]byte) []byte {
	for _, v := range all {
		if v != nil {
			return v
		}
	}
	return nil
}

// plainText returns the text of a string without its quotes and escapes, and any
// other value as it is written.
func plainText(value []byte) []byte {
	if value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') >= 0 {
		var text string
		if json.Unmarshal(value, &text) == nil { // it is valid: it cannot fail
			return []byte(text)
		}
	}
	return value[1 : len(value)-1]
}

// cutJSONValue cuts the first value off s, which is valid JSON from there on.
func cutJSONValue(s []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return s[:i+1], s[i+1:]
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of what holds a number or a word
				return s[:i], s[i:]
			}
			if depth--; depth == 0 {
				return s[:i+1], s[i+1:]
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s[:i], s[i:]
			}
		}
	}
	return s, nil
}
