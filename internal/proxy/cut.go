package proxy

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/rfc9111"
)

// cut is the part of a response that conditions and Range leave to send.
type cut struct {
	status        int   // 304, 206 or 416; 0: the response's own
	first, length int64 // of the body; length -1: to its end, which is not known
}

func (c cut) statusOr(own int) int {
	if c.status != 0 {
		return c.status
	}
	return own
}

// bodyless reports whether only the head is sent.
func (c cut) bodyless() bool {
	return c.status == fasthttp.StatusNotModified || c.status == fasthttp.StatusRequestedRangeNotSatisfiable
}

// evaluate applies the request's conditions and then its Range to a response
// of size bytes, -1 if unknown (RFC 9110 sections 13.2.2 and 14.2).
func (x *exchange) evaluate(rep rfc9111.Representation, size int64) cut {
	whole := cut{length: size}
	if rep.Status != fasthttp.StatusOK {
		return whole
	}
	if x.asks.conditional && x.notModified(rep) {
		return cut{status: fasthttp.StatusNotModified}
	}
	if !x.asks.ranged || !x.asks.get || size < 0 {
		return whole
	}
	if !rfc9111.IfRangeHolds(x.lines(fasthttp.HeaderIfRange), rep, x.start) {
		return whole
	}
	lines := x.lines(fasthttp.HeaderRange)
	if len(lines) != 1 {
		return whole
	}
	switch first, last, kind := rfc9111.ParseRange(lines[0], size); kind {
	case rfc9111.RangeSatisfiable:
		return cut{status: fasthttp.StatusPartialContent, first: first, length: last - first + 1}
	case rfc9111.RangeUnsatisfiable:
		return cut{status: fasthttp.StatusRequestedRangeNotSatisfiable}
	default:
		return whole
	}
}

// notModified copies the lines of one field before it asks for the other:
// fasthttp gives both in the same place.
func (x *exchange) notModified(rep rfc9111.Representation) bool {
	var room [4][]byte
	none := append(room[:0], x.lines(fasthttp.HeaderIfNoneMatch)...)
	return rfc9111.NotModified(rfc9111.Conditions{
		Method: x.method, IfNoneMatch: none, IfModifiedSince: x.lines(fasthttp.HeaderIfModifiedSince),
	}, rep, x.start)
}

// appendTo appends the fields that frame the part, of a whole of size bytes.
func (c cut) appendTo(b []byte, size int64) []byte {
	switch c.status {
	case fasthttp.StatusNotModified:
		return b
	case fasthttp.StatusRequestedRangeNotSatisfiable:
		b = append(b, "Content-Range: bytes */"...)
		b = append(strconv.AppendInt(b, size, 10), '\r', '\n')
		return append(b, "Content-Length: 0\r\n"...)
	case fasthttp.StatusPartialContent:
		b = append(b, "Content-Range: bytes "...)
		b = append(strconv.AppendInt(b, c.first, 10), '-')
		b = append(strconv.AppendInt(b, c.first+c.length-1, 10), '/')
		b = append(strconv.AppendInt(b, size, 10), '\r', '\n')
	}
	if c.length < 0 {
		return b
	}
	return appendInt(b, "Content-Length: ", c.length)
}
