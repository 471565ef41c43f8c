package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// role is the meaning of a column.
type role int

const (
	roleMethod role = iota // optional; without it all are GET
	roleTarget
	roleStatus // optional; without it all are 200
	roleBytes
	roleTime // optional
	roleHost // optional
	roles
)

// headings returns the names of each column, without case. The first one in the
// header is used. "host" is not among them: in logs it is the client.
func headings() [roles][]string {
	return [roles][]string{
		roleMethod: {"method", "request_method", "cs-method", "verb"},
		roleTarget: {"url", "uri", "target", "request_uri", "path", "key", "object", "id"},
		roleStatus: {"response", "status", "status_code", "sc-status"},
		roleBytes:  {"bytes", "body_bytes_sent", "size", "bytes_sent", "sc-bytes", "length", "content_length"},
		roleTime:   {"time", "timestamp", "ts", "time_local", "time_iso8601"},
		roleHost:   {"vhost", "server_name", "authority"},
	}
}

// splitter splits a line into fields and appends them to dst. ok is false if the line
// is malformed. The fields are valid until the next call.
type splitter func(dst [][]byte, line []byte) (fields [][]byte, ok bool)

// columns reads lines whose fields a header names.
type columns struct {
	split  splitter
	at     [roles]int    // -1 = no such column
	absent [roles][]byte // the value where there is no column
	count  int
	fields [][]byte
	times  clock
}

func openTSV(lines *bufio.Reader) (parser, error) { return openColumns(splitTSV, lines) }
func openCSV(lines *bufio.Reader) (parser, error) { return openColumns(newSplitCSV(), lines) }

func openColumns(split splitter, lines *bufio.Reader) (parser, error) {
	header, err := lines.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the header line: %w", err)
	}
	if len(header) == 0 {
		return nil, nil // an empty file
	}
	c, err := newColumns(split, trimEnd(header))
	if err != nil {
		return nil, err
	}
	return c.parse, nil
}

func newColumns(split splitter, header []byte) (*columns, error) {
	names, ok := split(nil, header)
	if !ok {
		return nil, errors.New("the header line breaks the rules of quoting")
	}
	c := &columns{split: split, count: len(names)}
	c.absent[roleMethod], c.absent[roleStatus] = []byte("GET"), []byte("200")
	for r, list := range headings() {
		c.at[r] = -1
		for i := 0; i < len(list) && c.at[r] < 0; i++ {
			c.at[r] = indexFold(names, list[i])
		}
	}
	for _, r := range [...]role{roleTarget, roleBytes} {
		if list := headings()[r]; c.at[r] < 0 {
			return nil, fmt.Errorf("the header line has no column %q, nor one of its other names: %s", list[0], strings.Join(list[1:], ", "))
		}
	}
	return c, nil
}

func indexFold(names [][]byte, want string) int {
	for i, s := range names {
		if strings.EqualFold(string(bytes.TrimSpace(s)), want) {
			return i
		}
	}
	return -1
}

func (c *columns) parse(line []byte, r *request) verdict {
	var ok bool
	if c.fields, ok = c.split(c.fields[:0], line); !ok || len(c.fields) < c.count {
		return bad
	}
	method, status := c.field(roleMethod), c.field(roleStatus)
	r.target = c.field(roleTarget)
	r.host = lower(c.field(roleHost))
	r.size, ok = parseSent(c.field(roleBytes))
	if !ok || len(r.target) == 0 || len(method) == 0 || !isStatus(status) {
		return bad
	}
	r.at, r.timed = c.times.read(c.field(roleTime))
	return r.judge(method, status)
}

func (c *columns) field(r role) []byte {
	if c.at[r] < 0 {
		return c.absent[r]
	}
	return c.fields[c.at[r]]
}

// lower turns ASCII letters into lower case, in place: hosts are not case-sensitive.
func lower(s []byte) []byte {
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			s[i] = c + 'a' - 'A'
		}
	}
	return s
}

func splitTSV(dst [][]byte, line []byte) ([][]byte, bool) {
	for {
		i := bytes.IndexByte(line, '\t')
		if i < 0 {
			return append(dst, line), true
		}
		dst, line = append(dst, line[:i]), line[i+1:]
	}
}

// newSplitCSV returns a splitter by the rules of RFC 4180, with two exceptions: a
// field has no line break, and a quote inside a field without quotes is literal.
func newSplitCSV() splitter {
	var text []byte // fields with doubled quotes, without the doubling
	return func(dst [][]byte, line []byte) ([][]byte, bool) {
		text = text[:0]
		for {
			if len(line) == 0 || line[0] != '"' {
				i := bytes.IndexByte(line, ',')
				if i < 0 {
					return append(dst, line), true
				}
				dst, line = append(dst, line[:i]), line[i+1:]
				continue
			}
			value, rest, grown, ok := cutCSVQuoted(line[1:], text)
			if !ok {
				return dst, false
			}
			text = grown
			dst = append(dst, value)
			if len(rest) == 0 {
				return dst, true
			}
			line = rest[1:]
		}
	}
}

// cutCSVQuoted returns the value of a field whose opening quote is cut off, and
// the rest from the comma on, or nothing. A value with doubled quotes is written
// behind text.
func cutCSVQuoted(s, text []byte) (value, rest, grown []byte, ok bool) {
	start, plain := len(text), true
	for {
		i := bytes.IndexByte(s, '"')
		if i < 0 {
			return nil, nil, text, false
		}
		value, rest = s[:i], s[i+1:]
		double := len(rest) > 0 && rest[0] == '"'
		if !double && plain {
			break
		}
		plain = false
		text = append(text, value...)
		if !double {
			value = text[start:len(text):len(text)]
			break
		}
		text = append(text, '"')
		s = rest[1:]
	}
	return value, rest, text, len(rest) == 0 || rest[0] == ','
}
