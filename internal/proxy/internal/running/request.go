package running

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// Phase is what a request waits for.
type Phase uint32

// The phases.
const (
	Disk        Phase = iota // for a lookup or a read on the disk
	RequestBody              // for the client's request body, which is read before the origin is contacted
	Origin                   // for a connection to the origin, or for the head of its response
	Queue                    // for a free connection to the origin; derived from Origin, see Watch
	SharedFetch              // for the head of a response that another request fetches
	Sending                  // for the client to receive the response
	Tunnel                   // for the end of an upgraded connection
	Password                 // for its password check, or for earlier ones
)

var phaseNames = [...]string{
	Disk: "disk", RequestBody: "request-body", Origin: "origin", Queue: "queue", SharedFetch: "shared-fetch", Sending: "sending", Tunnel: "tunnel",
	Password: "password",
}

// String returns the name in logs and JSON.
func (p Phase) String() string { return phaseNames[p] }

// Bytes of each text that are kept. A longer text is shown cut.
const (
	methodBytes = 16
	hostBytes   = 128
	targetBytes = 256
)

// About is what is shown of a request. Begin copies its bytes.
type About struct {
	Start                time.Time
	Scheme, Route        string
	Method, Host, Target []byte
	Client               netip.Addr
}

// copiedText is a text that was copied, as far as there was room.
type copiedText struct {
	size int
	cut  bool
}

func copyTo(to, from []byte) copiedText {
	n := copy(to, from)
	return copiedText{n, n < len(from)}
}

// Request is one request in a Table. The zero Request is in no table. It may be reused after End. Only its owner may
// call its methods and pass it to Begin. Enter, Sent and Counts may be called on nil, and at any time.
type Request struct {
	phase          atomic.Uint32
	sent, received atomic.Int64
	queued         atomic.Pointer[atomic.Bool] // see Watch; may be nil

	// Written only while the request is in no table. Read under the lock of its shard.

	inTable              bool
	start                time.Time
	scheme, route        string
	client               netip.Addr
	method, host, target copiedText
	buffers              struct {
		method [methodBytes]byte
		host   [hostBytes]byte
		target [targetBytes]byte
	}

	shard *shard
	index int // guarded by shard.mu
}

func (r *Request) set(a *About) {
	r.start, r.scheme, r.route, r.client = a.Start, a.Scheme, a.Route, a.Client
	b := &r.buffers
	r.method, r.host, r.target = copyTo(b.method[:], a.Method), copyTo(b.host[:], a.Host), copyTo(b.target[:], a.Target)
	r.sent.Store(0)
	r.received.Store(0)
	r.queued.Store(nil)
}

// On reports whether r is in a table.
func (r *Request) On() bool { return r != nil && r.inTable }

// Enter sets the phase of r.
func (r *Request) Enter(p Phase) {
	if r != nil {
		r.phase.Store(uint32(p))
	}
}

// Watch makes the phase Origin show as Queue while queued is true, until r ends.
func (r *Request) Watch(queued *atomic.Bool) {
	if r.On() {
		r.queued.Store(queued)
	}
}

// Sent sets the number of body bytes sent so far.
func (r *Request) Sent(bytes int64) {
	if r != nil {
		r.sent.Store(bytes)
	}
}

// Counts returns the counters of the bytes that a tunnel sends to the client and receives from it. They are nil if r is
// nil.
func (r *Request) Counts() (sent, received *atomic.Int64) {
	if r == nil {
		return nil, nil
	}
	return &r.sent, &r.received
}
