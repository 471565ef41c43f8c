package byteranges

import (
	"bytes"
	"io"
	"net"
	"strconv"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
)

// Boundaries are tried in this order: the separator with each of the marks. They need not be hard to guess, since the parts
// are searched for them.
const (
	separator      = "part-of-a-stored-body-"
	separatorMarks = "0123"
	boundaryBytes  = len(separator) + 1
)

// spareBytes is by how much an answer in parts may be longer than the whole body. Beyond that the whole is sent, which is
// cheaper, so that many small ranges are no attack (RFC 9110 section 17.15).
const spareBytes = 4 << 10

// pieceBytes is how much of content in a file is held at once while it is searched.
const pieceBytes = 32 << 10

// Parts are the content of a multipart/byteranges answer (RFC 9110 section 14.6):
// what goes between the parts, and the parts, which are not copied. They
// belong to one answer.
type Parts struct {
	Boundary string      // for the Content-Type of the answer
	Length   int64       // bytes in all of it
	Content  net.Buffers // texts and parts in turn, a text first and last; a part of content in a file is nil. Sending may use it up
}

// New cuts ranges that do not overlap out of the content of e. It returns nil where the
// answer would be too long, or every boundary is found in what it has to separate: then the whole is sent.
// Content in a file is read, which may wait.
func New(e *cache.Object, ranges []rfc9111.Range) *Parts {
	content := e.Content()
	size, sent := content.Size(), int64(0)
	for _, r := range ranges {
		sent += r.Length()
	}
	// The part says of what type it is, the answer that it is in parts.
	contentType := ""
	if value, ok := e.Header().Get("Content-Type"); ok {
		contentType = "\r\nContent-Type: " + value
	}
	framing := framingBytes(len(ranges), contentType, size)
	if sent+framing > size+spareBytes {
		return nil
	}
	boundary, ok := boundaryFor(content, ranges)
	if !ok {
		return nil
	}
	p := &Parts{Boundary: boundary, Length: sent, Content: make(net.Buffers, 0, 2*len(ranges)+1)}
	text := make([]byte, 0, framing)
	for _, r := range ranges {
		start := len(text)
		text = p.appendHead(text, contentType, r, size)
		p.Content = append(p.Content, text[start:], nil)
		if body, ok := content.Bytes(); ok {
			p.Content[len(p.Content)-1] = body[r.First : r.Last+1]
		}
	}
	start := len(text)
	text = append(p.appendDelimiter(text), "--\r\n"...)
	p.Content = append(p.Content, text[start:])
	// The first delimiter needs no end of a line before it.
	p.Content[0] = p.Content[0][len("\r\n"):]
	p.Length += int64(len(text) - len("\r\n"))
	return p
}

// Reader returns the whole answer as a reader. c is content in a file, and ranges are those that New was given.
func (p *Parts) Reader(c cache.Content, ranges []rfc9111.Range) io.Reader {
	all := make([]io.Reader, len(p.Content))
	for i, text := range p.Content {
		if all[i] = bytes.NewReader(text); i%2 == 1 {
			r := ranges[i/2]
			all[i] = c.Section(r.First, r.Length())
		}
	}
	return io.MultiReader(all...)
}

// appendHead appends what comes before the part r of a whole of size bytes.
func (p *Parts) appendHead(text []byte, contentType string, r rfc9111.Range, size int64) []byte {
	text = append(p.appendDelimiter(text), contentType...)
	text = AppendContentRange(append(text, "\r\n"...), r.First, r.Last, size)
	return append(text, "\r\n"...)
}

func (p *Parts) appendDelimiter(text []byte) []byte {
	return append(append(text, "\r\n--"...), p.Boundary...)
}

// framingBytes is at least what goes before, between and after so many parts,
// each with the line contentType.
func framingBytes(count int, contentType string, size int64) int64 {
	const delimiter = len("\r\n--") + boundaryBytes
	const contentRange = len("\r\nContent-Range: bytes -/\r\n\r\n")
	var room [20]byte
	digits := len(strconv.AppendInt(room[:0], size, 10))
	each := delimiter + len(contentType) + contentRange + 3*digits
	return int64(count)*int64(each) + int64(delimiter+len("--\r\n"))
}

// boundaryFor returns a boundary that none of the ranges of c contains. To look
// costs about what it costs to send them; so many misses in a row are no accident.
func boundaryFor(c cache.Content, ranges []rfc9111.Range) (boundary string, ok bool) {
	var room [2 + boundaryBytes]byte
	for _, mark := range []byte(separatorMarks) {
		delimiter := append(append(append(room[:0], "--"...), separator...), mark)
		if !anyContains(c, ranges, delimiter) {
			return string(delimiter[2:]), true
		}
	}
	return "", false
}

// anyContains reports whether one of the ranges of c contains text, or cannot be read.
func anyContains(c cache.Content, ranges []rfc9111.Range, text []byte) bool {
	body, inMemory := c.Bytes()
	for _, r := range ranges {
		switch {
		case inMemory && bytes.Contains(body[r.First:r.Last+1], text):
			return true
		case !inMemory && contains(c.Section(r.First, r.Length()), text):
			return true
		}
	}
	return false
}

// contains reports whether what from gives contains text, or is incomplete. It holds a piece
// at a time, each with the end of the one before.
func contains(from *io.SectionReader, text []byte) bool {
	piece, kept := make([]byte, min(from.Size()+int64(len(text)), pieceBytes)), 0
	for left := from.Size(); left > 0; {
		n, err := from.Read(piece[kept:])
		left -= int64(n)
		if bytes.Contains(piece[:kept+n], text) || err != nil && left > 0 {
			return true
		}
		tail := min(kept+n, len(text)-1)
		kept = copy(piece, piece[kept+n-tail:kept+n])
	}
	return false
}
