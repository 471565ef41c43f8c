package bridge

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/rescue"
	"edgeproxy/internal/testkit"
)

// inside is a bridge before a server of HTTP/1.1 that each test plays itself.
type inside struct {
	*http.Client
	url   string
	conns chan net.Conn // one for each request
}

// start runs a bridge; change may change its options.
func start(t *testing.T, change func(*Options)) *inside {
	t.Helper()
	in := &inside{conns: make(chan net.Conn)}
	o := Options{
		Put:     func(c net.Conn) bool { in.conns <- c; return true },
		Streams: 10, HeaderBytes: 1 << 20, HeaderTimeout: time.Minute, Idle: time.Minute, WriteIdle: time.Minute,
		Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	s := httptest.NewUnstartedServer(nil)
	s.Config = New(o)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	in.Client, in.url = s.Client(), s.URL
	in.Timeout = testkit.Patience
	return in
}

// TestAConnectionIsAskedForItsPeerBeforeItCanBeForgotten: later the connection may be closed,
// and its peer forgotten.
func TestAConnectionIsAskedForItsPeerBeforeItCanBeForgotten(t *testing.T) {
	want := netip.MustParseAddr("192.0.2.7")
	asked := 0
	in := start(t, func(o *Options) {
		o.Peer = func(c net.Conn) (netip.Addr, bool) {
			asked++
			_, secure := c.(*tls.Conn)
			return want, secure
		}
	})
	for range 2 {
		go func() {
			c := <-in.conns
			_, _ = io.ReadFull(c, make([]byte, 1))
			answer := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
			if got, told := c.(*conn).Peer(); got != want || !told {
				answer = "HTTP/1.1 500 " + got.String() + "\r\nContent-Length: 0\r\n\r\n"
			}
			_, _ = io.WriteString(c, answer)
		}()
		res, err := in.Get(in.url)
		if err != nil || res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
			t.Fatalf("got %v, %v, want 200 of HTTP/2", res, err)
		}
		_ = res.Body.Close()
	}
	if asked != 1 {
		t.Errorf("asked %d times for one connection, want 1", asked)
	}
}

// TestAHeadThatNobodyReadsToItsEndIsAnswered: a server that refuses a head for its length
// answers before it has read it. The bridge wrote all of it before it read, and both
// waited for each other for good.
func TestAHeadThatNobodyReadsToItsEndIsAnswered(t *testing.T) {
	in := start(t, nil)
	go func() {
		c := <-in.conns
		_, _ = io.ReadFull(c, make([]byte, 100))
		_, _ = io.WriteString(c, "HTTP/1.1 431 Too Long\r\nContent-Length: 0\r\n\r\n")
	}()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, in.url, http.NoBody)
	r.Header.Set("A", strings.Repeat("a", 100<<10))
	res, err := in.Do(r)
	if err != nil || res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Fatalf("got %v, %v, want 431", res, err)
	}
	_ = res.Body.Close()
}

// TestABodyGoesOnAsItComes: a body of known length was held back until 4 KiB of it were
// here, by which time nobody might wait for it any more.
func TestABodyGoesOnAsItComes(t *testing.T) {
	in := start(t, nil)
	for _, length := range []int64{4, -1} {
		half := make(chan struct{})
		go func() {
			c := <-in.conns
			r, err := http.ReadRequest(bufio.NewReader(c))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.ReadFull(r.Body, make([]byte, 2))
			close(half)
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}()
		body, write := io.Pipe()
		go func() {
			_, _ = io.WriteString(write, "ab")
			<-half
			_, _ = io.WriteString(write, "cd")
			_ = write.Close()
		}()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, in.url, body)
		r.ContentLength = length
		res, err := in.Do(r)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("length %d: got %v, %v, want 200", length, res, err)
		}
		_ = res.Body.Close()
	}
}

// TestAnOriginMayPauseForLongerThanAClient: the limit on a client that takes nothing ran on
// while there was nothing to take, and cut streams of events.
func TestAnOriginMayPauseForLongerThanAClient(t *testing.T) {
	const idle = 200 * time.Millisecond
	in := start(t, func(o *Options) { o.WriteIdle = idle })
	goOn := make(chan struct{})
	go func() {
		c := <-in.conns
		_, _ = io.ReadFull(c, make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
		<-goOn
		_, _ = io.WriteString(c, "3\r\ntwo\r\n0\r\n\r\n")
		_ = c.Close()
	}()
	res, err := in.Get(in.url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.ReadFull(res.Body, make([]byte, 3))
	time.AfterFunc(2*idle, func() { close(goOn) })
	if text, err := io.ReadAll(res.Body); string(text) != "two" || err != nil {
		t.Errorf("got %q, %v after the pause, want two", text, err)
	}
}

// TestAClientThatTakesNothingLosesItsStream in the middle of an answer and at its end.
func TestAClientThatTakesNothingLosesItsStream(t *testing.T) {
	for _, size := range []int{4 << 20, 64<<10 + 100} { // what a stream may be sent without a word is 64 KiB
		in := start(t, func(o *Options) { o.WriteIdle = 50 * time.Millisecond })
		in.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}
		ended := make(chan struct{})
		go func() {
			c := <-in.conns
			_, _ = io.ReadFull(c, make([]byte, 1))
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, strings.Repeat("a", size))
			_, _ = io.Copy(io.Discard, c)
			close(ended)
		}()
		res, err := in.Get(in.url)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
		case <-time.After(testkit.Patience):
			t.Errorf("%d bytes: the request goes on", size)
		}
		if _, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("%d bytes: came whole, want the stream to be reset", size)
		}
		_ = res.Body.Close()
	}
}

// panicking panics when it is read.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("trap") }
func (panicking) Close() error             { return nil }

// aborted reports whether a handler has panicked with what resets the stream.
func aborted(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// A panic was logged at level debug, and one while the body of a request was forwarded ended
// the process.
func TestPanicResetsOneStreamAndIsCounted(t *testing.T) {
	ask := func(h *handler, body io.ReadCloser) (v any) {
		defer func() { v = recover() }()
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = 5
		h.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(t.Context(), clientKey{}, &client{})))
		return nil
	}
	h := &handler{panics: rescue.NewCounter(slog.New(slog.DiscardHandler)), writeIdle: time.Minute}
	h.put = func(net.Conn) bool { panic("trap") }
	if v := ask(h, http.NoBody); !aborted(v) || h.panics.Count() != 1 {
		t.Errorf("got %v and %d counted, want the stream reset and one", v, h.panics.Count())
	}
	h.put = func(c net.Conn) bool {
		go func() { _, _ = io.Copy(io.Discard, c); _ = c.Close() }()
		return true
	}
	if v := ask(h, panicking{}); !aborted(v) || h.panics.Count() != 2 {
		t.Errorf("got %v and %d counted, want the stream reset and two", v, h.panics.Count())
	}
}
