package http1

import (
	"bytes"
	"io"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/wire"
)

// chunks follows a chunked body (RFC 9112 section 7.1) in the bytes that fasthttp reads, and keeps its trailer section as
// it came. fasthttp does not: it joins folded lines, takes a bare LF for the end of a line, and drops a line that was cut
// off. fasthttp checks what comes before the section. Of a body that it refuses, nothing here is used.
type chunks struct {
	next    chunkPart
	size    uint64 // size of the chunk whose size is read
	left    uint64 // bytes of the data, and of the CRLF behind it, that have not come
	section []byte // what has come behind the last chunk, also what is behind the section
	most    int    // so much of it is kept; fasthttp refuses a longer section
}

// chunkPart is a part of a chunked body.
type chunkPart uint8

const (
	chunkSize chunkPart = iota
	chunkExtension
	chunkData
	chunkTrailer
)

// dataEnd is the length of the CRLF behind the data.
const dataEnd = 2

// follow takes the next bytes of the body.
func (c *chunks) follow(b []byte) {
	for len(b) > 0 {
		switch c.next {
		case chunkSize:
			digit := wire.Unhex(b[0])
			if digit == 0xff {
				c.next = chunkExtension
				continue
			}
			c.size = c.size<<4 | uint64(digit)
			b = b[1:]
		case chunkExtension: // up to the end of the line
			end := bytes.IndexByte(b, '\n')
			if end < 0 {
				return
			}
			b = b[end+1:]
			c.next, c.left = chunkData, c.size+dataEnd
			if c.size == 0 {
				c.next = chunkTrailer
			}
			c.size = 0
		case chunkData:
			n := min(c.left, uint64(len(b)))
			b = b[n:]
			if c.left -= n; c.left == 0 {
				c.next = chunkSize
			}
		case chunkTrailer:
			c.section = append(c.section, b[:min(len(b), c.most-len(c.section))]...)
			return
		}
	}
}

// trailers returns the fields of the trailer section. The error is io.ErrUnexpectedEOF if the body ended before the empty
// line that ends the section, and errTrailer if a line is malformed.
func (c *chunks) trailers() (list field.List, err error) {
	w := wire.Walk(c.section)
	for name, value := range w.Lines {
		if !field.ValidValue(value) {
			return nil, errTrailer
		}
		list.Add(field.Canonical(string(name)), string(value))
	}
	switch {
	case w.Short():
		return nil, io.ErrUnexpectedEOF
	case w.Err() != nil:
		return nil, errTrailer
	}
	return list, nil
}
