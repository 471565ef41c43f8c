package http2

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/test/testkit"
)

// flood sends frames until the connection ends, which it must with ENHANCE_YOUR_CALM. It returns when the server has said so;
// the connection is open until the end of whole, or until the server ends it.
func flood(t, whole *testing.T, address string, send func(c *client, n uint32)) *client {
	t.Helper()
	c := dial(whole, address)
	go func() {
		for n := range uint32(100_000) {
			if _, err := c.c.Write(nil); err != nil { // it has ended
				return
			}
			send(c, n)
		}
	}()
	if code, err := c.goAway(); err != nil || code != xhttp2.ErrCodeEnhanceYourCalm {
		t.Errorf("got %v, %v, want %v", code, err, xhttp2.ErrCodeEnhanceYourCalm)
	}
	return c
}

// TestFloodsEndTheirConnection: each of these asks for work and furthers no request.
func TestFloodsEndTheirConnection(t *testing.T) {
	_, address := serve(t, &engine{}, nil)
	told := map[string]*client{}
	f := func(name string, send func(c *client, n uint32)) {
		whole := t
		t.Run(name, func(t *testing.T) { told[name] = flood(t, whole, address, send) })
	}
	f("rapid reset", func(c *client, n uint32) {
		c.ask(2*n+1, true, plain("GET", "/")...)
		_ = c.WriteRSTStream(2*n+1, xhttp2.ErrCodeCancel)
	})
	f("resets that it has us send", func(c *client, n uint32) {
		c.ask(2*n+1, false, plain("POST", "/")...)
		_ = c.WriteWindowUpdate(2*n+1, 0)
	})
	f("PING", func(c *client, _ uint32) { _ = c.WritePing(false, [8]byte{}) })
	f("answers to no PING", func(c *client, _ uint32) { _ = c.WritePing(true, [8]byte{}) })
	f("SETTINGS", func(c *client, _ uint32) { _ = c.WriteSettings() })
	f("SETTINGS with ACK", func(c *client, _ uint32) { _ = c.WriteSettingsAck() })
	f("WINDOW_UPDATE", func(c *client, _ uint32) { _ = c.WriteWindowUpdate(0, 1) })
	f("PRIORITY", func(c *client, _ uint32) { _ = c.WritePriority(1, xhttp2.PriorityParam{StreamDep: 3}) })
	f("PRIORITY_UPDATE", func(c *client, n uint32) { _ = c.WritePriorityUpdate(2*n+1, "u=1") })
	f("unknown frames", func(c *client, _ uint32) { _ = c.WriteRawFrame(0x77, 0, 0, nil) })
	f("empty DATA", func(c *client, n uint32) {
		if n == 0 {
			c.ask(1, false, plain("POST", "/")...)
		}
		_ = c.WriteData(1, false, nil)
	})
	f("HEADERS behind a reset", func(c *client, n uint32) {
		if n == 0 {
			c.ask(1, false, plain("POST", "/")...)
			_ = c.WriteWindowUpdate(1, 0)
		}
		c.ask(1, true, "x-a", "b")
	})
	f("CONTINUATION without end", func(c *client, n uint32) {
		if n == 0 {
			_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: c.encode(plain("GET", "/")...)})
		}
		_ = c.WriteContinuation(1, false, nil)
	})
	f("CONTINUATION with much", func(c *client, n uint32) {
		if n == 0 {
			_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: c.encode(plain("GET", "/")...)})
		}
		_ = c.WriteContinuation(1, false, c.encode("x-a", strings.Repeat("a", 8<<10)))
	})
	for name, c := range told { // all linger at the same time
		t.Log(name)
		_ = c.c.SetDeadline(time.Now().Add(testkit.Patience))
		c.wantEndAfter(xhttp2.ErrCodeEnhanceYourCalm.String(), xhttp2.ErrCodeEnhanceYourCalm)
	}
}

// TestAClientThatHadWideWindowsWasTakenForAFlood: it told of what it had read, in small pieces,
// when all of it had been sent.
func TestAClientThatHadWideWindowsWasTakenForAFlood(t *testing.T) {
	const size, piece = 2 << 20, 1 << 10
	text := strings.Repeat("a", size)
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending { say(a, text); return nil }}
	_, address := serve(t, e, nil)
	c := dial(t, address, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 30})
	_ = c.WriteWindowUpdate(0, 1<<30)
	c.ask(1, true, plain("GET", "/")...)
	c.ask(3, true, plain("GET", "/")...)
	if _, err := c.take(1, 3); err != nil {
		t.Fatal(err)
	}
	for range 2 * size / piece {
		_ = c.WriteWindowUpdate(1, piece)
		_ = c.WriteWindowUpdate(0, piece)
	}
	c.ask(5, true, plain("GET", "/")...)
	if all, err := c.take(5); err != nil || len(all[5].text) != size {
		t.Errorf("the next answer: got %v, %v, want all of it", all[5], err)
	}
}

