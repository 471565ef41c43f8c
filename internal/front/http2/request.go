package http2

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// head is the header of a request that is being read.
type head struct {
	method, scheme, authority, path pseudo
	fields                          bool // one was read that is none of these
	length                          int64
	announced                       []string
	cookie                          int // the line that has the cookies, from 1; 0: none
	priority                        string
	hasPriority, forMany, expects   bool
}

// pseudo is one of the fields that HTTP/2 has in place of a request line.
type pseudo struct {
	value string
	there bool
}

func (p *pseudo) set(value string) bool {
	if p.there {
		return false
	}
	p.value, p.there = value, true
	return true
}

// fill makes the request of s from its fields. It reports whether it is well formed (RFC 9113
// section 8.1.1); otherwise it is to be refused. ended says that no content follows.
func (s *stream) fill(fields []hpack.HeaderField, ended bool) (h head, wellFormed bool) {
	h.length = -1
	wellFormed = true
	for i := range fields {
		f := &fields[i]
		if strings.HasPrefix(f.Name, ":") {
			wellFormed = wellFormed && h.pseudo(f)
			continue
		}
		h.fields = true
		if wellFormed = wellFormed && validName(f.Name) && validValue(f.Value) && h.field(f); !wellFormed {
			break
		}
		s.line(&h, f)
	}
	r := &s.request
	wellFormed = wellFormed && h.validTarget() && h.hostMatches(s.scratch) && !(ended && h.length > 0)
	r.Method, r.Target, r.Host = s.part(&h.method), s.part(&h.path), s.part(&h.authority)
	r.Lines = s.scratch.lines
	return h, wellFormed
}

// part returns a copy of a pseudo-field for the log, if it can be logged.
func (s *stream) part(p *pseudo) []byte {
	if !visible(p.value) {
		return nil
	}
	return s.scratch.text(p.value)
}

func (h *head) pseudo(f *hpack.HeaderField) bool {
	if h.fields {
		return false
	}
	switch f.Name {
	case ":method":
		return h.method.set(f.Value)
	case ":scheme":
		return h.scheme.set(f.Value)
	case ":authority":
		return h.authority.set(f.Value)
	case ":path":
		return h.path.set(f.Value)
	}
	return false
}

// field reads what matters here of a field, and reports whether HTTP/2 has it (RFC 9113 section
// 8.2.2).
func (h *head) field(f *hpack.HeaderField) bool {
	switch f.Name {
	case "te":
		return strings.EqualFold(f.Value, "trailers")
	case "content-length":
		n, ok := parseLength(f.Value)
		if !ok || h.length >= 0 { // twice, as HTTP/1.1 is refused
			return false
		}
		h.length = n
	case "expect":
		h.expects = h.expects || strings.EqualFold(f.Value, "100-continue")
	case "trailer":
		h.announce(f.Value)
	case "priority":
		if h.hasPriority { // lines of one list
			h.priority += ", "
		}
		h.priority += f.Value
		h.hasPriority = true
	case "via", "forwarded", "x-forwarded-for":
		h.forMany = true
	default:
		return !connectionSpecific(f.Name)
	}
	return true
}

// connectionSpecific reports whether a field is one that only HTTP/1 has.
func connectionSpecific(name string) bool {
	switch name {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

// announce notes the trailers of a Trailer field.
func (h *head) announce(names string) {
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" && len(h.announced) < mostAnnounced {
			h.announced = append(h.announced, field.Canonical(name))
		}
	}
}

// line adds f to the lines of the request. Several Cookie fields become one line
// (RFC 9113 section 8.2.3).
func (s *stream) line(h *head, f *hpack.HeaderField) {
	b := s.scratch
	switch f.Name {
	case "http2-settings":
		return
	case "cookie":
		if h.cookie > 0 {
			l := &b.lines[h.cookie-1]
			l.Value = append(append(l.Value, "; "...), f.Value...) // has no room behind it: a copy
			return
		}
		h.cookie = len(b.lines) + 1
	}
	b.lines = append(b.lines, message.Line{Name: b.text(f.Name), Value: b.text(f.Value)})
}

// validTarget reports whether the pseudo-fields name one valid target (RFC 9113 sections 8.3.1, 8.5).
// It refuses a whole URL, which in HTTP/1.1 could name another host.
func (h *head) validTarget() bool {
	if !field.ValidName(h.method.value) || h.authority.there && !visible(h.authority.value) {
		return false
	}
	if h.method.value == http.MethodConnect {
		alone := h.authority.there && !h.scheme.there && !h.path.there
		h.path = h.authority
		return alone
	}
	if !visible(h.path.value) || h.path.value[0] != '/' && (h.path.value != "*" || h.method.value != http.MethodOptions) {
		return false
	}
	return h.scheme.value == "https" || h.scheme.value == "http"
}

// hostMatches reports whether Host equals :authority (RFC 9113 section 8.3.1). If :authority is missing, Host
// takes its place.
func (h *head) hostMatches(b *scratch) bool {
	hosts := 0
	for i := range b.lines {
		if l := &b.lines[i]; string(l.Name) == "host" {
			if hosts++; hosts > 1 || h.authority.there && string(l.Value) != h.authority.value {
				return false
			}
			h.authority.set(string(l.Value))
		}
	}
	return h.authority.value == "" || visible(h.authority.value)
}

// parseLength reads a Content-Length (RFC 9110 section 8.6).
func parseLength(text string) (int64, bool) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// validName reports whether name is one of HTTP/2: a token in lower case (RFC 9113 section
// 8.2.1).
func validName(name string) bool {
	for i := range len(name) {
		if 'A' <= name[i] && name[i] <= 'Z' {
			return false
		}
	}
	return field.ValidName(name)
}

// validValue reports whether value has only bytes that a value may have, and no white space
// around it (RFC 9113 section 8.2.1).
func validValue(value string) bool {
	if n := len(value); n > 0 && (blank(value[0]) || blank(value[n-1])) {
		return false
	}
	return field.ValidValue(value)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// visible reports whether s is there and has neither spaces nor control bytes.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != ""
}

// trailerFields reads the fields behind a content. Pseudo-fields are none (RFC 9113 section
// 8.1).
func trailerFields(fields []hpack.HeaderField) (list field.List, ok bool) {
	for i := range fields {
		f := &fields[i]
		h := head{length: -1}
		name := field.Canonical(f.Name)
		if !validName(f.Name) || !validValue(f.Value) || !h.field(f) || headerOnly(name) {
			return nil, false
		}
		list.Add(name, f.Value)
	}
	return list, true
}

// headerOnly reports whether a field, by its name in canonical form, would frame, route or
// authenticate a request if it were merged into the header (RFC 9110 section 6.5.1). For HTTP/1.1
// the same fields are refused.
func headerOnly(name string) bool {
	return !httpguts.ValidTrailerHeader(name) || name == "Cookie" || name == "Set-Cookie" || name == "Location"
}

// sizeInHTTP1 returns how many bytes a header would have in HTTP/1.1.
func sizeInHTTP1(fields []hpack.HeaderField) int {
	n := len("  HTTP/1.1\r\n\r\n")
	for i := range fields {
		f := &fields[i]
		switch f.Name {
		case ":method", ":path":
			n += len(f.Value)
		case ":scheme":
		case ":authority":
			n += len("Host: \r\n") + len(f.Value)
		default:
			n += len(f.Name) + len(": \r\n") + len(f.Value)
		}
	}
	return n
}
