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
	resets  tokenBucket
	idle    tokenBucket
	paid    int64 // number of conn.unpaidFrames that were paid
	updates int64 // number of window updates that content has paid for
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
	r.resets, r.idle = newTokenBucket(resetBurst, resetsPerSecond), newTokenBucket(idleBurst, idlePerSecond)
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

// run reads until the connection has to end, and returns why.
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
		if err = r.resetOrFail(h, err); err != nil {
			return err
		}
	}
}

// payload reads the payload of a frame with the head h, and handles the frame.
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

// preface reads the client's connection preface (RFC 9113 section 3.4).
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

// resetOrFail resets the stream if err is an error of one stream. It returns an error that ends the connection. An error
// in a frame of a header ends it, since the dynamic table would be wrong after it.
func (r *reader) resetOrFail(h xhttp2.FrameHeader, err error) error {
	var of xhttp2.StreamError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errSize // if the connection has ended instead, the error does not matter
	case !errors.As(err, &of):
		return err
	case h.Type == xhttp2.FrameHeaders && !errors.Is(of.Cause, errFrames):
		return xhttp2.ConnectionError(of.Code)
	}
	return r.reset(of.StreamID, of.Code)
}

// reset resets a stream. Clients can cause this at will, so it takes a token as their own
// resets do.
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
	if !r.resets.take(now()) {
		return errCalm
	}
	return nil
}

// payIdle takes a token for a frame that furthers no request.
func (r *reader) payIdle() error {
	frames := r.c.unpaidFrames.Load()
	r.idle.put(float64(tokensPerUse * (frames - r.paid)))
	r.paid = frames
	if !r.idle.take(now()) {
		return errCalm
	}
	return nil
}

// payUpdate takes a token for a WINDOW_UPDATE. For each updateBytes of content that were sent one is
// free.
func (r *reader) payUpdate() error {
	if r.updates < r.c.contentSent.Load()/updateBytes {
		r.updates++
		return nil
	}
	return r.payIdle()
}

// useful adds tokens for a frame that furthers a request.
func (r *reader) useful() { r.idle.put(tokensPerUse) }

// frame handles a frame.
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
	return r.connFrame(f)
}

// connFrame handles a frame that is not about a request.
func (r *reader) connFrame(f xhttp2.Frame) error {
	if err := r.payIdle(); err != nil {
		return err
	}
	switch f := f.(type) {
	case *xhttp2.PingFrame:
		return r.ping(f)
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
