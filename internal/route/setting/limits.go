package setting

import (
	"time"

	"edgeproxy/internal/conn/pace"
)

// Limits bound a request, and what all requests take together. A request goes by those at its beginning.
type Limits struct {
	HeaderCount        int           // fields in a request's head
	TargetBytes        int           // the size of a request's target
	BodyBytes          int64         // the size of a request's body
	ReadIdleTimeout    time.Duration // between two reads of a request's body
	ReceiveRate        pace.Rate     // the least at which a client sends a request's body
	UpgradeIdleTimeout time.Duration // silence of both sides of a connection that was switched to another protocol; above 0
	RequestsInFlight   int           // requests that are not hits; beyond it they get 503
	// Tunnels bounds the connections that speak another protocol, and the requests for one. They have no place among RequestsInFlight.
	// Beyond it they get 503.
	Tunnels int
	// Ranges is how many ranges a request may ask for and get in one answer; one that asks for more gets the whole. At 0 that is each
	// with more than one.
	Ranges int
	// RangeAmplification is how many bytes may be fetched from an origin for each byte that ranges of what is not stored ask for; 0 is
	// any number.
	RangeAmplification int
}

// Collapse says for how long requests for one key wait for each other's fetch.
type Collapse struct {
	CollapseWait   time.Duration // if no response head has come by then, one of those that wait starts another fetch; above 0
	UncacheableFor time.Duration // how long nobody waits for a key after a response that was not storable; 0 is not at all
}

// FrontLimits are limits of a front, which stay as they are from start to end.
type FrontLimits struct {
	HeaderBytes int // the size of a request's head, as it is written in HTTP/1.1
	// HeaderTimeout is the time to the first request of a connection, and from a head's first byte to its last.
	HeaderTimeout    time.Duration
	KeepaliveTimeout time.Duration // a connection without a request
}

// FixedLimits are limits of the engine that stay as they are from start to end.
type FixedLimits struct {
	InflightBytes int64 // the size of the bodies of all fetches together
	// InflightShare is the share of InflightBytes that one client may hold while less than a quarter is free; 1 is all.
	InflightShare float64
	// OriginShare is the share that one client may hold of Tunnels, RequestsInFlight, encoders and connections to an origin while less
	// than a quarter is free; 1 is all. Beyond it a client gets 429.
	OriginShare float64
	// RequestBuffer is how much of a request's body is read before a connection to the origin is taken; 0 is nothing.
	RequestBuffer int64
	// ResponseBuffer is how far a fetch that is not kept whole for others runs ahead of its client; at least 64 KiB.
	ResponseBuffer int64
	SendRate       pace.Rate // the least at which a client reads a response
}
