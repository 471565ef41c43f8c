package origin

import (
	"strings"

	"edgeproxy/internal/http/field"
)

// maxFields bounds the field lines of one head or trailer section: enough for
// any real origin, and small enough that looking through them stays cheap.
const maxFields = 256

// head is a parsed response head. Its strings are slices of the text parsed.
type head struct {
	minor  int // minor version, of HTTP/1.minor
	status int // 100 to 999
	reason string
	fields field.List

	chunked bool // it had a Transfer-Encoding, which frame has taken out
}

// connectionOption reports whether Connection has the option, given in lower case
// (RFC 9110 section 7.6.1).
func (h *head) connectionOption(option string) bool {
	for i := range h.fields {
		if h.fields[i].Name != "Connection" {
			continue
		}
		for token := range strings.SplitSeq(h.fields[i].Value, ",") {
			if strings.EqualFold(strings.Trim(token, " \t"), option) {
				return true
			}
		}
	}
	return false
}

// parseHead parses status line and field lines (RFC 9112 sections 4 and 5).
// Every line of text ends in CRLF; the empty line at the end is left out.
//
// A bare LF is no line end here, though RFC 9112 section 2.2 would allow it: an
// origin that copies a client's LF into a value would let that client write
// header fields of a response that others get from the cache.
//
// The fields of a final response are in room, if there is enough of it.
func parseHead(text string, room field.List) (head, error) {
	line, rest := cutLine(text)
	h, err := parseStatusLine(line)
	if err != nil {
		return head{}, err
	}
	count := strings.Count(rest, "\n")
	if count > maxFields {
		return head{}, malformed("%d header fields: the limit is %d", count, maxFields)
	}
	if h.fields = room[:0]; room == nil || cap(room) < count || h.status < 200 {
		h.fields = make(field.List, 0, count)
	}
	for rest != "" {
		line, rest = cutLine(rest)
		name, value, err := parseField(line)
		if err != nil {
			return head{}, err
		}
		h.fields.Add(name, value)
	}
	return h, nil
}

// cutLine returns the first line of text, without its CRLF, and what follows it. A line that ends otherwise
// is no line: all of text is returned, which is not valid then.
func cutLine(text string) (line, rest string) {
	if end := strings.IndexByte(text, '\n'); end > 0 && text[end-1] == '\r' {
		return text[:end-1], text[end+1:]
	}
	return text, ""
}

// parseStatusLine parses HTTP/1.x SP 3DIGIT [SP reason]. Origins leave out the
// space before an empty reason too often to refuse that.
func parseStatusLine(line string) (head, error) {
	const prefix = "HTTP/1."
	rest, ok := strings.CutPrefix(line, prefix)
	if !ok || len(rest) < len("1 200") || rest[1] != ' ' || !digits(rest[:1]) || !digits(rest[2:5]) {
		return head{}, malformed("invalid status line %.40q", line)
	}
	status := int(rest[2]-'0')*100 + int(rest[3]-'0')*10 + int(rest[4]-'0')
	reason := rest[5:]
	if status < 100 || reason != "" && reason[0] != ' ' || !field.ValidValue(reason) {
		return head{}, malformed("invalid status line %.40q", line)
	}
	return head{minor: int(rest[0] - '0'), status: status, reason: strings.TrimPrefix(reason, " ")}, nil
}

// parseField parses one field line. White space before the colon is removed, as
// RFC 9112 section 5.1 asks of a proxy. A folded line is refused, the other of
// the two answers that section 5.2 allows: no origin of today folds on purpose.
func parseField(line string) (name, value string, err error) {
	if line != "" && blank(line[0]) {
		return "", "", malformed("a header field is folded over two lines (obs-fold)")
	}
	name, value, ok := strings.Cut(line, ":")
	name, value = trimRight(name), trimRight(value)
	for value != "" && blank(value[0]) {
		value = value[1:]
	}
	if !ok || !field.ValidName(name) {
		return "", "", malformed("invalid header field name %.40q", name)
	}
	if !field.ValidValue(value) {
		return "", "", malformed("invalid value of header field %.40q", name)
	}
	return field.Canonical(name), value, nil
}

// trimRight returns s without the spaces and tabs at its end.
func trimRight(s string) string {
	for s != "" && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// blank reports whether c is a space or a tab.
func blank(c byte) bool { return c == ' ' || c == '\t' }

// digits reports whether s is one or more decimal digits.
func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
