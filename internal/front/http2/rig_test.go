package http2

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/route/setting"
	"edgeproxy/internal/test/testkit"
)

// engine is a stub: each function may be nil.
type engine struct {
	begin  func(*message.Request, *message.Answer) message.Pending
	expect func(*message.Request, *message.Answer) bool
}

func (e *engine) Begin(r *message.Request, a *message.Answer) message.Pending {
	if r.Fault != nil {
		a.Status, a.Length, a.Last = r.Fault.Status, 0, true
		return nil
	}
	if e.begin == nil {
		say(a, "ok")
		return nil
	}
	return e.begin(r, a)
}

func (e *engine) Expect(r *message.Request, a *message.Answer) bool {
	return e.expect == nil || e.expect(r, a)
}

// later is a Pending.
type later func()

func (f later) Finish() { f() }

// say answers 200 with text from memory.
func say(a *message.Answer, text string) {
	a.Status, a.Length = 200, int64(len(text))
	a.Fields = field.List{{Name: "Content-Type", Value: "text/plain"}}
	a.Lines = append(a.Lines, "Age: 1\r\n"...)
	a.Say([]byte(text))
}

// pieces is content that comes piece by piece, and closed is called at its end.
type pieces struct {
	next     func() ([]byte, error)
	trailers field.List
	closed   func()
}

func (p *pieces) Bytes() net.Buffers    { return nil }
func (p *pieces) Next() ([]byte, error) { return p.next() }
func (p *pieces) Trailers() field.List  { return p.trailers }
func (p *pieces) Close() error {
	if p.closed != nil {
		p.closed()
	}
	return nil
}

// serve runs a Server on the loopback, without TLS, and returns its address.
func serve(t testing.TB, e message.Engine, change func(*Options)) (*Server, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, ln, e, change), ln.Addr().String()
}

// serveHere runs a Server in a bubble of virtual time, and returns what connects to it. Limits in
// time are tested so: on a busy machine a test that means to keep one comes too late.
func serveHere(t testing.TB, e message.Engine, change func(*Options)) func(...xhttp2.Setting) *client {
	t.Helper()
	_, ln := serveAt(t, e, change)
	return func(settings ...xhttp2.Setting) *client {
		t.Helper()
		return begin(over(t, ln.dial()), settings)
	}
}

// serveAt is serveHere, with the server and its listener.
func serveAt(t testing.TB, e message.Engine, change func(*Options)) (*Server, pipes) {
	t.Helper()
	ln := pipes{make(chan net.Conn), make(chan struct{})}
	return serveOn(t, ln, e, change), ln
}

// pipes is a listener in memory. It is closed once.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// dial connects with the server of p.
func (p pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return nil }

// serveOn runs a Server on ln.
func serveOn(t testing.TB, ln net.Listener, e message.Engine, change func(*Options)) *Server {
	t.Helper()
	o := Options{
		Engine: e, Streams: 10, WriteIdleTimeout: time.Minute,
		FrontLimits: setting.FrontLimits{HeaderBytes: 16 << 10, HeaderTimeout: time.Minute, KeepaliveTimeout: time.Minute},
		Panics:      rescue.NewCounter(slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	s := NewServer(o)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(ln) })
	t.Cleanup(func() {
		_ = s.Close()
		serving.Wait()
	})
	return s
}

// client speaks frames.
type client struct {
	*xhttp2.Framer
	t     testing.TB
	c     net.Conn
	block bytes.Buffer
	enc   *hpack.Encoder
	dec   *hpack.Decoder
}

// dial connects and says what clients say first.
func dial(t testing.TB, address string, settings ...xhttp2.Setting) *client {
	t.Helper()
	return begin(connect(t, address), settings)
}

// begin says what clients say first.
func begin(c *client, settings []xhttp2.Setting) *client {
	_, _ = io.WriteString(c.c, xhttp2.ClientPreface)
	_ = c.WriteSettings(settings...)
	_ = c.WriteSettingsAck()
	return c
}

// connect connects.
func connect(t testing.TB, address string) *client {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, nc)
}

// over is a client on nc, which is closed with the test.
func over(t testing.TB, nc net.Conn) *client {
	t.Helper()
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(testkit.Patience))
	c := &client{Framer: xhttp2.NewFramer(nc, nc), t: t, c: nc}
	c.AllowIllegalWrites = true
	c.enc = hpack.NewEncoder(&c.block)
	c.dec = hpack.NewDecoder(4096, nil)
	return c
}

// encode returns a block of pairs.
func (c *client) encode(pairs ...string) []byte {
	c.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = c.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(c.block.Bytes())
}

