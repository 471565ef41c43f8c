package origin

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/http/field"
)

// What a frame of HTTP/2 says of itself (RFC 9113 sections 6.2 and 6.10).
const (
	frameHeaders      = 0x1
	frameContinuation = 0x9

	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	// longestFrame is the longest frame that a server may send, and headerTable the size of the table that it may fill
	// with fields. The library is told both.
	longestFrame = 1 << 20
	headerTable  = 4 << 10
	// keptFrame is the longest frame whose memory is kept for the next one.
	keptFrame = 16 << 10
)

// errHeaderBlock ends a connection behind a header block that cannot be read. The library says what is wrong with it.
var errHeaderBlock = errors.New("a header block of HTTP/2 cannot be read")

// headChecker is a connection of HTTP/2 that looks at the head of each response before the library reads it. The library
// leaves out lengths that are no numbers or differ, and fields that have no place in HTTP/2, and then nobody knows that
// they were there. Such a response is malformed (RFC 9113 section 8.1.1): what another reader makes of it is not known.
// So headChecker adds a field to it for which the library refuses it, and resets its stream.
type headChecker struct {
	net.Conn
	br     *bufio.Reader
	head   [frameHeadBytes]byte
	frame  []byte // a frame with a part of a header block
	out    []byte // is read before anything else
	left   int    // bytes of the frame behind that, which are read as they come
	fields *hpack.Decoder
	block  headerBlock
	ended  bool // nothing can be read after what was read last
}

// newHeadChecker returns one whose header blocks have strings of at most longest bytes.
func newHeadChecker(c net.Conn, longest int) *headChecker {
	h := &headChecker{Conn: c, br: bufio.NewReader(c)}
	h.fields = hpack.NewDecoder(headerTable, h.block.add)
	h.fields.SetMaxStringLength(longest)
	return h
}

// Read is for one goroutine.
func (c *headChecker) Read(p []byte) (n int, err error) {
	for len(c.out) == 0 && c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	if n = copy(p, c.out); n > 0 {
		c.out = c.out[n:]
		p = p[n:min(len(p), n+c.br.Buffered())] // no more than is here
	}
	if len(c.out) == 0 && c.left > 0 && len(p) > 0 {
		var m int
		m, err = c.br.Read(p[:min(len(p), c.left)])
		n, c.left = n+m, c.left-m
	}
	return n, err
}

// next begins the next frame. One with a part of a header block it reads to its end.
func (c *headChecker) next() error {
	if c.ended {
		return errHeaderBlock
	}
	if _, err := io.ReadFull(c.br, c.head[:]); err != nil {
		return err
	}
	length := int(binary.BigEndian.Uint32(c.head[:]) >> 8)
	if kind := c.head[3]; kind != frameHeaders && kind != frameContinuation || length > longestFrame {
		c.out, c.left = c.head[:], length
		return nil
	}
	if cap(c.frame) > keptFrame {
		c.frame = nil
	}
	c.frame = append(append(c.frame[:0], c.head[:]...), make([]byte, length)...)
	if _, err := io.ReadFull(c.br, c.frame[len(c.head):]); err != nil {
		return cutAt(err)
	}
	c.check()
	c.out = c.frame
	return nil
}

// check looks at the header block in c.frame. If that is the end of a malformed head, check adds a field to it.
func (c *headChecker) check() {
	from, to, ok := fragmentOf(c.frame)
	if !ok {
		c.ended = true
		return
	}
	if _, err := c.fields.Write(c.frame[from:to]); err != nil {
		c.ended = true
		return
	}
	if c.frame[4]&flagEndHeaders == 0 {
		return
	}
	c.ended = c.fields.Close() != nil
	name := c.block.malformed()
	c.block = headerBlock{}
	if name == "" {
		return
	}
	refused := append([]byte{0, byte(len(name))}, name...) // a literal field without a value (RFC 7541 section 6.2.2)
	c.frame = slices.Insert(c.frame, to, append(refused, 0)...)
	length := len(c.frame) - frameHeadBytes
	c.frame[0], c.frame[1], c.frame[2] = byte(length>>16), byte(length>>8), byte(length)
}

// fragmentOf returns from where to where the frame has a part of a header block; false if it has none.
func fragmentOf(frame []byte) (from, to int, ok bool) {
	from, to = frameHeadBytes, len(frame)
	if frame[3] != frameHeaders {
		return from, to, true
	}
	flags := frame[4]
	if flags&flagPadded != 0 && from < to {
		to -= int(frame[from])
		from++
	}
	if flags&flagPriority != 0 {
		from += 5
	}
	return from, to, from <= to
}

// headerBlock is what has come of the fields of one header or trailer section.
type headerBlock struct {
	isHead  bool       // it has a status
	lengths field.List // the lines of Content-Length
	foreign string     // a field that has no place in HTTP/2; "": there is none
}

func (b *headerBlock) add(f hpack.HeaderField) {
	switch f.Name {
	case ":status":
		b.isHead = true
	case "content-length":
		b.lengths.Add("Content-Length", f.Value)
	default:
		for _, name := range connectionSpecific {
			if len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
				b.foreign = name
			}
		}
	}
}

// malformed returns the name of the field for which a head is malformed, in an upper-case spelling: a name that the library
// refuses. It returns "" if the head is in order. Trailers are looked at when the body has ended.
func (b *headerBlock) malformed() string {
	switch {
	case !b.isHead:
		return ""
	case b.foreign != "":
		return b.foreign
	}
	if _, err := takeLength(&head{fields: b.lengths}); err != nil {
		return "Content-Length"
	}
	return ""
}
