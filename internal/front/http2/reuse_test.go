package http2

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/message"
)

// TestAStreamThatOthersKnowServesNoOtherRequest: to close or to reset it would end a request of
// somebody else.
func TestAStreamThatOthersKnowServesNoOtherRequest(t *testing.T) {
	for name, use := range map[string]func(*message.Request, *message.Answer) message.Pending{
		"held": func(_ *message.Request, a *message.Answer) message.Pending {
			a.Held = closer(func() {})
			return nil
		},
		"leaver": func(r *message.Request, _ *message.Answer) message.Pending {
			r.Conn.(interface{ OnLeave(f func()) func() bool }).OnLeave(func() {})()
			return nil
		},
		"read deadline": func(r *message.Request, _ *message.Answer) message.Pending {
			_ = r.Deadlines.SetReadDeadline(time.Now().Add(time.Hour))
			return nil
		},
		"write deadline": func(r *message.Request, _ *message.Answer) message.Pending {
			_ = r.Deadlines.SetWriteDeadline(time.Now().Add(time.Hour))
			return nil
		},
		"later": func(*message.Request, *message.Answer) message.Pending { return later(func() {}) },
	} {
		t.Run(name, func(t *testing.T) {
			conns := make(chan net.Conn, 1)
			e := &engine{begin: func(r *message.Request, a *message.Answer) message.Pending {
				conns <- r.Conn
				say(a, "ok")
				if string(r.Target) == "/known" {
					return use(r, a)
				}
				return nil
			}}
			_, address := serve(t, e, nil)
			c := dial(t, address)
			var known net.Conn
			for id := uint32(1); id < 41; id += 2 {
				path := "/"
				if id == 1 {
					path = "/known"
				}
				c.ask(id, true, plain("GET", path)...)
				if all, err := c.take(id); err != nil || all[id].text != "ok" {
					t.Fatalf("stream %d: got %v, %v", id, all[id], err)
				}
				got := <-conns
				if known == got {
					t.Fatalf("stream %d is the one that is known", id)
				}
				if id == 1 {
					known = got
				}
			}
		})
	}
}

// TestSpareStreamsGoWithTime: an idle connection keeps none.
func TestSpareStreamsGoWithTime(t *testing.T) {
	s, _ := serve(t, &engine{}, nil)
	nc, other := net.Pipe()
	defer nc.Close()
	defer other.Close()
	c := newConn(s, nc) // which the Server does not look at
	c.lastID, c.hasRequest, c.spare = 1, true, []*stream{{}}
	began := time.Now()
	for _, look := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {spareTime - 1, 1}, {spareTime, 0}} {
		c.check(began.Add(look.after), 0)
		if got := len(c.spare); got != look.want {
			t.Errorf("after %v: got %d spare streams, want %d", look.after, got, look.want)
		}
	}
}

// TestHEADERSAreReadInEveryForm (RFC 9113 section 6.2).
func TestHEADERSAreReadInEveryForm(t *testing.T) {
	const (
		end      = xhttp2.FlagHeadersEndStream | xhttp2.FlagHeadersEndHeaders
		padded   = end | xhttp2.FlagHeadersPadded
		priority = end | xhttp2.FlagHeadersPriority
	)
	few := func(c *client) []byte { return c.encode(plain("GET", "/")...) }
	many := func(c *client) []byte { // more than the reader's buffer holds
		return c.encode(plain("GET", "/", "x-long", strings.Repeat("~", 6<<10))...)
	}
	weight := []byte{0, 0, 0, 9, 15}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, f := range map[string]struct {
		flags xhttp2.Flags
		id    uint32
		of    func(*client) []byte
		want  xhttp2.ErrCode
	}{
		"plain":              {end, 1, few, xhttp2.ErrCodeNo},
		"long":               {end, 1, many, xhttp2.ErrCodeNo},
		"padded":             {padded, 1, func(c *client) []byte { return join([]byte{3}, few(c), make([]byte, 3)) }, xhttp2.ErrCodeNo},
		"long, padded":       {padded, 1, func(c *client) []byte { return join([]byte{3}, many(c), make([]byte, 3)) }, xhttp2.ErrCodeNo},
		"priority":           {priority, 1, func(c *client) []byte { return join(weight, few(c)) }, xhttp2.ErrCodeNo},
		"both":               {padded | priority, 1, func(c *client) []byte { return join([]byte{2}, weight, few(c), make([]byte, 2)) }, xhttp2.ErrCodeNo},
		"of no stream":       {end, 0, few, xhttp2.ErrCodeProtocol},
		"nothing but flags":  {padded, 1, func(*client) []byte { return nil }, xhttp2.ErrCodeFrameSize},
		"too much padding":   {padded, 1, func(*client) []byte { return []byte{3, 0, 0} }, xhttp2.ErrCodeProtocol},
		"priority, cut off":  {priority, 1, func(*client) []byte { return weight[:4] }, xhttp2.ErrCodeFrameSize},
		"both, padding long": {padded | priority, 1, func(*client) []byte { return join([]byte{1}, weight) }, xhttp2.ErrCodeProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, address := serve(t, &engine{}, nil)
			c := dial(t, address)
			_ = c.WriteRawFrame(xhttp2.FrameHeaders, f.flags, f.id, f.of(c))
			if f.want != xhttp2.ErrCodeNo {
				c.wantEnd(f.want)
				return
			}
			if all, err := c.take(1); err != nil || all[1].text != "ok" {
				t.Errorf("got %v, %v", all[1], err)
			}
		})
	}
}
