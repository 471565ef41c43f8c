package chunked

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"edgeproxy/internal/http/field"
)

const (
	maxLineBytes = 1 << 10
	maxDigits    = 16
	// maxWaste bounds the bytes that a peer may send between the data, beyond
	// allowance bytes per chunk and twice the data. Without it a body of one-byte
	// chunks with long extensions costs a thousand times its data.
	maxWaste  = 4 << 10
	allowance = 16
)

// line is a line of a chunked body.
type line uint8

const (
	sizeLine    line = iota
	dataEndLine      // the empty one behind the data
	trailerLine
)

// lineEnd ends each line, and the data of each chunk.
var lineEnd = []byte("\r\n")

// MalformedError says what in a chunked body is not understood.
type MalformedError string

// Error implements error.
func (m MalformedError) Error() string { return string(m) }

func malformed(format string, args ...any) error { return MalformedError(fmt.Sprintf(format, args...)) }

// Section says which trailer sections a Reader takes. It is not changed while one uses it.
type Section struct {
	// Bytes and Fields bound the section: the bytes of its lines with their ends, and their number.
	Bytes, Fields int
	// Parse parses a line, which comes without its end. The name is canonical.
	Parse func(line string) (name, value string, err error)
}

// Reader decodes a chunked body (RFC 9112 section 7.1) strictly: CRLF
// only, no sign, prefix or white space in a size. It returns io.EOF only after
// the empty line that ends the trailer section, and has taken nothing after it from its
// bufio.Reader. Trailer fields are checked and kept. A body that ends early is io.ErrUnexpectedEOF, and one that is not
// understood is MalformedError, or the error of Section.Parse. A Reader is not for concurrent use, and must not be read
// after an error.
type Reader struct {
	r            *bufio.Reader
	section      *Section
	left         int64 // bytes left of the current chunk's data
	next         line  // once nothing is left
	waste        int64
	trailerBytes int
	trailers     field.List
}

// NewReader returns a Reader of the body that follows in r, whose buffer bounds each line.
func NewReader(r *bufio.Reader, s *Section) *Reader { return &Reader{r: r, section: s} }

// Trailers returns the fields of the trailer section in their order, once Read has returned io.EOF. The caller owns the list.
func (c *Reader) Trailers() field.List { return c.trailers }

// Read fills p from as many chunks as have arrived already, and waits only for
// the first of them.
func (c *Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if n > 0 && !c.arrived() {
			return n, nil
		}
		if c.left == 0 {
			if err := c.step(); err != nil {
				return n, err
			}
			continue
		}
		m, err := c.r.Read(p[n:][:min(int64(len(p)-n), c.left)])
		n += m
		c.left -= int64(m)
		if err != nil {
			return n, cutAt(err)
		}
	}
	return n, nil
}

// arrived reports whether some data, or the next line, can be read without waiting.
func (c *Reader) arrived() bool {
	b, _ := c.r.Peek(c.r.Buffered())
	if c.left > 0 {
		return len(b) > 0
	}
	return bytes.IndexByte(b, '\n') >= 0
}

// step reads the next line.
func (c *Reader) step() error {
	text, err := c.readLine()
	if err != nil {
		return err
	}
	switch c.next {
	case sizeLine:
		return c.size(text)
	case dataEndLine:
		if len(text) > 0 {
			return malformed("a chunk is longer than its chunk size")
		}
		c.next = sizeLine
		return nil
	case trailerLine:
	}
	return c.trailer(text)
}

// readLine returns the next line without its CRLF, valid until the next read.
func (c *Reader) readLine() ([]byte, error) {
	b, err := c.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, malformed("a line in a chunked body is too long")
	case err != nil:
		return nil, cutAt(err)
	}
	text, ok := bytes.CutSuffix(b, lineEnd)
	if !ok {
		return nil, malformed("a line in a chunked body does not end in CRLF")
	}
	return text, nil
}

// size parses chunk-size [chunk-ext].
func (c *Reader) size(text []byte) error {
	if len(text) > maxLineBytes {
		return malformed("chunk size line of %d bytes: the limit is %d", len(text), maxLineBytes)
	}
	number, extension, _ := bytes.Cut(text, []byte(";"))
	n, ok := parseHex(number)
	if !ok || !field.ValidValue(extension) {
		return malformed("invalid chunk size line %.40q", text)
	}
	lineEnds := int64(2 * len(lineEnd)) // line ends of this line and of the data
	c.waste += int64(len(text)) + lineEnds - allowance - 2*min(n, maxWaste)
	c.waste = max(0, c.waste)
	if c.waste > maxWaste {
		return malformed("chunk extensions and line ends take too many bytes beside the data")
	}
	c.left, c.next = n, dataEndLine
	if n == 0 {
		c.next = trailerLine
	}
	return nil
}

func (c *Reader) trailer(text []byte) error {
	if len(text) == 0 {
		return io.EOF
	}
	c.trailerBytes += len(text) + len(lineEnd)
	if s := c.section; c.trailerBytes > s.Bytes || len(c.trailers) == s.Fields {
		return malformed("trailer section of more than %d bytes or %d fields", s.Bytes, s.Fields)
	}
	name, value, err := c.section.Parse(string(text))
	if err == nil {
		c.trailers.Add(name, value)
	}
	return err //nolint:wrapcheck // it is the caller's own
}

// HasData reports whether the buffer has data, the end of the body, or something malformed: Read does not wait then.
func (c *Reader) HasData() bool {
	b, _ := c.r.Peek(c.r.Buffered())
	if c.left > 0 {
		return len(b) > 0
	}
	for next := c.next; ; {
		text, rest, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			return false
		}
		b = rest
		switch next {
		case dataEndLine:
			next = sizeLine
		case sizeLine:
			number, _, _ := bytes.Cut(bytes.TrimSuffix(text, []byte("\r")), []byte(";"))
			if n, ok := parseHex(number); !ok || n > 0 {
				return !ok || len(b) > 0
			}
			next = trailerLine
		case trailerLine:
			if len(text) <= len("\r") {
				return true
			}
		}
	}
}

// cutAt turns io.EOF inside a body into io.ErrUnexpectedEOF.
func cutAt(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parseHex parses 1*HEXDIG, up to the largest int64.
func parseHex(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > maxDigits {
		return 0, false
	}
	var n uint64
	for _, b := range s {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | uint64(b)
	}
	return int64(n), n <= math.MaxInt64
}
