package origin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"time"

	"edgeproxy/internal/http/field"
)

// Request is one request to send. The caller keeps it unchanged until RoundTrip
// returns, and may use it again.
type Request struct {
	// Method, Target and Host are sent as they are:
	// "METHOD TARGET HTTP/1.1\r\nHost: HOST\r\n". CONNECT is refused.
	Method, Target, Host string
	// Header is sent as it is, in order. It must not hold Host, Connection, TE, Upgrade,
	// Content-Length or Transfer-Encoding: these are ours.
	Header field.List
	// Keyed is the target by which the caller knows what is asked for. It is the caller's, and not sent.
	Keyed string
	// Client is on whose behalf the request is made; the zero Prefix is nobody's.
	Client netip.Prefix
	// Connect, FirstByte and Idle stand in place of Options.ConnectTimeout, FirstByteTimeout and
	// IdleTimeout for this request; 0 does not.
	Connect, FirstByte, Idle time.Duration
	// Total bounds all of the exchange, which began at Begun: the queue, all tries, the head and the body, sent
	// and received. 0 does not, and neither what comes behind a switch of protocols.
	Total time.Duration
	Begun time.Time
	// TakesTrailers tells the origin by TE that trailers are welcome (RFC 9110 section
	// 10.1.4). It is not told with Upgrade.
	TakesTrailers bool
	// Body is read in another goroutine, at most until RoundTrip returns; nil
	// means none. A read may wait as long as the Body allows.
	Body io.Reader
	// ContentLength is the length of Body, which must keep to it; -1: not known,
	// sent chunked. It is not looked at without a Body.
	ContentLength int64
	// Whole is all of Body, where the caller has it at hand and it is small, at most MaxWhole bytes and as
	// many as ContentLength says. Then it leaves in one write with the head, and Body is not read. Nil: it
	// is to be read.
	Whole []byte
	// Trailers returns the fields to send behind a Body that is sent chunked. It is called
	// once, when Body has returned io.EOF, where Body is read. A field that cannot be sent,
	// or that frames a message, makes the Body a failed one. Nil means none. Announcing
	// them by Trailer, in Header, is the caller's affair.
	Trailers func() field.List
	// Upgrade lists the protocols that the connection may be switched to (RFC 9110
	// section 7.8). It is sent as it is, with Connection: Upgrade; "" asks for none.
	// It goes without Body, and not with Options.HTTP2: that is Unsupported.
	Upgrade string
	// Interrupt makes a Read of Body that waits return soon, and further ones
	// fail. It is called at most once, when the origin has answered or failed
	// before the end of Body, and perhaps just as its last Read returns. Nil
	// means that RoundTrip waits until Read returns by itself.
	Interrupt func()
	// Trace notes when what became of the request; nil notes nothing.
	Trace *Trace
	// Interim is called for each interim response (1xx, RFC 9110 section 15.2)
	// but 100, which is about our own request: in the order received, before
	// RoundTrip returns, and on its goroutine. It is called at most MaxInterim
	// times, further ones are dropped. It must not panic. The time it takes counts as the origin's, so it
	// must not wait for long. Status is 102 to 199. Header is like that of a
	// Response, hop-by-hop fields included, but without Content-Length: an interim
	// response has no body. The callee owns it. Nil drops interim responses.
	Interim func(status int, header field.List)
}

// MaxWhole is the most bytes that Request.Whole may have: with a usual head they have a place in the send
// buffer of any connection, so that an origin that answers before it reads holds nobody up.
const MaxWhole = 8 << 10

// validate refuses what would break the framing of the request: its parts come
// from a client, and nothing after this looks at them again (RFC 9112 section
// 11.1, request splitting).
func (r *Request) validate() error {
	if !field.ValidName(r.Method) || r.Method == "CONNECT" {
		return fmt.Errorf("invalid method %.40q", r.Method)
	}
	if r.Target == "" || !unbroken(r.Target) || !unbroken(r.Host) {
		return errors.New("the target is empty, or target or host has a space or a control byte")
	}
	if !r.validLength() {
		return fmt.Errorf("body length %d does not match the %d bytes in memory", r.ContentLength, len(r.Whole))
	}
	if r.Total < 0 || r.Total > 0 && r.Begun.IsZero() {
		return fmt.Errorf("total timeout %v without a start time", r.Total)
	}
	if !r.validUpgrade() {
		return fmt.Errorf("upgrade to %.40q cannot be requested", r.Upgrade)
	}
	return r.validateHeader()
}

func (r *Request) validateHeader() error {
	for i := range r.Header {
		name := r.Header[i].Name
		switch field.Canonical(name) {
		case "Host", "Connection", "Te", "Upgrade", "Content-Length", "Transfer-Encoding":
			return fmt.Errorf("header field %s is set by edgeproxy itself", name)
		}
		if !field.ValidName(name) || !field.ValidValue(r.Header[i].Value) {
			return fmt.Errorf("invalid name or value of header field %.40q", name)
		}
	}
	return nil
}

func (r *Request) validLength() bool {
	if r.Whole != nil && (r.Body == nil || int64(len(r.Whole)) != r.ContentLength || len(r.Whole) > MaxWhole) {
		return false
	}
	return r.Body == nil || r.ContentLength >= -1
}

func (r *Request) validUpgrade() bool {
	if r.Upgrade == "" {
		return true
	}
	_, ok := field.Protocols(r.Upgrade)
	return ok && r.Body == nil
}

// unbroken reports whether s has no space and no control byte. Bytes from 0x80
// are passed: many clients send UTF-8 in a target.
func unbroken(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// mayGoUnread reports whether the origin may leave the body of r unread, and take it for the next request on the
// connection. Bodies of GET, HEAD, OPTIONS and DELETE have no meaning of their own (RFC 9110 section 9.3), so many
// programs never look for one, and a program may treat a method that it does not know in the same way. POST, PUT and
// PATCH are about their bodies: reuseAfterPost says that the origin reads these.
func (r *Request) mayGoUnread(reuseAfterPost bool) bool {
	switch {
	case r.Body == nil || r.ContentLength == 0:
		return false
	case r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH":
		return !reuseAfterPost
	}
	return true
}

// appendHead appends the head of the request to b. A host that is not empty goes
// in place of the request's. last says that the connection ends after the response.
func (r *Request) appendHead(b []byte, host string, last bool) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, r.Target...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = appendField(b, "Host", cmp.Or(host, r.Host))
	for i := range r.Header {
		b = appendField(b, r.Header[i].Name, r.Header[i].Value)
	}
	b = r.appendConnection(b, last)
	switch {
	case r.Body != nil && r.ContentLength >= 0:
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, r.ContentLength, 10), "\r\n"...)
	case r.Body != nil:
		b = appendField(b, "Transfer-Encoding", "chunked")
	case r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH":
		// Methods that mean something by a body say that there is none (RFC 9110 section 8.6).
		b = appendField(b, "Content-Length", "0")
	}
	return append(b, "\r\n"...)
}

// appendConnection appends the fields that are about the connection.
func (r *Request) appendConnection(b []byte, last bool) []byte {
	switch {
	case r.Upgrade != "":
		b = appendField(b, "Connection", "Upgrade")
		return appendField(b, "Upgrade", r.Upgrade)
	case r.TakesTrailers && last:
		return append(b, "Connection: close, TE\r\nTE: trailers\r\n"...)
	case r.TakesTrailers:
		return append(b, "Connection: TE\r\nTE: trailers\r\n"...)
	case last:
		return append(b, "Connection: close\r\n"...)
	}
	return b
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}
