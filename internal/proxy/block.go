package proxy

import (
	"bufio"
	"strconv"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
)

// A response head is built as the bytes it is on the wire and parsed into
// fasthttp's header in one go. That keeps the origin's Date, which fasthttp's
// setters drop, and costs less than setting field by field.

// begin starts the head of a response with this status.
func (x *exchange) begin(status int) []byte {
	x.sent = status
	b := append(x.block[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, fasthttp.StatusMessage(status)...)
	return append(b, '\r', '\n')
}

// appendHead appends gathered fields, without those that an answer to x cut like this omits,
// and returns what other caches say in them.
func (x *exchange) appendHead(b []byte, fields field.List, c cut) (head []byte, others string) {
	fields, others = apart(fields)
	c.tagless = x.tagless()
	return appendFields(b, fields, c), others
}

// appendFields appends fields, without those that an answer cut like this omits.
func appendFields(b []byte, fields field.List, c cut) []byte {
	for i := range fields {
		f := &fields[i]
		if c.omits(f.Name) {
			continue
		}
		b = append(b, f.Name...)
		b = append(b, ':', ' ')
		b = append(b, f.Value...)
		b = append(b, '\r', '\n')
	}
	return b
}

// appendInt appends a field line whose name, with colon and space, is given.
func appendInt(b []byte, name string, value int64) []byte {
	b = append(b, name...)
	b = strconv.AppendInt(b, value, 10)
	return append(b, '\r', '\n')
}

// send ends the head b and makes it that of the response.
func (x *exchange) send(b []byte) {
	b = append(b, '\r', '\n')
	x.block = b
	x.source.Reset(b)
	parser := x.parser
	if len(b) > parserBytes {
		parser = bufio.NewReaderSize(&x.source, len(b))
	} else {
		parser.Reset(&x.source)
	}
	h := &x.ctx.Response.Header
	if err := h.Read(parser); err != nil {
		// Every field was checked when it came in.
		panic("proxy: response head does not parse: " + err.Error())
	}
	if x.closing {
		h.SetConnectionClose()
		return
	}
	h.ResetConnectionClose() // no length means chunks here, not the end of the connection
}
