//go:build linux

package fair

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// framing is a connection of HTTP/2 that writes what it likes.
type framing struct {
	w      *wave
	small  bool // it offers no window for bodies but what grant says
	c      net.Conn
	out    bytes.Buffer // what is written next
	fr     *http2.Framer
	id     uint32
	enc    *hpack.Encoder
	block  bytes.Buffer
	ended  chan struct{} // closed when the server has ended it
	alive  atomic.Bool
	resets sync.Map // keys are streams that the server has reset
}

// open connects, unless it is connected, and reports whether it is.
func (h *framing) open(n int) bool {
	if h.alive.Load() {
		return true
	}
	raw, err := h.w.connect(n, false)
	if err != nil {
		return false
	}
	c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	ctx, stop := context.WithTimeout(h.w.ctx, 5*time.Second)
	defer stop()
	if err := c.HandshakeContext(ctx); err != nil || c.ConnectionState().NegotiatedProtocol != "h2" {
		raw.Close()
		return false
	}
	h.c, h.id, h.ended = c, 1, make(chan struct{})
	h.out.Reset()
	h.fr = http2.NewFramer(&h.out, nil)
	h.enc = hpack.NewEncoder(&h.block)
	h.out.WriteString(http2.ClientPreface)
	if h.small {
		_ = h.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	} else {
		_ = h.fr.WriteSettings()
	}
	h.alive.Store(true)
	h.flush()
	ended := h.ended
	h.w.all.Go(func() {
		h.hear(c)
		h.alive.Store(false)
		c.Close()
		close(ended)
	})
	return true
}

// hear takes what the server says, and notes which streams it ends.
func (h *framing) hear(c net.Conn) {
	for in := http2.NewFramer(io.Discard, c); ; {
		f, err := in.ReadFrame()
		if err != nil {
			return
		}
		reset, isReset := f.(*http2.RSTStreamFrame)
		if isReset {
			h.resets.Store(reset.StreamID, true)
		}
	}
}

// over reports whether the server has ended a stream before its end.
func (h *framing) over(id uint32) bool {
	_, over := h.resets.Load(id)
	return over
}

// ask writes the head of a request and returns its stream.
func (h *framing) ask(method, target string, last bool) uint32 {
	h.block.Reset()
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", h.w.s.edge.host}, {":path", target}} {
		_ = h.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	id := h.id
	h.id += 2
	_ = h.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: h.block.Bytes(), EndHeaders: true, EndStream: last})
	return id
}

// grant lets the server send so many bytes more on a stream.
func (h *framing) grant(id, bytes uint32) {
	_ = h.fr.WriteWindowUpdate(0, bytes)
	_ = h.fr.WriteWindowUpdate(id, bytes)
}

// flush sends what was written.
func (h *framing) flush() {
	if _, err := h.c.Write(h.out.Bytes()); err != nil {
		h.alive.Store(false)
	}
	h.out.Reset()
}
