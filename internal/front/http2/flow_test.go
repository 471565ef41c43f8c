package http2

import (
	"io"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/message"
)

// await takes frames until n bytes of content have come, and returns the streams of the frames in
// order.
func (c *client) await(n int) (order []uint32, bytes int) {
	c.t.Helper()
	for bytes < n {
		f, err := c.next()
		if err != nil {
			c.t.Fatalf("after %d bytes: %v", bytes, err)
		}
		if d, ok := f.(*xhttp2.DataFrame); ok {
			bytes += len(d.Data())
			order = append(order, d.StreamID)
		}
	}
	return order, bytes
}

// quiet reports whether no frame of a stream comes before the answer to a PING.
func (c *client) quiet() bool {
	_ = c.WritePing(false, [8]byte{1})
	for {
		f, err := c.ReadFrame()
		if err != nil {
			c.t.Fatal(err)
		}
		switch f := f.(type) {
		case *xhttp2.PingFrame:
			return f.IsAck()
		case *xhttp2.DataFrame, *xhttp2.RSTStreamFrame, *xhttp2.HeadersFrame, *xhttp2.GoAwayFrame:
			return false
		}
	}
}

// TestWindowsAreKept: those of the stream, of the connection, and those that settings change.
func TestWindowsAreKept(t *testing.T) {
	text := strings.Repeat("a", 100_000)
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending { say(a, text); return nil }}
	_, address := serve(t, e, nil)
	c := dial(t, address, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 10})
	want := func(what string, n int) {
		t.Helper()
		if _, got := c.await(n); got != n || !c.quiet() {
			t.Errorf("%s: got %d bytes or more, want %d", what, got, n)
		}
	}
	c.ask(1, true, plain("GET", "/")...)
	want("the first window", 10)
	_ = c.WriteWindowUpdate(1, 20)
	want("an update", 20)
	_ = c.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 0}) // 10 less than nothing
	_ = c.WriteWindowUpdate(1, 10)
	if !c.quiet() {
		t.Error("sent beyond a window below 0")
	}
	_ = c.WriteWindowUpdate(1, 5)
	want("above 0 again", 5)
	_ = c.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 200_000})
	want("the connection's", 65535-35)
	_ = c.WriteWindowUpdate(0, 1000)
	want("an update of it", 1000)
	_ = c.WriteWindowUpdate(0, 1<<20)
	if all, err := c.take(1); err != nil || !all[1].ended || len(all[1].text) != len(text)-66535 {
		t.Errorf("the rest: got %v bytes, %v", len(all[1].text), err)
	}
	_ = c.WriteWindowUpdate(0, 1<<31-1)
	c.wantEnd(xhttp2.ErrCodeFlowControl)
}

// TestUnreadContentIsBounded: what nobody reads is as much as the windows allow, and what is
// given up with its stream may be sent anew.
func TestUnreadContentIsBounded(t *testing.T) {
	goOn, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
		return later(func() {
			if <-goOn; string(r.Target) == "/never" {
				<-over
			}
			n, err := io.Copy(io.Discard, asReader{r.Body})
			if err == nil && n == 2*streamWindow {
				say(a, "all")
				return
			}
			a.Status, a.Length = 400, 0
		})
	}}
	_, address := serve(t, e, nil)
	c := dial(t, address)
	send := func(id uint32, n int) {
		for ; n > 0; n -= frameBytes {
			_ = c.WriteData(id, false, make([]byte, frameBytes))
		}
	}
	c.ask(1, false, plain("POST", "/")...)
	send(1, streamWindow)
	if !c.quiet() {
		t.Error("the window of a stream is not what was announced")
	}
	close(goOn)
	granted, sent := 0, 0
	for sent < streamWindow { // after it was read
		f, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := f.(*xhttp2.WindowUpdateFrame); ok && w.StreamID == 1 {
			granted += int(w.Increment)
		}
		for ; granted >= frameBytes && sent < streamWindow; granted -= frameBytes {
			send(1, frameBytes)
			sent += frameBytes
		}
	}
	_ = c.WriteData(1, true, nil)
	if all, err := c.take(1); err != nil || all[1].text != "all" {
		t.Errorf("got %q, %v, want all of it", all[1].text, err)
	}

	c.ask(3, false, plain("POST", "/never")...)
	send(3, streamWindow)
	_ = c.WriteData(3, false, []byte("x"))
	all, err := c.take(3)
	if err != nil || all[3].reset != xhttp2.ErrCodeFlowControl {
		t.Errorf("beyond the window: got %v, %v, want FLOW_CONTROL_ERROR", all[3], err)
	}
}

