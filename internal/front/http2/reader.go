package http2

import (
	"bufio"
	"errors"
	"io"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// reader reads what a client sends. It belongs to one goroutine, which takes the connection's
// mutex for what it changes.
type reader struct {
	c       *conn
	in      *bufio.Reader
	framer  *xhttp2.Framer
	decoder *hpack.Decoder
	block   block
	resets  purse
	idle    purse
	paid    int64 // of conn.frames
	updates int64 // that content has paid for
	begun   bool  // SETTINGS have come
}

func (r *reader) init(c *conn) {
	r.c, r.in = c, newBuffer(c)
	r.framer = xhttp2.NewFramer(io.Discard, r.in)
	r.framer.SetMaxReadFrameSize(frameBytes)
	r.framer.SetReuseFrames()
	r.block.limit = c.s.o.HeaderBytes + extraFields
	r.decoder = hpack.NewDecoder(tableBytes, r.emit)
	r.decoder.SetMaxStringLength(4 * r.block.limit) // more than fragment lets through
	r.resets, r.idle = newPurse(resetBurst, resetsPerSecond), newPurse(idleBurst, idlePerSecond)
}

// Errors that end a connection.
const (
	errProtocol = xhttp2.ConnectionError(xhttp2.ErrCodeProtocol)
	errCalm     = xhttp2.ConnectionError(xhttp2.ErrCodeEnhanceYourCalm)
	errFlow     = xhttp2.ConnectionError(xhttp2.ErrCodeFlowControl)
	errStream   = xhttp2.ConnectionError(xhttp2.ErrCodeStreamClosed)
	errTable    = xhttp2.ConnectionError(xhttp2.ErrCodeCompression)
	errSecurity = xhttp2.ConnectionError(xhttp2.ErrCodeInadequateSecurity)
	errSize     = xhttp2.ConnectionError(xhttp2.ErrCodeFrameSize)
)

// run reads until the connection is to end, and returns why that is.
func (r *reader) run() error {
	if !r.c.secure() {
		return errSecurity
	}
	if err := r.preface(); err != nil {
		return err
	}
	for {
		h, err := r.framer.ReadFrameHeader()
		if errors.Is(err, xhttp2.ErrFrameTooLarge) {
			return errSize
		}
		if err != nil {
			return err
		}
		if !r.begun && h.Type != xhttp2.FrameSettings {
			return errProtocol
		}
		if err = r.payload(h); err == nil {
			continue
		}
		if err = r.survive(h, err); err != nil {
			return err
		}
	}
}

// payload reads what follows the head of a frame, and does what the frame asks for.
func (r *reader) payload(h xhttp2.FrameHeader) error {
	if h.Type == xhttp2.FrameHeaders {
		return r.headers(h)
	}
	f, err := r.framer.ReadFrameForHeader(h)
	if err != nil {
		return err
	}
	return r.frame(f)
}

// preface reads what every client says first (RFC 9113 section 3.4).
func (r *reader) preface() error {
	got := make([]byte, len(xhttp2.ClientPreface))
	if _, err := io.ReadFull(r.in, got); err != nil {
		return err
	}
	if string(got) != xhttp2.ClientPreface {
		return errProtocol
	}
	return nil
}

// survive resets the stream that err is of, and returns what ends the connection. What is wrong
// with the frame of a header ends it, since nothing behind would be read as it was meant.
func (r *reader) survive(h xhttp2.FrameHeader, err error) error {
	var of xhttp2.StreamError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errSize // or the connection has ended, and nobody hears of it
	case !errors.As(err, &of):
		return err
	case h.Type == xhttp2.FrameHeaders && !errors.Is(of.Cause, errFrames):
		return xhttp2.ConnectionError(of.Code)
	}
	return r.reset(of.StreamID, of.Code)
}

// reset resets a stream. Clients can cause this at will, so it is paid for like their own
// resets.
func (r *reader) reset(id uint32, code xhttp2.ErrCode) error {
	c := r.c
	c.mu.Lock()
	s, idle := c.streams[id], c.idleLocked(id)
	if s == nil && !idle {
		c.out.reset(id, code)
		c.recent.add(id, true)
	}
	c.mu.Unlock()
	switch {
	case s != nil:
		s.reset(code, errFrames)
	case idle:
		return xhttp2.ConnectionError(code) // RFC 9113 section 5.1: none of this is for idle streams
	}
	return r.payReset()
}

func (r *reader) payReset() error {
	if !r.resets.pay(now()) {
		return errCalm
	}
	return nil
}

// payIdle pays for a frame that furthers no request.
func (r *reader) payIdle() error {
	frames := r.c.frames.Load()
	r.idle.get(float64(usefulPays * (frames - r.paid)))
	r.paid = frames
	if !r.idle.pay(now()) {
		return errCalm
	}
	return nil
}

// payUpdate pays for a frame that opens a window: the content that was sent does, once for each
// updateBytes.
func (r *reader) payUpdate() error {
	if r.updates < r.c.moved.Load()/updateBytes {
		r.updates++
		return nil
	}
	return r.payIdle()
}

// useful notes that a frame was of use.
func (r *reader) useful() { r.idle.get(usefulPays) }

// frame does what a frame asks for.
func (r *reader) frame(f xhttp2.Frame) error {
	switch f := f.(type) {
	case *xhttp2.ContinuationFrame:
		return r.fragment(f.HeaderBlockFragment(), f.HeadersEnded())
	case *xhttp2.DataFrame:
		return r.data(f)
	case *xhttp2.SettingsFrame:
		return r.settings(f)
	case *xhttp2.PushPromiseFrame:
		return errProtocol // RFC 9113 section 8.4
	case *xhttp2.WindowUpdateFrame:
		return r.windowUpdate(f)
	case *xhttp2.RSTStreamFrame:
		return r.rstStream(f)
	}
	return r.aside(f)
}

// aside does what a frame asks for that is about no request.
func (r *reader) aside(f xhttp2.Frame) error {
	if err := r.payIdle(); err != nil {
		return err
	}
	switch f := f.(type) {
	case *xhttp2.PingFrame:
		r.ping(f)
	case *xhttp2.PriorityFrame: // RFC 9113 section 5.3.2 has no use for it
		if f.StreamDep == f.StreamID {
			return r.priorityOfItself(f.StreamID)
		}
	case *xhttp2.PriorityUpdateFrame:
		return r.priorityUpdate(f)
	}
	return nil
}

// priorityOfItself refuses a stream that depends on itself, as HTTP/2 once asked for (RFC 7540
// section 5.3.1). A stream may be idle then.
func (r *reader) priorityOfItself(id uint32) error {
	r.c.mu.Lock()
	idle := id > r.c.lastID
	if idle {
		r.c.out.reset(id, xhttp2.ErrCodeProtocol)
	}
	r.c.mu.Unlock()
	if idle {
		return r.payReset()
	}
	return r.reset(id, xhttp2.ErrCodeProtocol)
}
