package trace

import (
	"bytes"
	"encoding/json"
)

// newCaddy reads Caddy's default access log: one JSON object a line. It uses ts, status
// and size, and method, host and uri of the object request. Caddy's other messages, which
// may be in the same file, are skipped.
func newCaddy() parser {
	p := &caddyParser{}
	return p.parse
}

type caddyParser struct {
	times  clock
	fields caddyFields
}

// caddyFields is the values of a line of Caddy, nil if they are missing. A value without
// escapes is a part of the line.
type caddyFields struct {
	ts, status, size  []byte
	logger, msg       []byte
	method, host, uri []byte
}

func (p *caddyParser) parse(line []byte, r *request) verdict {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 || line[0] != '{' || !json.Valid(line) {
		return bad
	}
	p.fields = caddyFields{}
	s := &p.fields
	s.read(line[1:])
	if s.method == nil || s.uri == nil {
		if s.logger != nil && s.msg != nil {
			return skipped // a message about something else
		}
		return bad
	}
	size, ok := parseSize(s.size)
	if _, hasStatus := parseCount(s.status); !hasStatus || !ok {
		return bad
	}
	if len(s.uri) == 0 {
		return skipped
	}
	r.host, r.target, r.size = lower(s.host), s.uri, size
	r.at, r.timed = p.times.read(s.ts)
	return r.judge(s.method, s.status) // status 0 is a client that left before there was one
}

// read reads the values from the text behind the brace of a valid object.
func (s *caddyFields) read(text []byte) {
	for name, value, rest := cutMember(text); name != nil; name, value, rest = cutMember(rest) {
		switch string(plainText(name)) {
		case "ts":
			s.ts = plainText(value)
		case "status":
			s.status = value
		case "size":
			s.size = value
		case "logger":
			s.logger = value
		case "msg":
			s.msg = value
		case "request":
			if value[0] == '{' {
				s.readRequest(value[1:])
			}
		}
	}
}

// readRequest is read for the object request.
func (s *caddyFields) readRequest(text []byte) {
	s.method, s.host, s.uri = nil, nil, nil // the last object request counts
	for name, value, rest := cutMember(text); name != nil; name, value, rest = cutMember(rest) {
		if value[0] != '"' {
			continue
		}
		switch string(plainText(name)) {
		case "method":
			s.method = plainText(value)
		case "host":
			s.host = plainText(value)
		case "uri":
			s.uri = plainText(value)
		}
	}
}

// allDigits reports whether s is one or more digits and nothing else.
func allDigits(s []byte) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}
