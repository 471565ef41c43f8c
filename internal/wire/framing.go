package wire

import (
	"bytes"
	"errors"

	"edgeproxy/internal/field"
)

// Errors of Walker. Each is a request that two parsers could read in two
// ways.
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

// Walker goes through a raw header block once, as it came over the wire without the
// request line, and refuses what could be framed in two ways: a line that ends in
// a bare LF (RFC 9112 section 2.2), a folded line (section 5.2), white space in or
// after a field name (section 5.1), Content-Length beside Transfer-Encoding
// (section 6.1), either of them twice, a length that is not digits (section 6.3), a
// coding other than chunked (section 7), and a second Host (section 3.2). It allocates
// nothing.
type Walker struct {
	raw                    []byte
	count                  int
	host, length, encoding bool // seen
	framedFirst            bool
	ended, cut             bool // the empty line was seen; the last line has no end
	err                    error
}

// Walk returns a Walker over raw, which is only read.
func Walk(raw []byte) Walker { return Walker{raw: raw} }

// Lines yields the field lines as Next tells of them.
func (w *Walker) Lines(yield func(name, value []byte) bool) {
	for {
		name, value := w.Next()
		if name == nil || !yield(name, value) {
			return
		}
	}
}

// Next returns the next field line, the name as it came and the value without the white
// space around it, until the block ends or is found wanting: then the name is nil. Ask Err
// then. Both share the bytes of the block.
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
	if w.err = w.frame(name, value); w.err != nil {
		return nil, nil
	}
	w.count++
	return name, value
}

// Behind returns what follows the block, once its empty line was seen.
func (w *Walker) Behind() (rest []byte, ended bool) { return w.raw, w.ended }

// Short reports whether the block may go on: the lines so far are good, and neither the
// empty line nor the end of another one has come.
func (w *Walker) Short() bool { return !w.ended && (w.cut || w.err == nil) }

// frame looks at the fields that say where a message ends and whose it is. Nearly
// all names differ from theirs in length.
func (w *Walker) frame(name, value []byte) error {
	switch len(name) {
	case len("Host"):
		return once(&w.host, bytes.EqualFold(name, nameHost), true, ErrHosts)
	case len("Content-Length"):
		here := bytes.EqualFold(name, nameContentLength)
		w.framedFirst = w.framedFirst || here && w.count == 0
		return once(&w.length, here, digits(value), ErrLength)
	case len("Transfer-Encoding"):
		here := bytes.EqualFold(name, nameTransferEncoding)
		w.framedFirst = w.framedFirst || here && w.count == 0
		return once(&w.encoding, here, bytes.EqualFold(value, chunked), ErrEncoding)
	}
	return nil
}

// once notes in seen that a field is here; it must be good, and the first.
func once(seen *bool, here, good bool, otherwise error) error {
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

// digits reports whether value is digits and nothing else.
func digits(value []byte) bool {
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(value) > 0
}

// Chunked reports whether the body comes in chunks, as far as Lines has come.
func (w *Walker) Chunked() bool { return w.encoding }

// FramedFirst reports whether the first field line is one that frames the body. Such
// a line may be the rest of a request line that another parser ends at its CRLF and
// fasthttp at an LF before it: see TestLFInTheRequestLine in internal/proxy.
func (w *Walker) FramedFirst() bool { return w.framedFirst }

// Err returns what is wrong with the framing, as far as Lines has come.
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
