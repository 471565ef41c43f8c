package hostile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// message is one request or response as a strict reader sees it.
type message struct {
	start  string   // request line or status line; "" while the head is not whole
	fields []string // "Name: value", in order
	body   string   // decoded
	behind []string // the trailers, as fields
	whole  bool
}

// errMore says that a message goes on behind the bytes there are.
var errMore = errors.New("more bytes are to come")

// cutMessage takes the first message off b. With errMore the message holds what
// has come so far; any other error says what no strict reader would accept. A
// response without framing ends where b does, if it has ended. bodyless says that
// the response is to a HEAD.
func cutMessage(b string, bodyless, ended bool) (m message, rest string, err error) {
	head, rest, found := strings.Cut(b, "\r\n\r\n")
	if !found {
		return message{}, "", errMore
	}
	lines := strings.Split(head, "\r\n")
	m.start, m.fields = lines[0], lines[1:]
	if err := controlled(m.start); err != nil {
		return m, "", err
	}
	for _, line := range m.fields {
		if err := fieldLine(line); err != nil {
			return m, "", err
		}
	}
	length, err := m.length(bodyless)
	if err != nil {
		return m, "", err
	}
	switch {
	case length == chunked:
		m.body, m.behind, rest, err = cutChunks(rest)
	case length == untilEnd:
		m.body, rest = rest, ""
		if !ended {
			err = errMore
		}
	case len(rest) < length:
		m.body, rest, err = rest, "", errMore
	default:
		m.body, rest = rest[:length], rest[length:]
	}
	m.whole = err == nil
	return m, rest, err
}

func controlled(line string) error {
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("control byte in the line %.80q", line)
	}
	return nil
}

// fieldLine says why line is no field line.
func fieldLine(line string) error {
	if name, _, ok := strings.Cut(line, ":"); !ok || !token(name) {
		return fmt.Errorf("no field line: %.80q", line)
	}
	return controlled(line)
}

// Lengths of bodies that have none.
const (
	chunked  = -1
	untilEnd = -2
)

// length returns how long the body is by RFC 9112 section 6.3, and refuses every
// head that somebody could read otherwise.
func (m *message) length(bodyless bool) (int, error) {
	status, response := strings.CutPrefix(m.start, "HTTP/1.")
	words := strings.Split(m.start, " ")
	if !response && (len(words) != 3 || !token(words[0]) || words[1] == "" || words[2] != "HTTP/1.1") {
		return 0, fmt.Errorf("no request line: %.80q", m.start)
	}
	lengths, codings, hosts := m.values("Content-Length"), m.values("Transfer-Encoding"), m.values("Host")
	switch {
	case len(lengths)+len(codings) > 1:
		return 0, fmt.Errorf("framed twice: %q", append(lengths, codings...))
	case !response && len(hosts) != 1:
		return 0, fmt.Errorf("hosts: %q", hosts)
	case response && (bodyless || status[2] == '1' || strings.Contains(status, " 204") || strings.Contains(status, " 304")):
		return 0, nil
	case len(codings) == 1:
		if codings[0] != "chunked" {
			return 0, fmt.Errorf("coding %q", codings[0])
		}
		return chunked, nil
	case len(lengths) == 1:
		n, err := strconv.ParseUint(lengths[0], 10, 31)
		return int(n), err
	case response:
		return untilEnd, nil
	}
	return 0, nil
}

// values returns the values of the field called name.
func (m *message) values(name string) []string {
	var out []string
	for _, line := range m.fields {
		if n, v, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			out = append(out, strings.Trim(v, " \t"))
		}
	}
	return out
}

// cutChunks decodes a chunked body without extensions (RFC 9112 section 7.1).
func cutChunks(b string) (body string, behind []string, rest string, err error) {
	var out strings.Builder
	for {
		size, more, found := strings.Cut(b, "\r\n")
		if !found {
			return out.String(), nil, "", errMore
		}
		n, err := strconv.ParseUint(size, 16, 31)
		if err != nil {
			return out.String(), nil, "", fmt.Errorf("chunk size %.40q", size)
		}
		if n == 0 {
			behind, rest, err = trailers(more)
			return out.String(), behind, rest, err
		}
		if len(more) < int(n)+2 {
			out.WriteString(more[:min(len(more), int(n))])
			return out.String(), nil, "", errMore
		}
		out.WriteString(more[:n])
		if more[n:n+2] != "\r\n" {
			return out.String(), nil, "", fmt.Errorf("chunk of %d bytes ends in %q", n, more[n:n+2])
		}
		b = more[n+2:]
	}
}

// trailers takes the trailer section off b.
func trailers(b string) (fields []string, rest string, err error) {
	for {
		line, more, found := strings.Cut(b, "\r\n")
		switch {
		case !found:
			return nil, "", errMore
		case line == "":
			return fields, more, nil
		}
		if err := fieldLine(line); err != nil {
			return nil, "", err
		}
		fields, b = append(fields, line), more
	}
}

// token reports whether s is a token (RFC 9110 section 5.6.2).
func token(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
