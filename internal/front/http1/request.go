package http1

import (
	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/wire"
)

// unreadable is the fault of a request that two parsers could read in two ways, or whose version is
// neither HTTP/1.1 nor HTTP/1.0.
var unreadable = &message.Fault{Status: fasthttp.StatusBadRequest}

// read reads the head of the request. It allocates nothing once there is room.
//
// It goes through the header as it came, once, for this runs on every hit and
// asking fasthttp for field after field takes twice as long.
func (t *turn) read() {
	h, r := &t.ctx.Request.Header, &t.request
	r.Method, r.Target, r.Host = h.Method(), h.RequestURI(), h.Host()
	switch {
	case h.IsHTTP11():
		r.Version, r.Interim = message.HTTP11, t.tell
	case string(h.Protocol()) != "HTTP/1.0":
		r.Fault, r.Seen = unreadable, seenIn(h)
	}
	w := wire.Walk(h.RawHeaders())
	for name, value := range w.Lines {
		r.Lines = append(r.Lines, message.Line{Name: name, Value: value})
	}
	if w.Err() != nil {
		r.Fault = unreadable
	}
	length := h.ContentLength()
	t.conn.headRead(h, length)
	if length > 0 || length == -1 {
		t.conn.bodyFollows(r.Received)
		t.body = body{ctx: t.ctx, length: int64(length), chunks: t.conn.chunks}
		r.Body, r.Last = &t.body, lastOfConnection(&w)
	}
}

// lastOfConnection reports whether fasthttp may end a request's body, or its request line,
// earlier than another parser would, without telling: in both it accepts a bare LF. Then
// what follows may not be a request, so the connection ends with the answer. chunks.trailers refuses
// such a body, if it was read to its end. A plain request has neither (plain.go, upload.go). The proofs are
// TestChunkedRequestIsTheLast and
// TestLFInTheRequestLine in internal/proxy.
func lastOfConnection(w *wire.Walker) bool { return w.Chunked() || w.FramedFirst() }
