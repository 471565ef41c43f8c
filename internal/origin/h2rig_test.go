package origin

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/test/testkit"
)

// h2c is a server of HTTP/2 with prior knowledge.
func h2c(h http.Handler) *http.Server {
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

// overH2 returns an Origin whose server is net/http's, by TLS on a real socket.
func overH2(tb testing.TB, o Options, h http.HandlerFunc) *Origin {
	tb.Helper()
	a := testkit.NewAuthority(tb)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{a.Good("127.0.0.1")}, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		tb.Fatal(err)
	}
	s := &http.Server{Handler: h, DisableGeneralOptionsHandler: true}
	serving(tb, s, l)
	o.Address, o.TLS, o.HTTP2 = l.Addr().String(), &tls.Config{RootCAs: a.Pool()}, true
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, testkit.Patience)
	return open(tb, o)
}

// serving serves until the test ends.
func serving(tb testing.TB, s *http.Server, l net.Listener) {
	tb.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	tb.Cleanup(func() {
		_ = s.Close()
		wg.Wait()
	})
}

// pipeListener hands out the other ends of connections in memory.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, errors.New("refused")
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// h2InMemory returns an Origin whose server is net/http's, in memory and without TLS, for virtual time.
func h2InMemory(tb testing.TB, o Options, h http.HandlerFunc) *Origin {
	tb.Helper()
	l := newPipeListener()
	serving(tb, h2c(h), l)
	o.Dial, o.HTTP2 = l.dial, true
	return open(tb, o)
}

// framer is the server's end of a connection of HTTP/2, to say what no proper server does.
type framer struct {
	*http2.Framer
	conn net.Conn
	enc  *hpack.Encoder
	out  *writes
}

// writes is what an encoder has written.
type writes struct{ b []byte }

func (w *writes) Write(p []byte) (int, error) { w.b = append(w.b, p...); return len(p), nil }

// request waits for the next HEADERS frame, and returns its stream; 0: there is none.
func (f *framer) request() uint32 {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return 0
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			_ = f.WritePing(true, frame.Data)
		case *http2.MetaHeadersFrame:
			return frame.StreamID
		}
	}
}

// block returns fields as a header block.
func (f *framer) block(fields ...string) []byte {
	f.out.b = nil
	for i := 0; i < len(fields); i += 2 {
		_ = f.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return f.out.b
}

// head sends a header or trailer section.
func (f *framer) head(stream uint32, end bool, fields ...string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: f.block(fields...), EndHeaders: true, EndStream: end})
}

// untilReset waits for the reset of a stream, and returns its code.
func (f *framer) untilReset() (http2.ErrCode, bool) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return 0, false
		}
		if r, ok := frame.(*http2.RSTStreamFrame); ok {
			return r.ErrCode, true
		}
	}
}

// untilHeard waits until the other end has dealt with all that was sent before.
func (f *framer) untilHeard() {
	if f.WritePing(false, [8]byte{1}) != nil {
		return
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if p, ok := frame.(*http2.PingFrame); ok && p.IsAck() {
			return
		}
	}
}

// frames returns a script of a server that speaks HTTP/2 frame by frame, without TLS.
func frames(play func(n int, f *framer)) script {
	return func(n int, p *peer) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(p, preface); err != nil {
			return
		}
		f := &framer{Framer: http2.NewFramer(p, p), conn: p.Conn, out: new(writes)}
		f.enc = hpack.NewEncoder(f.out)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		_ = f.WriteSettings()
		play(n, f)
	}
}

// byFrames returns an Origin that plays frames on a real socket.
func byFrames(tb testing.TB, o Options, play func(n int, f *framer)) *Origin {
	tb.Helper()
	o.HTTP2 = true
	return start(tb, o, frames(play))
}
