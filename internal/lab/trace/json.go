package trace

import (
	"bytes"
	"encoding/json"
)

// newJSON reads our own access log: one JSON object a line. It uses time (or ts), host,
// target, method, status, bytes, result and reason.
//
// Requests with result error or pass are skipped: the responses of a pass may not be
// stored. There are two exceptions. A pass with reason not-modified or precondition says
// nothing about the object, and is used. So is a HEAD with reason method.
//
// It also reads JSON logs of nginx (log_format with escape=json) whose keys are named
// like nginx variables; see variable.
func newJSON() parser {
	p := &jsonParser{}
	return p.parse
}

type jsonParser struct {
	times  clock
	fields jsonFields
}

// jsonFields is the values of a line, nil if they are missing. A value without escapes
// is a part of the line.
type jsonFields struct {
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
	p.fields = jsonFields{}
	s := &p.fields
	s.read(line[1:])
	s.useVariables()
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

func (s *jsonFields) storable() bool {
	switch string(s.result) {
	case "error":
		return false
	case "pass":
		return string(s.reason) == "not-modified" || string(s.reason) == "precondition" ||
			string(s.method) == "HEAD" && string(s.reason) == "method"
	}
	return true
}

// read reads the values from the text behind the brace of a valid object. If a name
// comes twice, the last value counts.
func (s *jsonFields) read(text []byte) {
	for name, value, rest := cutMember(text); name != nil; name, value, rest = cutMember(rest) {
		if at := s.member(plainText(name), value[0] == '"'); at != nil {
			*at = plainText(value)
		}
	}
}

// cutMember returns the next name and value of a valid object, and the rest. text begins
// behind the brace, or is the rest of a call before. name is nil at the object's end.
func cutMember(text []byte) (name, value, rest []byte) {
	text = bytes.TrimLeft(text, " \t\r\n,")
	if text[0] == '}' {
		return nil, nil, nil
	}
	name, text = cutJSONValue(text)
	value, text = cutJSONValue(bytes.TrimLeft(text, " \t\r\n:"))
	return name, value, text
}

// member returns the field for the value of a name, nil if it is not used.
func (s *jsonFields) member(name []byte, quoted bool) *[]byte {
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

// variable is member for numbers, in quotes or not, that are named like nginx variables.
func (s *jsonFields) variable(name []byte) *[]byte {
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

// textVariable is variable for strings and numbers.
func (s *jsonFields) textVariable(name []byte) *[]byte {
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

// useVariables sets missing values from nginx variables, the most precise one first.
func (s *jsonFields) useVariables() {
	n := &s.nginx
	s.time = firstOf(s.time, n.msec, n.iso, n.local)
	s.bytes = firstOf(s.bytes, n.body, n.sent)
	s.host = firstOf(s.host, n.httpHost, n.serverName)
	if s.target != nil && s.method != nil || n.line == nil {
		return
	}
	if method, target, ok := splitRequest(n.line); ok {
		s.method, s.target = firstOf(s.method, method), firstOf(s.target, target)
	} else { // the client sent no valid request line
		s.method, s.target = []byte{}, []byte{}
	}
}

// firstOf returns the first value that is not nil, or nil.
func firstOf(all ...[]byte) []byte {
	for _, v := range all {
		if v != nil {
			return v
		}
	}
	return nil
}

// plainText returns a string without quotes and escapes, and any other value unchanged.
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

// cutJSONValue returns the first value of s, which begins with valid JSON, and the rest.
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
			if depth == 0 { // the end of the object or list around the value
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