// TestAClientThatTakesNoAnswersToItsFramesLosesItsConnection: these would wait for it in memory. The writer waits for the client
// then, and ended the connection only when it had waited for too long.
func TestAClientThatTakesNoAnswersToItsFramesLosesItsConnection(t *testing.T) {
	f := func(name string, frame func(*client)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
					endless(a)
					return nil
				}}
				c := serveHere(t, e, nil)() // and nothing is read
				c.ask(1, false, plain("POST", "/")...)
				const most = 2 * controlBytes / headBytes // at one each millisecond, they come before a minute has passed: WriteIdleTimeout
				n := 0
				for err := error(nil); err == nil; n++ {
					if n > most {
						t.Fatalf("it goes on behind %d of them", n)
					}
					time.Sleep(time.Millisecond)
					frame(c)
					err = c.WriteData(1, false, []byte("x")) // or it would be known by the flood
				}
				if n < controlBytes/(headBytes+8) {
					t.Errorf("it ended behind %d of them, want it to hold more of the answers", n)
				}
			})
		})
	}
	f("PING", func(c *client) { _ = c.WritePing(false, [8]byte{}) })
	f("SETTINGS", func(c *client) { _ = c.WriteSettings() })
}

// TestStreamsAreBounded: those that are open, and requests that are worked on although they were
// reset.
func TestStreamsAreBounded(t *testing.T) {
	goOn := make(chan struct{})
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		return later(func() {
			<-goOn
			say(a, "ok")
		})
	}}
	_, address := serve(t, e, nil) // a server of 10 streams
	c := dial(t, address)
	var ids []uint32
	for i := range uint32(11) {
		c.ask(2*i+1, true, plain("GET", "/")...)
		ids = append(ids, 2*i+1)
	}
	if all, err := c.take(21); err != nil || all[21].reset != xhttp2.ErrCodeRefusedStream {
		t.Errorf("the 11th: got %v, %v, want REFUSED_STREAM", all[21], err)
	}
	for _, id := range ids[:10] {
		_ = c.WriteRSTStream(id, xhttp2.ErrCodeCancel)
	}
	refused := 0
	for i := range uint32(20) {
		id := 23 + 2*i
		c.ask(id, true, plain("GET", "/")...)
		_ = c.WriteRSTStream(id, xhttp2.ErrCodeCancel)
	}
	_ = c.WritePing(false, [8]byte{1})
	for refused < 10 {
		f, err := c.next()
		if err != nil {
			t.Fatalf("after %d that were refused: %v", refused, err)
		}
		if f, ok := f.(*xhttp2.RSTStreamFrame); ok && f.ErrCode == xhttp2.ErrCodeRefusedStream {
			refused++
		}
	}
	close(goOn)
	c.ask(101, true, plain("GET", "/")...)
	if all, err := c.take(101); err != nil || all[101].text != "ok" && !all[101].isReset {
		t.Errorf("then: got %v, %v", all[101], err)
	}
}

// FuzzFrames: whatever comes behind the preface, nothing panics, every request ends, and so does
// the connection.
func FuzzFrames(f *testing.F) {
	add := func(frames func(c *client)) {
		r, w := io.Pipe()
		go func() {
			frames(&client{Framer: xhttp2.NewFramer(w, nil), t: f})
			_ = w.Close()
		}()
		b, _ := io.ReadAll(r)
		f.Add(b)
	}
	add(func(c *client) { _ = c.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 5}) })
	block := []byte{0x82, 0x87, 0x84, 0x41, 1, 'h'} // GET https / h
	add(func(c *client) {
		_ = c.WriteSettings()
		_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true})
		_ = c.WriteDataPadded(1, false, []byte("abc"), make([]byte, 5))
		_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0, 1, 'a', 1, 'b'}, EndHeaders: true, EndStream: true})
	})
	add(func(c *client) {
		_ = c.WriteSettings()
		_ = c.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:3], EndStream: true})
		_ = c.WriteContinuation(1, true, block[3:])
		_ = c.WritePriorityUpdate(3, "u=1, i")
		_ = c.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		_ = c.WriteWindowUpdate(0, 100)
		_ = c.WritePing(false, [8]byte{})
		_ = c.WriteGoAway(0, xhttp2.ErrCodeNo, nil)
	})
	f.Fuzz(func(t *testing.T, frames []byte) {
		s, address := serve(t, &engine{begin: echo}, nil)
		c := connect(t, address)
		_, _ = io.WriteString(c.c, xhttp2.ClientPreface)
		_, _ = c.c.Write(frames)
		if tcp, ok := c.c.(interface{ CloseWrite() error }); ok {
			_ = tcp.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, c.c)
		_ = s.Close()
		s.work.Wait()
		if n := s.o.Panics.Count(); n > 0 {
			t.Errorf("%d panics", n)
		}
	})
}
