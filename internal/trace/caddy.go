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
	time   []byte // ts in a format that clock reads
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
	p.time = appendCaddyTime(p.time[:0], s.ts)
	r.at, r.timed = p.times.read(p.time)
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

// unixDigits is how many digits the seconds of a present time have, from 2001 to 2286.
const unixDigits = 10

// appendCaddyTime appends a time in any of Caddy's formats, in a format that clock reads.
// The default is seconds with a fraction. It rewrites milliseconds, nanoseconds, wall
// clock time, which counts as UTC, and ISO 8601 without a colon in the zone.
func appendCaddyTime(dst, ts []byte) []byte {
	whole, fraction, _ := bytes.Cut(ts, []byte("."))
	if allDigits(whole) && len(whole) > unixDigits {
		dst = append(append(dst, whole[:unixDigits]...), '.')
		return append(append(dst, whole[unixDigits:]...), fraction...)
	}
	n := len(ts)
	switch {
	case n > 19 && ts[4] == '/' && ts[7] == '/' && ts[10] == ' ':
		at := len(dst)
		dst = append(append(dst, ts...), 'Z')
		dst[at+4], dst[at+7], dst[at+10] = '-', '-', 'T'
		return dst
	case n > 24 && ts[10] == 'T' && (ts[n-5] == '+' || ts[n-5] == '-'):
		return append(append(append(dst, ts[:n-2]...), ':'), ts[n-2:]...)
	}
	return append(dst, ts...)
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
