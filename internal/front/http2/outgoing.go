package http2

import (
	"encoding/binary"

	xhttp2 "golang.org/x/net/http2"
)

// outgoing is what a connection is to be sent. Its connection's mutex guards it.
type outgoing struct {
	control  []byte    // whole frames, which no window limits
	noWindow []*stream // streams with a head, an end or a WINDOW_UPDATE to write, which no window limits
	ready    schedule  // with content
	window   int64     // the connection's window for content
	initial  int64     // window that each stream begins with
	encoder  encoder
	touched  []*stream // streams with something in the write under way
	flooded  bool      // the client takes no answers to its control frames
}

func (o *outgoing) init(preamble []byte) {
	o.window, o.initial = 65535, 65535
	o.encoder.init()
	o.control = append(o.control, preamble...)
}

// frame appends the head of a frame.
func frame(b []byte, length int, kind xhttp2.FrameType, flags xhttp2.Flags, stream uint32) []byte {
	return append(b, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags),
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

// headBytes is the length of the head of a frame.
const headBytes = 9

// preamble is what every connection begins with (RFC 9113 section 3.4).
func preamble(o Options) []byte {
	settings := []xhttp2.Setting{
		{ID: xhttp2.SettingMaxConcurrentStreams, Val: uint32(o.Streams)},                //nolint:gosec // a limit
		{ID: xhttp2.SettingMaxHeaderListSize, Val: uint32(o.HeaderBytes + extraFields)}, //nolint:gosec // a limit
		{ID: xhttp2.SettingInitialWindowSize, Val: streamWindow},
		{ID: xhttp2.SettingNoRFC7540Priorities, Val: 1},
	}
	b := frame(nil, 6*len(settings), xhttp2.FrameSettings, 0, 0)
	for _, s := range settings {
		b = binary.BigEndian.AppendUint16(b, uint16(s.ID))
		b = binary.BigEndian.AppendUint32(b, s.Val)
	}
	return grant(b, 0, connWindow-65535)
}

// grant appends a WINDOW_UPDATE.
func grant(b []byte, stream uint32, n int64) []byte {
	b = frame(b, 4, xhttp2.FrameWindowUpdate, 0, stream)
	return binary.BigEndian.AppendUint32(b, uint32(n)) //nolint:gosec // a window
}

// reset appends a RST_STREAM.
func reset(b []byte, stream uint32, code xhttp2.ErrCode) []byte {
	b = frame(b, 4, xhttp2.FrameRSTStream, 0, stream)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

// reset resets a stream.
func (o *outgoing) reset(stream uint32, code xhttp2.ErrCode) {
	if o.room() {
		o.control = reset(o.control, stream, code)
	}
}

// goAway says which stream is the last that is answered.
func (o *outgoing) goAway(lastID uint32, code xhttp2.ErrCode) {
	o.control = frame(o.control, 8, xhttp2.FrameGoAway, 0, 0)
	o.control = binary.BigEndian.AppendUint32(o.control, lastID)
	o.control = binary.BigEndian.AppendUint32(o.control, uint32(code))
}

func (o *outgoing) ping(data [8]byte) {
	if o.room() {
		o.control = append(frame(o.control, 8, xhttp2.FramePing, 0, 0), data[:]...)
	}
}

func (o *outgoing) pong(data [8]byte) {
	if o.room() {
		o.control = append(frame(o.control, 8, xhttp2.FramePing, xhttp2.FlagPingAck, 0), data[:]...)
	}
}

func (o *outgoing) ackSettings() {
	if o.room() {
		o.control = frame(o.control, 0, xhttp2.FrameSettings, xhttp2.FlagSettingsAck, 0)
	}
}

// room reports whether one more control frame may be queued.
func (o *outgoing) room() bool {
	o.flooded = o.flooded || len(o.control) >= controlBytes
	return !o.flooded
}

// queueFrames queues s for frames that no window limits.
func (o *outgoing) queueFrames(s *stream) {
	if !s.inNoWindow {
		s.inNoWindow = true
		o.noWindow = append(o.noWindow, s)
	}
}

// forget takes s out of all that waits.
func (o *outgoing) forget(s *stream) {
	o.ready.remove(s)
	s.inNoWindow = false // fillLocked skips it
}

// queueContent queues the content of s, if its window is open.
func (o *outgoing) queueContent(s *stream) {
	if !s.ready && !s.headDue && s.content.left > 0 && s.window > 0 {
		o.ready.add(s)
	}
}

// headers appends the block of the encoder as HEADERS and what continues them.
func (o *outgoing) headers(b []byte, id uint32, end bool) []byte {
	block := []byte(o.encoder.block)
	kind, flags := xhttp2.FrameHeaders, xhttp2.Flags(0)
	if end {
		flags |= xhttp2.FlagHeadersEndStream
	}
	for {
		n := min(len(block), frameBytes)
		if n == len(block) {
			flags |= xhttp2.FlagHeadersEndHeaders
		}
		b = append(frame(b, n, kind, flags, id), block[:n]...)
		if block = block[n:]; len(block) == 0 {
			break
		}
		kind, flags = xhttp2.FrameContinuation, 0
	}
	if cap(o.encoder.block) > 4*frameBytes {
		o.encoder.block = nil
	}
	return b
}
