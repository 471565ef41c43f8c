package http1

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
)

// interimWait bounds the write of one interim response. It is short, for it holds
// up the answer and, in a fetch for one client alone, the origin.
const interimWait = time.Second

// interim writes an interim response directly to the connection. fasthttp has written nothing of
// this answer before the handler returns. A client that does not take it in time gets no more of
// them. If the client took only a part, the connection is closed: the client would read what
// follows as the rest.
func (t *turn) interim(status int, fields field.List) {
	if t.mute {
		return
	}
	conn := t.request.Conn
	_ = conn.SetWriteDeadline(now().Add(interimWait)) // if it fails, so does the write
	n, err := conn.Write(appendInterim(nil, status, fields))
	t.mute = err != nil
	if err != nil && n > 0 {
		_ = conn.Close()
		return
	}
	_ = conn.SetWriteDeadline(time.Time{}) // the answer has a deadline of its own
}

// appendInterim appends the head of an interim response.
func appendInterim(b []byte, status int, fields field.List) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if status <= fasthttp.StatusEarlyHints { // the last one that has a name
		b = append(b, fasthttp.StatusMessage(status)...)
	}
	b = append(b, '\r', '\n')
	b = field.AppendLines(b, fields)
	return append(b, '\r', '\n')
}
