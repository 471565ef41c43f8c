package wire

import (
	"bytes"
	"errors"

	"edgeproxy/internal/http/field"
)

// Errors of Walker. Each means that two parsers could read the request in two ways.
var (
	ErrLineEnd   = errors.New("header line does not end in CRLF")
	ErrFold      = errors.New("folded header line")
	ErrFieldName = errors.New("malformed field name")
	ErrFraming   = errors.New("both Content-Length and Transfer-Encoding")
	ErrLength    = errors.New("Content-Length twice, or no number")
	ErrEncoding  = errors.New("Transfer-Encoding twice, or not chunked")
	ErrHosts     = errors.New("more than one Host")
)

var (
	nameHost             = []byte("Host")
	nameContentLength    = []byte("Content-Length")
	nameTransferEncoding = []byte("Transfer-Encoding")
	chunked              = []byte("chunked")
)

// Walker iterates once over a raw header block, as received and without the request
// line. It refuses a block that could be framed in two ways: a line that ends in a
// bare LF (RFC 9112 section 2.2), a folded line (section 5.2), white space in or after
// a field name (section 5.1), Content-Length beside Transfer-Encoding (section 6.1),
// either of them twice, a length that is not digits (section 6.3), a coding other than
// chunked (section 7), and a second Host (section 3.2). It allocates nothing.
type Walker struct {
	raw                    []byte
	count                  int  // field lines so far
	host, length, encoding bool // Host, Content-Length, Transfer-Encoding were seen
	framedFirst            bool
	ended, cut             bool // the empty line was seen; raw ends within a line
	err                    error
}

// Walk returns a Walker over raw, which it only reads.
func Walk(raw []byte) Walker { return Walker{raw: raw} }

// Lines yields the field lines that Next returns.
func (w *Walker) Lines(yield func(name, value []byte) bool) {
	for {
		name, value := w.Next()
		if name == nil || !yield(name, value) {
			return
		}
	}
}

// Next returns the next field line: the name as received, and the value without the white
// space around it. Both share the bytes of the block. At the end of the block, or after an
// error, the name is nil; Err returns the error.
func (w *Walker) Next() (name, value []byte) {
	if len(w.raw) == 0 || w.ended || w.err != nil {
		return nil, nil
	}
	end := bytes.IndexByte(w.raw, '\n')
	if end < 1 || w.raw[end-1] != '\r' {
		w.cut = end < 0
		w.err = ErrLineEnd
		return nil, nil
	}
	line := w.raw[:end-1]
	w.raw = w.raw[end+1:]
	if len(line) == 0 {
		w.ended = true
		return nil, nil
	}
	name, w.err = fieldName(line)
	if w.err != nil {
		return nil, nil
	}
	value = trim(line[len(name)+1:])
	if w.err = w.recordFraming(name, value); w.err != nil {
		return nil, nil
	}
	w.count++
	return name, value
}

// Behind returns the bytes after the header block. They are known if ended is true: the
// empty line was seen.
func (w *Walker) Behind() (rest []byte, ended bool) { return w.raw, w.ended }

// Short reports whether the block is incomplete: its complete lines are valid, and
// the empty line has not come.
func (w *Walker) Short() bool { return !w.ended && (w.cut || w.err == nil) }

// recordFraming checks and records Host and the fields that frame the body. It compares
// lengths first, since nearly all other names have another length.
func (w *Walker) recordFraming(name, value []byte) error {
	switch len(name) {
	case len("Host"):
		return recordOnce(&w.host, bytes.EqualFold(name, nameHost), true, ErrHosts)
	case len("Content-Length"):
		here := bytes.EqualFold(name, nameContentLength)
		w.framedFirst = w.framedFirst || here && w.count == 0
		return recordOnce(&w.length, here, digits(value), ErrLength)
	case len("Transfer-Encoding"):
		here := bytes.EqualFold(name, nameTransferEncoding)
		w.framedFirst = w.framedFirst || here && w.count == 0
		return recordOnce(&w.encoding, here, bytes.EqualFold(value, chunked), ErrEncoding)
	}
	return nil
}

// recordOnce records in seen that a field is present, if here is set. It returns otherwise if the
// field is not good, or was already seen.
func recordOnce(seen *bool, here, good bool, otherwise error) error {
	if !here {
		return nil
	}
	if *seen || !good {
		return otherwise
	}
	*seen = true
	return nil
}

// trim returns value without the white space around it (RFC 9110 section 5.6.3).
func trim(value []byte) []byte {
	for len(value) > 0 && (value[0] == ' ' || value[0] == '\t') {
		value = value[1:]
	}
	for n := len(value); n > 0 && (value[n-1] == ' ' || value[n-1] == '\t'); n-- {
		value = value[:n-1]
	}
	return value
}

// digits reports whether value is not empty and has only digits.
func digits(value []byte) bool {
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(value) > 0
}

// Chunked reports whether the lines so far say that the body is chunked.
func (w *Walker) Chunked() bool { return w.encoding }

// FramedFirst reports whether the first field line is Content-Length or
// Transfer-Encoding. Such a line may be the rest of a request line that another
// parser ends at its CRLF, and fasthttp at an LF before that: see
// TestLFInTheRequestLine in internal/proxy.
func (w *Walker) FramedFirst() bool { return w.framedFirst }

// Err returns what is wrong with the framing of the lines so far.
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