// plain are the pseudo-fields of a request.
func plain(method, path string, more ...string) []string {
	return append([]string{":method", method, ":scheme", "https", ":authority", "www.example.com", ":path", path}, more...)
}

// ask opens a stream.
func (c *client) ask(id uint32, end bool, pairs ...string) {
	c.t.Helper()
	_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: c.encode(pairs...), EndHeaders: true, EndStream: end})
}

// got is what came of a stream.
type got struct {
	fields   []hpack.HeaderField
	interims int
	content  []byte
	text     string // the content, once take has returned
	trailers []hpack.HeaderField
	ended    bool // well
	reset    xhttp2.ErrCode
	isReset  bool
}

func (g *got) value(name string) string {
	for _, f := range append(g.fields, g.trailers...) {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// goAwayError is the code of a GOAWAY that has come.
type goAwayError xhttp2.ErrCode

func (e goAwayError) Error() string { return "GOAWAY " + xhttp2.ErrCode(e).String() }

// next reads a frame of streams. It answers SETTINGS and PING.
func (c *client) next() (xhttp2.Frame, error) {
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *xhttp2.SettingsFrame, *xhttp2.WindowUpdateFrame:
		case *xhttp2.PingFrame:
			if !f.IsAck() {
				_ = c.WritePing(true, f.Data)
			}
		default:
			return f, nil
		}
	}
}

// take reads until all of the streams have ended, and returns what came of each.
func (c *client) take(ids ...uint32) (map[uint32]*got, error) {
	c.t.Helper()
	_ = c.c.SetDeadline(time.Now().Add(testkit.Patience))
	all := map[uint32]*got{}
	for _, id := range ids {
		all[id] = &got{}
	}
	defer func() {
		for _, g := range all {
			g.text = string(g.content)
		}
	}()
	for open := len(ids); open > 0; {
		f, err := c.next()
		if err != nil {
			return all, err
		}
		g := all[f.Header().StreamID]
		if g == nil {
			if away, ok := f.(*xhttp2.GoAwayFrame); ok && away.ErrCode != xhttp2.ErrCodeNo {
				return all, goAwayError(away.ErrCode)
			}
			continue
		}
		if c.add(g, f) {
			open--
		}
	}
	return all, nil
}

// add notes a frame, and reports whether the stream is over.
func (c *client) add(g *got, f xhttp2.Frame) (over bool) {
	was := g.ended || g.isReset
	switch f := f.(type) {
	case *xhttp2.HeadersFrame:
		fields, err := c.dec.DecodeFull(f.HeaderBlockFragment())
		if err != nil {
			c.t.Errorf("header block: %v", err)
		}
		switch {
		case g.fields == nil && len(fields) > 0 && fields[0].Value[0] == '1':
			g.interims++
		case g.fields == nil:
			g.fields = fields
		default:
			g.trailers = fields
		}
		g.ended = f.StreamEnded()
	case *xhttp2.DataFrame:
		g.content = append(g.content, f.Data()...)
		g.ended = f.StreamEnded()
	case *xhttp2.RSTStreamFrame:
		g.reset, g.isReset = f.ErrCode, true
	}
	return !was && (g.ended || g.isReset)
}

// one asks on stream 1 and returns what came of it.
func (c *client) one(pairs ...string) *got {
	c.t.Helper()
	c.ask(1, true, pairs...)
	all, err := c.take(1)
	if err != nil {
		c.t.Fatal(err)
	}
	return all[1]
}

// wantEnd reads until the connection ends, which must be after a GOAWAY with code.
func (c *client) wantEnd(code xhttp2.ErrCode) {
	c.t.Helper()
	c.wantEndAfter("no GOAWAY", code)
}

// wantEndAfter is wantEnd where the last GOAWAY so far had a code already.
func (c *client) wantEndAfter(got string, code xhttp2.ErrCode) {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.t.Errorf("the connection is still open, want %v", code)
			} else if got != code.String() {
				c.t.Errorf("got %s, then %v; want %v", got, err, code)
			}
			return
		}
		if away, ok := f.(*xhttp2.GoAwayFrame); ok {
			got = away.ErrCode.String()
		}
	}
}

// goAway reads until a GOAWAY comes, and returns its code.
func (c *client) goAway() (xhttp2.ErrCode, error) {
	for {
		f, err := c.next()
		if err != nil {
			return 0, err
		}
		if away, ok := f.(*xhttp2.GoAwayFrame); ok {
			return away.ErrCode, nil
		}
	}
}

// fieldList returns pairs as fields.
func fieldList(pairs ...string) (l field.List) {
	for i := 0; i < len(pairs); i += 2 {
		l.Add(pairs[i], pairs[i+1])
	}
	return l
}
