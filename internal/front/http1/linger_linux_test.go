package http1

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"edgeproxy/internal/http/message"
)

// A connection that was closed with bytes of its request unread was reset, and most clients lost the answer to that. Here
// a client sends much more than the buffers of a socket hold, and then reads.
func TestARefusalIsNotLostToAReset(t *testing.T) {
	address := serveTCP(t, refusing)
	f := func(status int, head, body string) {
		t.Helper()
		c, r := dialTCP(t, address)
		if _, err := io.WriteString(c, head+body); err != nil {
			t.Errorf("%.60q: %v", head, err)
		}
		if got, err := heard(r); got != fmt.Sprint(status, " no") || err != nil {
			t.Errorf("%.60q: got %q and error %v, want %d", head, got, err, status)
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%.60q: got error %v, want the end", head, err)
		}
	}
	const size = 16 << 20
	long := strings.Repeat("x", size)
	f(413, fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", size), long)
	f(413, fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", size), long+"\r\n0\r\n\r\n")
	f(413, fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n", byFasthttp, size), long)
	f(413, fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\n%sTransfer-Encoding: chunked\r\n\r\n%x\r\n", byFasthttp, size), long+"\r\n0\r\n\r\n")
	f(431, "GET / HTTP/1.1\r\nHost: h\r\nX: ", long+"\r\n\r\n")
	f(400, "GET / HTTP/1.1\r\nHost: h\r\nX : y\r\n\r\n", long)
	f(400, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", long)
}

// Content of known length was read up to its end, and what had come behind it stayed in the socket. If the connection ended with the
// answer, as all do while the server shuts down, it was reset, and the client could lose the answer.
func TestAnAnswerIsNotLostToARequestBehindContent(t *testing.T) {
	began := make(chan struct{})
	address := serveTCP(t, engine(func(r *message.Request, a *message.Answer) {
		var b [8]byte
		n, err := io.ReadFull(r.Body, b[:2])
		began <- struct{}{}
		for err == nil {
			var m int
			m, err = r.Body.Read(b[n:])
			n += m
		}
		a.Status, a.Last = http.StatusOK, true
		a.Say(b[:n])
	}))
	for _, framed := range []struct{ field, first, rest string }{
		{"Content-Length: 7", "he", "llo, "},
		{"Transfer-Encoding: chunked", "7\r\nhe", "llo, \r\n0\r\n\r\n"},
	} {
		c, r := dialTCP(t, address)
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: h\r\n"+framed.field+"\r\n\r\n"+framed.first)
		<-began
		_, _ = io.WriteString(c, framed.rest+"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		if got, err := heard(r); !strings.HasPrefix(got, "200 hello, ") || err != nil {
			t.Errorf("%s: got %q and error %v", framed.field, got, err)
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%s: then got error %v, want the end", framed.field, err)
		}
	}
}
