package proxy

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
)

// Interim responses (1xx, RFC 9110 section 15.2) go to the client whose request
// is at the origin, while it waits for the answer: never to followers, never into
// the store. They are written to the connection itself, past fasthttp, which has
// nothing of this answer before the handler returns. So the handler's goroutine
// alone may tell. A fetch in that goroutine tells directly; one in a flight hands
// over, through interims.

// interimWait bounds the write of one interim response. It is short, for it holds
// up the answer and, in a fetch for one client alone, the origin.
const interimWait = time.Second

// tell is an origin.Request.Interim.
type tell = func(status int, header field.List)

// teller returns what tells x's client of interim responses: for the handler's
// goroutine, until the handler returns. It is nil where the client may have none.
//
// HTTP/1.0 knows none. And none may overtake an earlier answer: while the next
// request is there already, fasthttp keeps an answer in a buffer that we cannot
// see. Only the first request of a connection has none before it, unless the server
// sends off each at once, as AnswersFlushed says.
func (p *Proxy) teller(x *exchange) tell {
	if !x.ctx.Request.Header.IsHTTP11() || x.ctx.ConnRequestNum() > 1 && !p.AnswersFlushed {
		return nil
	}
	h := &herald{ctx: x.ctx, via: p.via}
	return h.tell
}

// herald writes interim responses to one client.
type herald struct {
	ctx  *fasthttp.RequestCtx
	via  string
	mute bool // the client did not take one
}

// tell writes one. A client that does not take it in time gets no more of them.
// If it took a part, the connection is closed: what follows would be read as the
// rest.
func (h *herald) tell(status int, header field.List) {
	if h.mute {
		return
	}
	conn := h.ctx.Conn()
	_ = conn.SetWriteDeadline(now().Add(interimWait)) // if it fails, so does the write
	n, err := conn.Write(appendInterim(nil, status, header, h.via))
	h.mute = err != nil
	if err != nil && n > 0 {
		_ = conn.Close()
		return
	}
	_ = conn.SetWriteDeadline(time.Time{}) // the answer has a deadline of its own
}

// appendInterim appends the head of an interim response as it is forwarded: the
// end-to-end fields without those between origin and cache, and our Via (RFC 9110
// section 7.6.3).
func appendInterim(b []byte, status int, header field.List, via string) []byte {
	fields := rfc9111.EndToEnd(header).Without(inside)
	fields.Add("Via", via)
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if status <= fasthttp.StatusEarlyHints { // the last one that has a name
		b = append(b, fasthttp.StatusMessage(status)...)
	}
	b = append(b, '\r', '\n')
	b = appendFields(b, fields, cut{})
	return append(b, '\r', '\n')
}

// interim is an interim response on its way through a flight.
type interim struct {
	status int
	header field.List
}

// interims takes the interim responses of a flight's fetch to the handler of its
// leader, which waits for the header meanwhile. It has room for those of one round
// trip; what finds none is dropped, so no client holds up a fetch that others
// share. Nil takes none.
type interims chan interim

// handOver makes r, which a flight will send, use interims if its leader may be
// told.
func handOver(r *origin.Request, t tell) interims {
	if t == nil {
		return nil
	}
	c := make(interims, origin.MaxInterim)
	r.Interim = func(status int, header field.List) {
		select {
		case c <- interim{status, header}:
		default:
		}
	}
	return c
}

// end says that no more will come. The fetch calls it once, when it has the
// header or never will, before its flight does.
func (c interims) end() {
	if c != nil {
		close(c)
	}
}

// relay tells the leader all that come until the end, so the header never
// overtakes them. The fetch must have been started, and end them also in a panic.
//
// It ends before that where the leader is to be given the header of another fetch:
// undecided returns nil then, and else a channel that is closed when it is to be asked
// again. It also ends when left is closed.
func (c interims) relay(t tell, undecided func() <-chan struct{}, left <-chan struct{}) {
	if c == nil {
		return
	}
	for moved := undecided(); moved != nil; {
		select {
		case i, more := <-c:
			if !more {
				return
			}
			t(i.status, i.header)
		case <-moved:
			moved = undecided()
		case <-left:
			return
		}
	}
	c.rest(t)
}

// rest tells the leader those that are here already.
func (c interims) rest(t tell) {
	for {
		select {
		case i, more := <-c:
			if !more {
				return
			}
			t(i.status, i.header)
		default:
			return
		}
	}
}
