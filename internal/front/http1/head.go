package http1

import (
	"bufio"
	"strconv"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
)

// A response head is built as the bytes of the wire. If fasthttp sends the content as a stream, its
// header parses these bytes. That keeps the origin's Date, which fasthttp's setters drop, and costs
// less than setting field by field.

// appendStart returns the beginning of the head of the answer: the status line and its fields.
func (t *turn) appendStart() []byte {
	a := &t.answer
	b := append(t.block[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(a.Status), 10)
	b = append(b, ' ')
	b = append(b, fasthttp.StatusMessage(a.Status)...)
	b = append(append(b, '\r', '\n'), a.Stored...)
	return field.AppendLines(b, a.Fields)
}

// appendRest appends the rest of the fields, and Content-Length if it is known, to a head that appendStart began.
func (t *turn) appendRest(b []byte) []byte {
	b = append(b, t.answer.Lines...)
	if t.answer.Length < 0 {
		return b
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, t.answer.Length, 10)
	return append(b, '\r', '\n')
}

// head gives the head of the answer to fasthttp's response.
func (t *turn) head() { t.parse(t.appendRest(t.appendStart())) }

// parse appends the end to the head b and gives it to fasthttp's response.
func (t *turn) parse(b []byte) {
	b = append(b, '\r', '\n')
	t.block = b
	t.source.Reset(b)
	parser := t.parser
	if len(b) > parserBytes {
		parser = bufio.NewReaderSize(&t.source, len(b))
	} else {
		parser.Reset(&t.source)
	}
	h := &t.ctx.Response.Header
	if err := h.Read(parser); err != nil {
		// Every field was checked when it came in.
		panic("http1: response head does not parse: " + err.Error())
	}
	if t.answer.Last {
		h.SetConnectionClose()
		return
	}
	h.ResetConnectionClose() // no length means chunks here, not the end of the connection
}
