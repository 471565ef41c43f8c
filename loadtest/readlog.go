package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// access is what an access log says about one request.
type access struct {
	method, target, status []byte
	bytes                  int64
}

// use adds the request to the trace when it is a GET answered with the object:
// 200, or 304 to a client that has it. All others are skipped.
func (a *access) use(b *builder) {
	if string(a.method) != "GET" || string(a.status) != "200" && string(a.status) != "304" {
		b.trace.skippedLines++
		return
	}
	b.add(a.target, a.bytes)
}

func readCombined(b *builder, line []byte) bool {
	a, ok := splitCombined(line)
	if ok {
		a.use(b)
	}
	return ok
}

// splitCombined reads `... [time] "METHOD TARGET PROTOCOL" status bytes ...`.
// What follows the bytes does not matter: clients write there as they like.
func splitCombined(line []byte) (a access, ok bool) {
	_, rest, ok := bytes.Cut(line, []byte(`] "`))
	if !ok {
		return a, false
	}
	request, rest, ok := quoted(rest)
	if !ok {
		return a, false
	}
	f := bytes.Fields(rest)
	if len(f) < 2 || len(f[0]) != 3 {
		return a, false
	}
	if _, err := strconv.ParseUint(string(f[0]), 10, 16); err != nil {
		return a, false
	}
	a.status = f[0]
	if a.bytes, ok = parseBytes(f[1]); !ok {
		return a, false
	}
	a.method, a.target, ok = splitRequest(request)
	return a, ok
}

// quoted returns the text before the closing quote, unescaped, and the rest.
func quoted(s []byte) (text, rest []byte, ok bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unescape(s[:i]), s[i+1:], true
		}
	}
	return nil, nil, false
}

// unescape undoes what Apache and nginx write for bytes that would spoil a line:
// \xHH, and a backslash before a quote or a backslash.
func unescape(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, rest := s[i], s[i+1:]
		switch {
		case c == '\\' && len(rest) >= 3 && rest[0] == 'x' && isHex(rest[1]) && isHex(rest[2]):
			n, _ := strconv.ParseUint(string(rest[1:3]), 16, 8) // two hex digits cannot fail
			c = byte(n)
			i += 3
		case c == '\\' && len(rest) >= 1 && (rest[0] == '"' || rest[0] == '\\'):
			c = rest[0]
			i++
		}
		out = append(out, c)
	}
	return out
}

// splitRequest cuts a request line. The target may hold spaces, as clients send
// them; the protocol may be missing (HTTP/0.9).
func splitRequest(s []byte) (method, target []byte, ok bool) {
	method, target, ok = bytes.Cut(s, []byte(" "))
	if !ok {
		return nil, nil, false
	}
	if i := bytes.LastIndexByte(target, ' '); i >= 0 && bytes.HasPrefix(target[i+1:], []byte("HTTP/")) {
		target = target[:i]
	}
	return method, target, len(method) > 0 && len(target) > 0
}

// newTSV returns the reader of a tab-separated log whose first line names its
// columns, among them method, url, response and bytes.
func newTSV(header string) (lineReader, error) {
	columns := strings.Split(header, "\t")
	var at [4]int
	for i, name := range [...]string{"method", "url", "response", "bytes"} {
		at[i] = indexFold(columns, name)
		if at[i] < 0 {
			return nil, fmt.Errorf("the header line has no column %q", name)
		}
	}
	return func(b *builder, line []byte) bool {
		f := bytes.Split(line, []byte("\t"))
		if len(f) < len(columns) {
			return false
		}
		a := access{method: f[at[0]], target: f[at[1]], status: f[at[2]]}
		var ok bool
		if a.bytes, ok = parseBytes(f[at[3]]); !ok || len(a.target) == 0 || len(a.method) == 0 {
			return false
		}
		a.use(b)
		return true
	}, nil
}

func indexFold(list []string, want string) int {
	for i, s := range list {
		if strings.EqualFold(s, want) {
			return i
		}
	}
	return -1
}
