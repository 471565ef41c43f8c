package proxy

import (
	"bytes"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/wire"
)

// readRequest is a front for tests: the request of a head, lines that end in CRLF. It says
// whether the framing is in order.
func readRequest(head string) (r *message.Request, ok bool) {
	line, fields, _ := bytes.Cut([]byte(head), []byte("\r\n"))
	words := bytes.Split(line, []byte(" "))
	r = &message.Request{Version: message.HTTP11, Method: words[0], Target: words[1], Host: []byte("h")}
	length := 0
	w := wire.Walk(fields)
	for name, value := range w.Lines {
		r.Lines = append(r.Lines, message.Line{Name: name, Value: value})
		switch {
		case sameName(name, "Content-Length"):
			length = len(bytes.TrimLeft(value, "0"))
		case sameName(name, "Transfer-Encoding"):
			length = -1
		}
	}
	if length != 0 {
		r.Body = &testBody{length: int64(length)}
	}
	return r, w.Err() == nil
}

// testBody is a body that is whole in memory, or whatever Reader says.
type testBody struct {
	reader interface{ Read(p []byte) (int, error) }
	length int64
	list   field.List
	err    error
}

func (b *testBody) Read(p []byte) (int, error)    { return b.reader.Read(p) }
func (b *testBody) Length() int64                 { return b.length }
func (b *testBody) Announced() []string           { return nil }
func (b *testBody) Trailers() (field.List, error) { return b.list, b.err }

// received returns an exchange for a request head, as receive would see it.
func received(tb testing.TB, head string) *exchange {
	tb.Helper()
	r, ok := readRequest(head)
	if !ok {
		tb.Fatalf("%q: refused", head)
	}
	x := newExchange()
	x.req, x.answer = r, &message.Answer{}
	x.method = r.Method
	x.readFields()
	return x
}

// deadlines are those of a connection of nobody.
type deadlines struct{ net.Conn }

func (deadlines) SetReadDeadline(time.Time) error  { return nil }
func (deadlines) SetWriteDeadline(time.Time) error { return nil }
