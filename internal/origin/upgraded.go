package origin

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"edgeproxy/internal/http/field"
)

// switching is the status that ends HTTP on a connection (RFC 9110 section 15.2.2).
const statusSwitching = 101

// errNoUpgrade is the answer to a request to switch protocols where there is no such thing (RFC 9113 section 8.6).
var errNoUpgrade = errors.New("an upgrade to another protocol needs an origin with HTTP/1.1, and this one is asked by HTTP/2")

// checkSwitch checks h, a 101 to a request that listed the protocols in asked. A server
// that switches says to what, and to nothing that the client did not offer (RFC 9110
// section 7.8). A proxy that took another 101 for a switch would pass on the answer to the
// next request without any check.
func checkSwitch(asked string, h *head) error {
	if asked == "" {
		return malformed("101 Switching Protocols without a request for an upgrade")
	}
	offered, _ := field.Protocols(asked) // checked before it was sent
	chosen, ok := field.Protocols(strings.Join(h.fields.Values("Upgrade"), ","))
	length, announced := h.fields.Get("Content-Length")
	switch {
	case h.minor == 0:
		return malformed("101 Switching Protocols in HTTP/1.0")
	case !ok || !h.connectionOption("upgrade"):
		return malformed("101 Switching Protocols without a valid Upgrade and Connection: upgrade")
	case announced && length != "0" || h.chunked:
		return malformed("101 Switching Protocols with a body")
	}
	for _, p := range chosen {
		if !slices.ContainsFunc(offered, func(o string) bool { return strings.EqualFold(o, p) }) {
			return malformed("101 Switching Protocols to %.40q, which was not requested", p)
		}
	}
	return nil
}

// upgrade takes c out of the pool after the 101 in h.
func (o *Origin) upgrade(c *conn, h *head, x *attempt) *Response {
	_ = c.nc.SetDeadline(time.Time{}) // if it fails, so does what comes next
	o.metrics.ended(outcomeOf(h.status))
	o.pool.detach(c)
	trace := x.r.Trace.answered(c.server, h.status, x.begun, x.firstByte)
	trace.ended(nil)
	return &Response{
		Status: h.status, Reason: h.reason, Header: h.fields, Body: &Body{framed: true, err: io.EOF, trace: trace},
		RequestTime: x.begun, ResponseTime: x.headTime, FirstByteTime: x.firstByte,
		Server: c.server.Address, Connect: x.connect, Upgraded: &Upgraded{origin: o, c: c},
	}
}

// Upgraded is a connection on which the origin speaks another protocol. One goroutine
// may read it, with Next, beside one that writes it; Close may be called from any. It
// is in none of the limits of Options but IdleTimeout for each write.
type Upgraded struct {
	origin *Origin
	c      *conn
	closed sync.Once
}

// Next waits for the origin and returns what came, at least one byte without an
// error. What came with the 101 comes first. The bytes are valid until the next call.
// The error is io.EOF where the origin ended its direction.
func (u *Upgraded) Next() ([]byte, error) {
	br := u.c.br
	_, err := br.Peek(1)
	b, _ := br.Peek(br.Buffered())
	_, _ = br.Discard(len(b)) // the bytes stay until the next read
	u.origin.metrics.received(len(b))
	return b, err
}

// Write sends p, which stays the caller's. An origin that does not take it within
// Options.IdleTimeout is an error, after which only Close is of use.
func (u *Upgraded) Write(p []byte) (int, error) {
	if err := u.c.nc.SetWriteDeadline(time.Now().Add(u.c.idle)); err != nil {
		return 0, err
	}
	n, err := u.c.nc.Write(p)
	if err == nil {
		err = u.c.nc.SetWriteDeadline(time.Time{}) // TLS may have to answer while it reads
	}
	return n, err
}

// CloseWrite tells the origin that no more will come; it may go on sending. It is an
// error where the connection cannot be closed by halves.
func (u *Upgraded) CloseWrite() error {
	half, ok := u.c.nc.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Close ends the connection, and Next and Write on it, at once. It may be called
// again, and always returns nil.
func (u *Upgraded) Close() error {
	u.closed.Do(func() {
		u.c.close()
		u.origin.pool.detached(u.c.server)
	})
	return nil
}
