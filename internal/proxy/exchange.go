package proxy

import (
	"io"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/queryrules"
	"edgeproxy/internal/proxy/internal/running"
)

// disposition is what becomes of a request.
type disposition uint8

const (
	refused       disposition = iota // we answer ourselves, as a rule with an error
	hit                              // answered from the store, fresh
	needsPassword                    // the credentials have to be checked first
	needsDisk                        // memory has nothing to use, and the disk may have
	miss                             // the cache was asked and has nothing to use
	pass                             // the cache was not asked
)

// forward is why a request went to the origin: RFC 9211's fwd.
type forward uint8

const (
	fwdNone forward = iota
	fwdURIMiss
	fwdVaryMiss
	fwdStale
	fwdPartial
	fwdRequest
	fwdBypass
	fwdMethod
)

var forwardWords = [...]string{
	fwdNone: "", fwdURIMiss: "uri-miss", fwdVaryMiss: "vary-miss", fwdStale: "stale",
	fwdPartial: "partial", fwdRequest: "request", fwdBypass: "bypass", fwdMethod: "method",
}

func (f forward) String() string { return forwardWords[f] }

// result is the one word of metrics and log for a request.
type result uint8

const (
	resultHit result = iota
	resultStale
	resultRevalidated
	resultMiss
	resultScarce
	resultPass
	resultError

	resultCount
)

var resultWords = [resultCount]string{
	"hit", "stale", "revalidated", "miss", "scarce", "pass", "error",
}

func (r result) String() string { return resultWords[r] }

// Results returns the words of all results, under one of which each request is recorded.
func Results() []string { return slices.Clone(resultWords[:]) }

// reader is one client's part in a flight.
type reader = flight.Reader[cache.Key, *outcome]

