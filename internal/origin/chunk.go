package origin

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"

	"edgeproxy/internal/field"
)

const (
	maxChunkLineBytes = 1 << 10
	maxChunkDigits    = 16
	// maxChunkWaste bounds the bytes that an origin may send between the data, beyond
	// chunkAllowance bytes per chunk and twice the data. Without it a body of one-byte
	// chunks with long extensions costs a thousand times its data.
	maxChunkWaste   = 4 << 10
	chunkAllowance  = 16
	maxTrailerBytes = 16 << 10
)

// chunkLine is a line of a chunked body.
type chunkLine uint8

const (
	chunkSize    chunkLine = iota
	chunkDataEnd           // the empty one behind the data
	chunkTrailer
)

// chunkReader decodes a chunked body (RFC 9112 section 7.1) strictly: CRLF
// only, no sign, prefix or white space in a size. It returns io.EOF only after
// the empty line that ends the trailer section, and has read nothing after it.
// Trailer fields are checked and kept. It is not for concurrent use, and must not be read
// after an error.
type chunkReader struct {
	r            *bufio.Reader
	left         int64     // of the data of the current chunk
	next         chunkLine // once nothing is left
	waste        int64
	trailerBytes int
	trailers     field.List
}

// Read fills p from as many chunks as have arrived already, and waits only for
// the first of them.
func (c *chunkReader) Read(p []byte) (int, error) {
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
func (c *chunkReader) arrived() bool {
	b, _ := c.r.Peek(c.r.Buffered())
	if c.left > 0 {
		return len(b) > 0
	}
	return bytes.IndexByte(b, '\n') >= 0
}

// step reads the next line.
func (c *chunkReader) step() error {
	line, err := c.line()
	if err != nil {
		return err
	}
	switch c.next {
	case chunkSize:
		return c.size(line)
	case chunkDataEnd:
		if len(line) > 0 {
			return malformed("a chunk is longer than its chunk size")
		}
		c.next = chunkSize
		return nil
	case chunkTrailer:
	}
	return c.trailer(line)
}

// line returns the next line without its CRLF, valid until the next read.
func (c *chunkReader) line() ([]byte, error) {
	b, err := c.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, malformed("a line in a chunked body is too long")
	case err != nil:
		return nil, cutAt(err)
	}
	line, ok := bytes.CutSuffix(b, []byte("\r\n"))
	if !ok {
		return nil, malformed("a line in a chunked body does not end in CRLF")
	}
	return line, nil
}

// size parses chunk-size [chunk-ext].
func (c *chunkReader) size(line []byte) error {
	if len(line) > maxChunkLineBytes {
		return malformed("chunk size line of %d bytes: the limit is %d", len(line), maxChunkLineBytes)
	}
	number, extension, _ := bytes.Cut(line, []byte(";"))
	n, ok := parseHex(number)
	if !ok || !field.ValidValue(extension) {
		return malformed("invalid chunk size line %.40q", line)
	}
	lineEnds := int64(len("\r\n\r\n")) // of this line and of the data
	c.waste += int64(len(line)) + lineEnds - chunkAllowance - 2*min(n, maxChunkWaste)
	c.waste = max(0, c.waste)
	if c.waste > maxChunkWaste {
		return malformed("chunk extensions and line ends take too many bytes beside the data")
	}
	c.left, c.next = n, chunkDataEnd
	if n == 0 {
		c.next = chunkTrailer
	}
	return nil
}

func (c *chunkReader) trailer(line []byte) error {
	if len(line) == 0 {
		return io.EOF
	}
	c.trailerBytes += len(line)
	if c.trailerBytes > maxTrailerBytes || len(c.trailers) == maxFields {
		return malformed("trailer section of more than %d bytes or %d fields", maxTrailerBytes, maxFields)
	}
	name, value, err := parseField(string(line))
	if err == nil {
		c.trailers.Add(name, value)
	}
	return err
}

// parseHex parses 1*HEXDIG, up to the largest int64.
func parseHex(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > maxChunkDigits {
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