// TestBodiesThatNobodyReadGoWithTheirStreams: far more is sent on one connection than may be
// unread at once, of requests that are refused.
func TestBodiesThatNobodyReadGoWithTheirStreams(t *testing.T) {
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status, a.Length = 403, 0
		return nil
	}}
	_, address := serve(t, e, nil)
	c := dial(t, address)
	granted := make(chan int, 1000)
	go func() {
		defer close(granted)
		for {
			f, err := c.ReadFrame()
			if err != nil {
				return
			}
			if w, ok := f.(*xhttp2.WindowUpdateFrame); ok && w.StreamID == 0 {
				granted <- int(w.Increment)
			}
		}
	}()
	window := 65535
	for i := range uint32(100) {
		id := 2*i + 1
		c.ask(id, false, plain("POST", "/")...)
		for range 10 {
			for window < frameBytes {
				n, ok := <-granted
				if !ok {
					t.Fatal("the connection has ended, or nothing is granted any more")
				}
				window += n
			}
			window -= frameBytes
			if err := c.WriteData(id, false, make([]byte, frameBytes)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestUrgentContentGoesFirst, that of equal urgency in order, and what is of use in parts by turns
// (RFC 9218).
func TestUrgentContentGoesFirst(t *testing.T) {
	const size = 40_000 // bytes of each
	e := &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		say(a, strings.Repeat("a", size))
		return nil
	}}
	_, address := serve(t, e, nil)
	f := func(name string, want []uint32, ask func(*client)) {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20})
			c.ask(1, true, plain("GET", "/", "priority", "u=0")...)
			c.await(size)
			c.ask(3, true, plain("GET", "/", "priority", "u=0")...)
			c.await(65535 - size) // now the window of the connection is empty
			_ = c.WriteRSTStream(3, xhttp2.ErrCodeCancel)
			ask(c)
			if got := c.heads(3); !got {
				t.Fatal("the heads did not come")
			}
			_ = c.WriteWindowUpdate(0, 1<<20)
			order, _ := c.await(3 * size)
			var got []uint32 // where a stream ends, or the turns
			for i, id := range order {
				if i == 0 || got[len(got)-1] != id {
					got = append(got, id)
				}
			}
			if !sameOrder(got, want) {
				t.Errorf("got content of %v, want %v", got, want)
			}
		})
	}
	three := func(priorities ...string) func(*client) {
		return func(c *client) {
			for i, p := range priorities {
				c.ask(uint32(5+2*i), true, plain("GET", "/", "priority", p)...)
			}
		}
	}
	f("by urgency", []uint32{9, 7, 5}, three("u=5", "u=3", "u=1"))
	f("what cannot be read is as usual", []uint32{7, 5, 9}, three("u=9", "u=1", "=?"))
	f("in order", []uint32{5, 7, 9}, three("u=3", "u=3", "u=3"))
	f("by turns", []uint32{5, 7, 9, 5, 7, 9, 5, 7, 9}, three("u=2, i", "u=2, i", "i, u=2"))
	f("changed", []uint32{9, 5, 7}, func(c *client) {
		three("u=3", "u=3", "u=3")(c)
		_ = c.WritePriorityUpdate(9, "u=0")
	})
	f("changed before", []uint32{9, 5, 7}, func(c *client) {
		_ = c.WritePriorityUpdate(9, "u=0")
		three("u=3", "u=3", "u=3")(c)
	})
	f("for many", []uint32{5, 7, 9, 5, 7, 9, 5, 7, 9}, func(c *client) {
		for i := range 3 {
			c.ask(uint32(5+2*i), true, plain("GET", "/", "via", "2 cdn")...)
		}
	})
}

// sameOrder compares turns up to where the first stream ends: the pieces are as large as what
// is written at once has room for.
func sameOrder(got, want []uint32) bool {
	if len(want) > 3 {
		return len(got) >= len(want) && got[0] != got[1] && got[1] != got[2] && got[0] != got[2]
	}
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

// heads waits for so many heads, and the PING behind them.
func (c *client) heads(n int) bool {
	for n > 0 {
		f, err := c.next()
		if err != nil {
			return false
		}
		if _, ok := f.(*xhttp2.HeadersFrame); ok {
			n--
		}
	}
	return c.quiet()
}

// TestPriorities reads fields as RFC 9218 section 4 has them.
func TestPriorities(t *testing.T) {
	for text, want := range map[string]priority{
		"": {3, false}, "u=0": {0, false}, "u=7": {7, false}, "u=8": {3, false}, "u=-1": {3, false}, "i": {3, true}, "u=1, i": {1, true},
		"u=1,i": {1, true}, "i, u=1": {1, true}, "i=?0": {3, false}, "u=2,  i=?1": {2, true}, "u=x": {3, false}, "u=1.5": {3, false},
		"u=5;a=b": {5, false}, "x=1, u=4": {4, false}, "u=1 i": {3, false}, "u=1, u=2": {2, false}, "u=12": {3, false}, "\x00": {3, false},
	} {
		if got := parsePriority(text, usual); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// TestAPurseHoldsNoMoreThanItsBurst.
func TestAPurseHoldsNoMoreThanItsBurst(t *testing.T) {
	p, at := newTokenBucket(2, 1), time.Now()
	pay := func(after time.Duration, want bool) {
		t.Helper()
		at = at.Add(after)
		if got := p.take(at); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	pay(0, true)
	pay(0, true)
	pay(0, false)
	pay(time.Second, true)
	pay(0, false)
	pay(time.Hour, true)
	pay(0, true)
	pay(0, false)
	p.put(100)
	pay(0, true)
	pay(0, true)
	pay(0, false)
}
