package http2

import (
	"log/slog"
	"net"
	"net/netip"
	"time"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/route/setting"
)

// State is what a connection does.
type State uint8

// The states of a connection. It is New once, then Active and Idle in turn, and Closed once.
const (
	New    State = iota
	Active       // a request is under way
	Idle
	Closed
)

// Options say how the front behaves. All limits are above 0.
type Options struct {
	// Engine answers the requests.
	Engine message.Engine
	// Admit is asked for each request whether there is room for it. One without is refused
	// with 503. Done is called at the end of each that was admitted. Both may be nil.
	Admit func() bool
	Done  func()
	// Peer returns the client's address where that is not the connection's own; nil says
	// that it always is. It is asked once, before the connection's first request: requests
	// can outlast the connection, after which the address may be forgotten.
	Peer func(net.Conn) (client netip.Addr, told bool)
	// Streams is how many requests one client may have under way at once.
	Streams int
	setting.FrontLimits
	// WriteIdleTimeout is for how long a client may take nothing of an answer.
	WriteIdleTimeout time.Duration
	// SendRate is the least pace at which a client takes each answer, by the windows that it
	// gives. Slow is called for each answer that is ended for it; it may be nil.
	SendRate pace.Rate
	Slow     func()
	// State is called as connections come and go, one call at a time for each; it may be nil.
	State func(net.Conn, State)
	// Panics notes panics that end a request; nil notes none.
	Panics *rescue.Counter
	// Log gets what ends a connection, at level debug, since clients cause it at will.
	Log *slog.Logger
}

// Bounds that nobody needs to set.
const (
	connWindow   = 1 << 20   // bytes of contents that a connection may have unread
	streamWindow = 256 << 10 // and a stream
	frameBytes   = 16 << 10  // the largest payload of a frame, either way
	tableBytes   = 4 << 10   // the dynamic table of HPACK, either way
	mostEmpty    = 32 << 10  // what a stream keeps for content that has not come yet
	recordBytes  = 16 << 10  // what is written at once: a record of TLS

	// controlBytes bounds the answers to control frames that the client does not take.
	controlBytes = 64 << 10
	// mostInterims is how many interim responses of one stream wait to be written.
	mostInterims = 8
	// extraFields is by how much more than HeaderBytes a header may be that is read: HPACK
	// counts 32 bytes more for each field (RFC 9113 section 6.5.2).
	extraFields = 320
	// mostFragments is of how many frames a header may be.
	mostFragments = 64

	// Resets, of either side, take tokens from a bucket of resetBurst, filled at resetsPerSecond
	// (RFC 9113 section 10.5).
	resetBurst      = 1000
	resetsPerSecond = 33
	// Frames that further no request take tokens from another bucket. It also gets tokensPerUse for each
	// request, and for each frame of content received or sent.
	idleBurst     = 2000
	idlePerSecond = 100
	tokensPerUse  = 10
	// One WINDOW_UPDATE for each updateBytes of content that were sent is free: clients tell of
	// what they have read in pieces of theirs, and may do so long after it was sent.
	updateBytes    = 256
	mostPriorities = 64 // most priorities kept of streams that have not begun

	mostAnnounced = 128 // trailers; others are not known

	ackTimeout     = time.Minute            // bound of the wait for an acknowledgement of SETTINGS (RFC 9113 section 6.5.3)
	goAwayPatience = time.Second            // between the first GOAWAY and the last one
	lingering      = 500 * time.Millisecond // after an error: a reset would keep GOAWAY from the client
)
