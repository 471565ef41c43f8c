package origin

import (
	"strconv"
	"strings"

	"edgeproxy/internal/http/field"
)

// delimiter says what ends the body of a response.
type delimiter uint8

const (
	byNothing delimiter = iota // there is no body
	byLength
	byChunks
	byClose
)

// framing is where a response ends, and whether the connection outlives it.
type framing struct {
	end    delimiter
	length int64 // length of the body; -1: not known
	keep   bool  // the response lets the connection be kept
}

// frame decides the framing of h, the answer to a request with the given method
// (RFC 9112 section 6.3). It removes Transfer-Encoding from h and folds equal
// Content-Lengths into one. Transfer-Encoding with Content-Length, or in
// HTTP/1.0, is refused: RFC 9112 section 6.1 calls both a likely attack, and a
// reader that chose the other of the two would see other responses.
func frame(method string, h *head) (framing, error) {
	chunked, err := takeTransferEncoding(h)
	if err != nil {
		return framing{}, err
	}
	length, err := takeLength(h)
	if err != nil {
		return framing{}, err
	}
	if chunked && length >= 0 {
		return framing{}, malformed("the response has both Transfer-Encoding and Content-Length")
	}
	h.chunked = chunked
	f := delimit(method, h.status, chunked, length)
	f.keep = f.keep && persistent(h)
	return f, nil
}

// delimit applies the order of RFC 9112 section 6.3 to what the header says.
func delimit(method string, status int, chunked bool, length int64) framing {
	switch {
	case method == "HEAD" || status == 304:
		return framing{end: byNothing, keep: true} // the fields describe the body of a GET
	case status < 200 || status == 204:
		// No body by definition. A server that announces one may send it all the same.
		return framing{end: byNothing, keep: !chunked && length <= 0}
	case chunked:
		return framing{end: byChunks, length: -1, keep: true}
	case length == 0:
		return framing{end: byNothing, keep: true}
	case length > 0:
		return framing{end: byLength, length: length, keep: true}
	}
	return framing{end: byClose, length: -1}
}

// takeTransferEncoding removes Transfer-Encoding and reports whether the body
// is chunked. We send no TE, so an origin may use no other coding.
func takeTransferEncoding(h *head) (bool, error) {
	const name = "Transfer-Encoding"
	values := h.fields.Values(name)
	if len(values) == 0 {
		return false, nil
	}
	if h.minor == 0 {
		return false, malformed("HTTP/1.0 response with Transfer-Encoding")
	}
	if len(values) > 1 || !strings.EqualFold(values[0], "chunked") {
		return false, malformed("Transfer-Encoding %.40q: only chunked is supported", values)
	}
	h.fields = h.fields.Without(func(n string) bool { return n == name })
	return true, nil
}

// takeLength returns the Content-Length, -1 if there is none. Several equal
// values, on one line or more, become one (RFC 9110 section 8.6).
func takeLength(h *head) (int64, error) {
	const name = "Content-Length"
	first, lines := "", 0
	for i := range h.fields {
		if h.fields[i].Name != name {
			continue
		}
		lines++
		for v := range strings.SplitSeq(h.fields[i].Value, ",") {
			v = strings.Trim(v, " \t")
			if !digits(v) || first != "" && v != first {
				return 0, malformed("invalid Content-Length %.40q", h.fields.Values(name))
			}
			first = v
		}
		h.fields[i].Value = first
	}
	if lines == 0 {
		return -1, nil
	}
	if lines > 1 {
		h.fields = dropRepeats(h.fields, name)
	}
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0, malformed("invalid Content-Length %.40q", first)
	}
	return n, nil
}

// dropRepeats removes all fields called name but the first.
func dropRepeats(l field.List, name string) field.List {
	seen := false
	return l.Without(func(n string) bool {
		repeat := n == name && seen
		seen = seen || n == name
		return repeat
	})
}