// exchange is one request and its answer. It is taken from a pool and belongs
// to the goroutine that answers, then to the content of the answer if that is streamed.
// Slices alias the front's request or scratch. The groups are in the order of a
// request.
type exchange struct {
	// What was received (receive.go).

	p        *Proxy
	settings *settings // that were in force when it came
	req      *message.Request
	start    time.Time
	method   []byte
	target   wire.Target
	fields   []message.Line            // all lines of the head, in order
	asks     asks                      // what they ask of a cache
	seen     seen                      // which of them have to be looked at
	upload   *upload                   // the body; nil: there is none
	request  rfc9111.RequestDirectives // the Cache-Control

	// The client, and what proxies in front say of it (receive.go).

	peer          netip.Addr // what PeerOf says, if peerKnown; see peerAddress
	peerKnown     bool
	trusted       *forwarded.Trusted // not nil: the peer is a trusted proxy
	client        netip.Addr         // the client's address, where the peer is trusted
	forwardedHost []byte             // the host that such a peer tells, unchecked
	scheme        string             // http or https: what the client used, as far as is known

	// The route and the keys (key.go). host, path, keyed and the keys are
	// built in scratch.

	route      *route
	uses       uses             // of route; none without one
	host       []byte           // in canonical form
	path       []byte           // that routes match
	keyed      []byte           // the target in its normal form, as the route's rules leave it
	keying                      // the one in use: exact or byRule
	exact      keying           // of the target
	byRule     keying           // by rule
	rule       *queryrules.Rule // of the path, for queries; nil: there is none
	exactOnly  bool             // the rule does not hold for x
	redirected bool             // x comes from a flight whose response was another's
	wellBefore bool             // an answer that is no error is stored for the URL, or was until it expired
	askedAgain bool             // x waits once more, after another client's request for the same got an error

	// The look-up (decide.go).

	sighting                  // what x counts as
	heldBack    bool          // admission has held back what was found, and a stage has it
	asOf        uint64        // of the flights that had ended (flight.Table.Ended) before the look-up; 0: look again
	stale       *cache.Object // has to be validated before it may be the answer
	onDisk      bool          // what memory has not may be on the disk
	mayReadDisk bool          // x may wait, so it is looked for on the disk as well
	loaded      *cache.Object // that x is answered from alone: x lets go of it if it is from the disk
	waited      time.Duration // until the stored response was the answer
	answerable  bool          // the cache may answer, so target and lines are forwarded in their normal form
	refresh     bool          // the answer is stale, and is validated meanwhile
	weighing                  // of its Range (smallrange.go)
	partsVary   []string      // the fields that select one of the stored parts that were looked for; nil: none is known

	codingRefused bool // what was found has a content coding that the client refuses; see refusesCoding

	// What a request holds that is not a hit (access.go).

	who      netip.Prefix     // the client that counts for it
	presence *presence.Client // the client while it waits
	holds    bool             // any of the following, or a place among the running requests
	counted  bool             // among the requests in flight
	placed   bool             // and among those of its client
	busy     bool             // among those that keep the series of its route
	tunnels  bool             // among the tunnels, or asks the origin for one

	// What Finish has in its hands on the way to an answer. Only abandon looks at
	// them.

	flightReader   *reader
	originResponse *origin.Response
	fill           *fill // until its flight has it; behind that the end of the answer books it
	leaderOnly     *fill // whose response is x's alone; nil: it has none such
	sliced         *slicing

	// The answer: from is where its head and its content come from.

	from       source
	opened     io.Reader // its content, where that is read from files
	byFile     bool      // it is sent by sendfile from the disk
	unreadable int       // stored answers that could not be read

	status     int           // of our own answers
	retryAfter time.Duration // of them; 0: a second, where it is said
	challenge  string        // what an authority is answered, if x is one of its requests
	explained  string        // what is wrong with a purge

	// The sending (deliver.go, stream.go).

	answer    *message.Answer
	way       disposition // of a request that goes on in Finish
	waits     bool        // for Finish
	body      *body       // once the answer is streamed
	onResult  bool        // Range and conditions are evaluated here, on the result
	streaming bool
	closing   bool // the connection ends with this answer

	// What is told in Cache-Status, the log and the metrics (record.go).

	fwd          forward
	fwdStatus    int // what the origin answered where the answer is another
	reason       reason.Reason
	result       result
	collapsed    bool
	stored       bool  // admitted when the header was sent
	uncounted    bool  // x is not counted, logged or traced: another exchange will be, or it asks for LivezPath
	sent         int   // status of the answer, from the origin or our own
	ttl          int64 // seconds of freshness that a stored answer had left
	bytes        int64 // of the body that the client gets
	received     int64 // from the client, after the switch to another protocol
	firstByte    time.Duration
	traceDecided bool             // it is decided whether x is traced
	trace        *requestTrace    // its span; nil: it is not traced. See traced
	answered     *origin.Response // of the fetch behind a stored answer, for the log; see answeredBy
	failed       string           // the server that was asked last, where it failed
	broke        string           // why the answer broke off, if not because of the client; "": it did not. See brokeOff

	// Among the requests that run, while it is one of them (record.go). It outlives the request, as lane does, which
	// tells apart exchanges that are in use at the same time.

	run  *running.Request
	lane uint32

	// Buffers, which outlive the request, as the entries of room do.

	scratch  []byte
	spelling []byte // the normal form of a target that may be spelt otherwise
	raw      [][]byte
	id       []byte         // that was made for it; empty: none was. See RequestID
	folded   []byte         // a value in its normal form
	stripped []message.Line // fields, where cookies were taken out of them
	room     assembly       // where stored parts are gathered; one that is the answer is from
}

// asks is what the fields of a request ask of a cache.
type asks struct {
	get, head             bool
	body                  bool
	authorization, cookie bool
	ranged, conditional   bool // Range; If-None-Match or If-Modified-Since
	precondition          bool // If-Match or If-Unmodified-Since
	upgrade               bool
	connectionNames       bool // Connection names fields to drop
}

// seen are the fields of a request whose values have to be looked at.
type seen struct{ cacheControl, connection, expect, forwarded, xForwarded, via, loop, dictionary bool }

// mostFieldsKept is for how many field lines an exchange keeps room.
const mostFieldsKept = 256

// lanes counts the exchanges made.
var lanes atomic.Uint32

func newExchange() *exchange { return &exchange{scratch: make([]byte, 0, 1024), lane: lanes.Add(1)} }

// reset makes x fit for the next request, keeping its buffers.
func (x *exchange) reset() {
	scratch, spelling, raw, folded, stripped := x.scratch[:0], x.spelling[:0], x.raw[:0], x.folded[:0], x.stripped[:0]
	if cap(stripped) > mostFieldsKept {
		stripped = nil
	}
	if len(x.room.entries) > 0 {
		x.room.empty()
	}
	entries, run, lane, id := x.room.entries, x.run, x.lane, x.id[:0]
	*x = exchange{} // a literal with fields would be made beside x, and copied
	x.scratch, x.spelling, x.raw, x.folded, x.stripped, x.room.entries = scratch, spelling, raw, folded, stripped, entries
	x.run, x.lane, x.id = run, lane, id
}
