package wire

import (
	"bytes"
	"errors"

	"edgeproxy/internal/field"
)

// Errors of CheckFraming. Each is a request that two parsers could read in two
// ways.
var (
	ErrLineEnd   = errors.New("header line does not end in CRLF")
	ErrFold      = errors.New("folded header line")
	ErrFieldName = errors.New("malformed field name")
	ErrFraming   = errors.New("both Content-Length and Transfer-Encoding")
)

var (
	nameContentLength    = []byte("Content-Length")
	nameTransferEncoding = []byte("Transfer-Encoding")
)

// CheckFraming reads the header block as it came over the wire, without the
// request line, and refuses what fasthttp lets through: a line that ends in a
// bare LF (RFC 9112 section 2.2), a folded line (section 5.2), white space in or
// after a field name (section 5.1), and Content-Length beside Transfer-Encoding
// (section 6.1). raw is only read. It allocates nothing.
func CheckFraming(raw []byte) error {
	length, encoding := false, false
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || raw[end-1] != '\r' {
			return ErrLineEnd
		}
		line := raw[:end-1]
		raw = raw[end+1:]
		if len(line) == 0 {
			break
		}
		name, err := fieldName(line)
		if err != nil {
			return err
		}
		length = length || is(name, nameContentLength)
		encoding = encoding || is(name, nameTransferEncoding)
	}
	if length && encoding {
		return ErrFraming
	}
	return nil
}

// fieldName returns the name of a field line, which must begin with it.
func fieldName(line []byte) ([]byte, error) {
	if line[0] == ' ' || line[0] == '\t' {
		return nil, ErrFold
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 1 || !field.ValidName(line[:colon]) {
		return nil, ErrFieldName
	}
	return line[:colon], nil
}

// is compares names without regard to case; nearly all differ in length.
func is(name, want []byte) bool { return len(name) == len(want) && bytes.EqualFold(name, want) }
