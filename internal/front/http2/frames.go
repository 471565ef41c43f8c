package http2

import (
	"maps"

	xhttp2 "golang.org/x/net/http2"
)

// settings takes the client's settings (RFC 9113 section 6.5).
func (r *reader) settings(f *xhttp2.SettingsFrame) error {
	c := r.c
	if f.IsAck() {
		c.mu.Lock()
		c.settingsAcked = true
		c.mu.Unlock()
		return r.payIdle()
	}
	if err := r.applySettings(f); err != nil {
		return err
	}
	c.signal()
	if !r.begun {
		// The client has shown that it speaks HTTP/2. From now on the connection waits for its first request.
		r.begun = true
		c.state(Active)
		c.state(Idle)
	}
	return r.payIdle()
}

// applySettings applies the settings. One frame can name the initial window many times, and a change concerns
// all streams, so only the last value is applied.
func (r *reader) applySettings(f *xhttp2.SettingsFrame) error {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	initial := c.out.initial
	err := f.ForeachSetting(func(s xhttp2.Setting) error {
		switch s.ID { //nolint:exhaustive // the others ask for nothing that we do
		case xhttp2.SettingHeaderTableSize:
			c.out.encoder.hpack.SetMaxDynamicTableSize(s.Val)
		case xhttp2.SettingInitialWindowSize:
			initial = int64(s.Val)
		}
		return s.Valid()
	})
	if err != nil {
		return err
	}
	change := initial - c.out.initial
	c.out.initial = initial
	for _, s := range c.streams {
		if s.window += change; s.window > mostWindow {
			return errFlow
		}
		if s.window <= 0 {
			c.out.ready.remove(s)
		}
		c.out.queueContent(s)
	}
	if c.out.ackSettings(); c.out.flooded { // the writer waits for this very client, and does not see it
		return errCalm
	}
	return nil
}

func (r *reader) ping(f *xhttp2.PingFrame) error {
	c := r.c
	c.mu.Lock()
	switch {
	case !f.IsAck():
		c.out.pong(f.Data)
	case f.Data == goAwayPing && c.leaving == goAwayWarned:
		c.closeLocked()
	}
	flooded := c.out.flooded
	c.mu.Unlock()
	c.signal()
	if flooded { // the writer waits for this very client, and does not see it
		return errCalm
	}
	return nil
}

// windowUpdate lets us send more (RFC 9113 section 6.9).
func (r *reader) windowUpdate(f *xhttp2.WindowUpdateFrame) error {
	if err := r.payUpdate(); err != nil {
		return err
	}
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID == 0 {
		if c.out.window += int64(f.Increment); c.out.window > mostWindow {
			return errFlow
		}
		return nil
	}
	s := c.streams[f.StreamID]
	switch {
	case s != nil:
		if s.window += int64(f.Increment); s.window > mostWindow {
			return xhttp2.StreamError{StreamID: s.id, Code: xhttp2.ErrCodeFlowControl}
		}
		c.out.queueContent(s)
	case c.idleLocked(f.StreamID):
		return errProtocol
	}
	return nil
}

// rstStream ends a stream that its client has given up.
func (r *reader) rstStream(f *xhttp2.RSTStreamFrame) error {
	c := r.c
	c.mu.Lock()
	s, idle := c.streams[f.StreamID], c.idleLocked(f.StreamID)
	if s != nil {
		c.recent.add(s.id, false)
		s.endLocked(errReset)
	}
	c.mu.Unlock()
	if idle {
		return errProtocol
	}
	if s != nil {
		s.notifyLeave()
		c.reportState()
	}
	return r.payReset()
}

// data takes content of a request (RFC 9113 section 6.1).
func (r *reader) data(f *xhttp2.DataFrame) error {
	c, length, p := r.c, int64(f.Length), f.Data()
	if len(p) == 0 && !f.StreamEnded() {
		if err := r.payIdle(); err != nil {
			return err
		}
	} else {
		r.useful()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.in.take(length) {
		return errFlow
	}
	s := c.streams[f.StreamID]
	if s == nil {
		c.giveLocked(length)
		return c.closedStreamLocked(f.StreamID)
	}
	code := xhttp2.ErrCodeNo
	switch {
	case s.halfClosed:
		code = xhttp2.ErrCodeStreamClosed
	case !s.in.take(length):
		code = xhttp2.ErrCodeFlowControl
	case !s.up.addLocked(p, f.StreamEnded()):
		code = xhttp2.ErrCodeProtocol
	}
	if code != xhttp2.ErrCodeNo {
		c.giveLocked(length)
		return xhttp2.StreamError{StreamID: s.id, Code: code}
	}
	s.halfClosed = f.StreamEnded()
	s.padLocked(length - int64(len(p)))
	return nil
}

// padLocked gives back n bytes of padding, which nobody reads.
func (s *stream) padLocked(n int64) {
	s.c.giveLocked(n)
	if n > 0 && !s.halfClosed && s.in.give(n, streamWindow) {
		s.c.out.queueFrames(s)
	}
}

// idleLocked reports whether a stream has never begun. We begin none, so those with even numbers
// are idle (RFC 9113 section 5.1.1).
func (c *conn) idleLocked(id uint32) bool { return id > c.lastID || id%2 == 0 }

// closedStreamLocked returns the error for content of a stream that is not open.
func (c *conn) closedStreamLocked(id uint32) error {
	if c.idleLocked(id) {
		return errProtocol
	}
	if _, reset := c.recent.find(id); reset { // it may not know yet
		return nil
	}
	return xhttp2.StreamError{StreamID: id, Code: xhttp2.ErrCodeStreamClosed}
}

// priorityUpdate changes when a stream is sent, also before it has begun (RFC 9218 section 7.1).
func (r *reader) priorityUpdate(f *xhttp2.PriorityUpdateFrame) error {
	c, id := r.c, f.PrioritizedStreamID
	if id%2 == 0 {
		return errProtocol
	}
	p := parsePriority(f.Priority, usual)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prioritizes = true
	if s := c.streams[id]; s != nil {
		if in := s.ready; in {
			c.out.ready.remove(s)
			s.priority = p
			c.out.ready.add(s)
		}
		s.priority = p
		return nil
	}
	if id > c.lastID {
		c.keepPriorityLocked(id, p)
	}
	return nil
}

// keepPriorityLocked keeps the priority of a stream that has not begun, if fewer than mostPriorities are kept. It first
// drops those of streams that cannot begin any more, because a stream with a higher number has.
func (c *conn) keepPriorityLocked(id uint32, p priority) {
	if _, known := c.updates[id]; !known && len(c.updates) >= mostPriorities {
		maps.DeleteFunc(c.updates, func(id uint32, _ priority) bool { return id <= c.lastID })
		if len(c.updates) >= mostPriorities {
			return
		}
	}
	if c.updates == nil {
		c.updates = map[uint32]priority{}
	}
	c.updates[id] = p
}
