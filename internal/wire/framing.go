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
	w := Walk(raw)
	for range w.Names {
	}
	return w.Err()
}

// Walker goes through a raw header block once, name by name, and checks its
// framing on the way as CheckFraming does.
type Walker struct {
	raw              []byte
	count            int
	length, encoding bool
	err              error
}

// Walk returns a Walker over raw, which is only read.
func Walk(raw []byte) Walker { return Walker{raw: raw} }

// Names yields the names of the field lines, as they came, until the block ends
// or is found wanting: ask Err then. The names share the bytes of the block.
func (w *Walker) Names(yield func(name []byte) bool) {
	for len(w.raw) > 0 {
		end := bytes.IndexByte(w.raw, '\n')
		if end < 1 || w.raw[end-1] != '\r' {
			w.err = ErrLineEnd
			return
		}
		line := w.raw[:end-1]
		w.raw = w.raw[end+1:]
		if len(line) == 0 {
			return
		}
		name, err := fieldName(line)
		if err != nil {
			w.err = err
			return
		}
		w.count++
		w.length = w.length || is(name, nameContentLength)
		w.encoding = w.encoding || is(name, nameTransferEncoding)
		if !yield(name) {
			return
		}
	}
}

// Count returns how many field lines Names has gone through.
func (w *Walker) Count() int { return w.count }

// Err returns what is wrong with the framing, as far as Names has come.
func (w *Walker) Err() error {
	if w.err == nil && w.length && w.encoding {
		return ErrFraming
	}
	return w.err
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
