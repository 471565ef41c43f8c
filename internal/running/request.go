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
	Disk        Phase = iota // the disk is asked for what is stored, or it is read from there
	RequestBody              // the client sends its body, which is read before the origin is asked
	Origin                   // for the head of the origin's response, or until a connection to it is made
	Queue                    // for a connection to the origin that others use; nobody enters it, see Watch
	SharedFetch              // for the head of a response that another request fetches
	Sending                  // its answer is on the way to the client
	Tunnel                   // its connection speaks another protocol
	Password                 // for the check of its user's password, or for others before it
)

var phaseWords = [...]string{
	Disk: "disk", RequestBody: "request-body", Origin: "origin", Queue: "queue", SharedFetch: "shared-fetch", Sending: "sending", Tunnel: "tunnel",
	Password: "password",
}

// String is the word of logs and JSON.
func (p Phase) String() string { return phaseWords[p] }

// How much of a text is kept, in bytes. What is longer is shown cut.
const (
	methodBytes = 16
	hostBytes   = 128
	targetBytes = 256
)

// About is what is shown of a request. Its bytes are copied.
type About struct {
	Start                time.Time
	Scheme, Route        string
	Method, Host, Target []byte
	Client               netip.Addr
}

// text is a text that was copied, as far as there was room.
type text struct {
	size int
	cut  bool
}

func keep(to, from []byte) text {
	n := copy(to, from)
	return text{n, n < len(from)}
}

// Request is one request in a Table. The zero Request is in none, and may be used again when it was ended. Only
// its owner may call its methods and pass it to Begin and End. Enter, Sent and Counts may be called for nil, and at any time.
type Request struct {
	phase          atomic.Uint32
	sent, received atomic.Int64
	queued         atomic.Pointer[atomic.Bool] // see Watch; nil is none

	// Written only while the request is in no table, and read under the lock of its shard.

	on                   bool
	start                time.Time
	scheme, route        string
	client               netip.Addr
	method, host, target text
	buffers              struct {
		method [methodBytes]byte
		host   [hostBytes]byte
		target [targetBytes]byte
	}

	shard *shard
	place int // guarded by shard.mu
}

func (r *Request) set(a *About) {
	r.start, r.scheme, r.route, r.client = a.Start, a.Scheme, a.Route, a.Client
	b := &r.buffers
	r.method, r.host, r.target = keep(b.method[:], a.Method), keep(b.host[:], a.Host), keep(b.target[:], a.Target)
	r.sent.Store(0)
	r.received.Store(0)
	r.queued.Store(nil)
}

// On reports whether r is in a table.
func (r *Request) On() bool { return r != nil && r.on }

// Enter says what r waits for from now on.
func (r *Request) Enter(p Phase) {
	if r != nil {
		r.phase.Store(uint32(p))
	}
}

// Watch has the phase Origin be shown as Queue while queued is true, until r ends.
func (r *Request) Watch(queued *atomic.Bool) {
	if r.On() {
		r.queued.Store(queued)
	}
}

// Sent says how many bytes of its answer's body have been sent.
func (r *Request) Sent(bytes int64) {
	if r != nil {
		r.sent.Store(bytes)
	}
}

// Counts returns where bytes are counted that a tunnel sends to the client and receives from it; nil for nil.
func (r *Request) Counts() (sent, received *atomic.Int64) {
	if r == nil {
		return nil, nil
	}
	return &r.sent, &r.received
}
