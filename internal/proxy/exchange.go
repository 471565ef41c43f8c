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
	resultHeldBack
	resultPass
	resultError

	resultCount
)

var resultWords = [resultCount]string{
	"hit", "stale", "revalidated", "miss", "held_back", "pass", "error",
}

func (r result) String() string { return resultWords[r] }

// Results returns the words of all results, under one of which each request is recorded.
func Results() []string { return slices.Clone(resultWords[:]) }

// reader is one client's part in a flight.
type reader = flight.Reader[cache.Key, *outcome]

// exchange is one request and its answer. It is taken from a pool and belongs
// to the goroutine that answers, then to the content of the answer if that is streamed.
// Slices alias the front's request or scratch. Its parts are in the order of a
// request; each is set by one step, and read by those after it.
type exchange struct {
	p *Proxy

	routed   // the request, its route and its keys
	lookup   // what is stored for it, and whether that may answer
	held     // what it holds that a hit does not
	fetching // what Finish has in its hands
	content  // where the answer comes from
	sending  // how the answer goes out
	told     // what is said of it afterwards

	// run is the place among the requests that run, while x has one (record.go). lane tells apart exchanges that are
	// in use at the same time. Both outlive the request.
	run  *running.Request
	lane uint32
}

// incoming is a request as it was received (receive.go, headers.go). Its buffers outlive it.
type incoming struct {
	settings *settings // the ones that were in force when it came
	req      *message.Request
	sender
	start   time.Time
	method  []byte
	target  wire.Target
	host    []byte                    // in canonical form; built in scratch
	fields  []message.Line            // all lines of the head, in order
	asks    asks                      // what the fields ask of a cache
	seen    seen                      // the fields whose values have to be looked at
	upload  *upload                   // the body; nil: there is none
	request rfc9111.RequestDirectives // the Cache-Control
	buffers
}

// sender is the client, and what proxies in front say of it (receive.go).
type sender struct {
	peer          netip.Addr // what PeerOf says, if peerKnown; see peerAddress
	peerKnown     bool
	trusted       *forwarded.Trusted // not nil: the peer is a trusted proxy
	client        netip.Addr         // the client's address, where the peer is trusted
	forwardedHost []byte             // the host that such a peer tells, unchecked
	scheme        string             // http or https: what the client used, as far as is known
}

// buffers are memory that the next request uses again.
type buffers struct {
	scratch  []byte
	spelling []byte         // the normal form of a target that may be spelt otherwise
	raw      [][]byte       // the lines of one field
	id       []byte         // an id that was made for the request; empty: none was. See RequestID
	folded   []byte         // a value in its normal form
	stripped []message.Line // fields, where cookies were taken out of them
}

// routed is a request with its route (route.go), and its keys by the rules of that (key.go). path, keyedTarget and the keys
// are built in scratch.
type routed struct {
	incoming
	route       *route
	uses        uses             // what route uses; nothing without one
	path        []byte           // the path as routes match it
	keyedTarget []byte           // the target in its normal form, as the route's rules leave it
	keying                       // the one in use: exact or byRule
	exact       keying           // the keying of the target
	byRule      keying           // the keying by rule
	rule        *queryrules.Rule // the rule of the path for queries; nil: there is none
	exactOnly   bool             // the rule does not hold for x
	redirected  bool             // x comes from a flight whose response was another's
	answerable  bool             // the cache may answer, so target and lines are forwarded in their normal form
}

// lookup is what the store has for a request (lookup.go, assemble.go), and what that is a sighting of (sighting.go).
type lookup struct {
	sighting                  // what x counts as
	weighing                  // what its Range costs (smallrange.go)
	heldBack    bool          // admission has held back what was found, and a stage has it
	asOf        uint64        // how many flights had ended (flight.Table.Ended) before the look-up; 0: look again
	stale       *cache.Object // has to be validated before it may be the answer
	onDisk      bool          // what memory has not may be on the disk
	mayReadDisk bool          // x may wait, so it is looked for on the disk as well
	loaded      *cache.Object // x is answered from this alone: x lets go of it if it is from the disk
	waited      time.Duration // until the stored response was the answer
	refresh     bool          // the answer is stale, and is validated meanwhile
	partsVary   []string      // the fields that select one of the stored parts that were looked for; nil: none is known
	room        assembly      // where stored parts are gathered; one that is the answer is from

	codingRefused bool // what was found has a content coding that the client refuses; see refusesCoding
	wellBefore    bool // an answer that is no error is stored for the URL, or was until it expired
	askedAgain    bool // x waits once more, after another client's request for the same got an error
}

// held is what a request holds that is not a hit (access.go).
type held struct {
	who      netip.Prefix     // the client that counts for it
	presence *presence.Client // the client while it waits
	holds    bool             // any of the following, or a place among the running requests
	counted  bool             // a place among the requests in flight
	placed   bool             // and one among those of its client
	busy     bool             // a place among those that keep the series of its route
	tunnels  bool             // a place among the tunnels, or it asks the origin for one
}

// fetching is what Finish has in its hands on the way to an answer. Only abandon looks at it.
type fetching struct {
	flightReader   *reader
	originResponse *origin.Response
	fill           *fill // until its flight has it; behind that the end of the answer books it
	leaderOnly     *fill // whose response is x's alone; nil: it has none such
	sliced         *slicing
}

// content is where the head and the content of the answer come from.
type content struct {
	from       source
	opened     io.Reader // the content, where that is read from files
	byFile     bool      // the content is sent by sendfile from the disk
	unreadable int       // how many stored answers could not be read

	status     int           // our own answer's
	retryAfter time.Duration // how long our own answer asks to wait; 0: a second, where it is said
	challenge  string        // what an authority is answered, if x is one of its requests
	explained  string        // what is wrong with a purge
}

// sending is how the answer goes out (deliver.go, stream.go).
type sending struct {
	answer    *message.Answer
	way       disposition // how a request goes on in Finish
	waits     bool        // for Finish
	body      *body       // once the answer is streamed
	onResult  bool        // Range and conditions are evaluated here, on the result
	streaming bool
	closing   bool // the connection ends with this answer
}

// told is what is told in Cache-Status, the log and the metrics (record.go).
type told struct {
	fwd          forward
	fwdStatus    int // what the origin answered where the answer is another
	reason       reason.Reason
	result       result
	collapsed    bool
	stored       bool  // admitted when the header was sent
	uncounted    bool  // x is not counted, logged or traced: another exchange will be, or it asks for LivezPath
	sent         int   // status of the answer, from the origin or our own
	ttl          int64 // seconds of freshness that a stored answer had left
	bytes        int64 // how much of the body the client gets
	received     int64 // bytes from the client, after the switch to another protocol
	firstByte    time.Duration
	traceDecided bool             // it is decided whether x is traced
	trace        *requestTrace    // its span; nil: it is not traced. See traced
	answered     *origin.Response // the response behind a stored answer, for the log; see answeredBy
	failed       string           // the server that was asked last, where it failed
	broke        string           // why the answer broke off, if not because of the client; "": it did not. See brokeOff
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

func newExchange() *exchange {
	x := &exchange{lane: lanes.Add(1)}
	x.scratch = make([]byte, 0, 1024)
	return x
}

// reset makes x fit for the next request, keeping its buffers.
func (x *exchange) reset() {
	b := buffers{x.scratch[:0], x.spelling[:0], x.raw[:0], x.id[:0], x.folded[:0], x.stripped[:0]}
	if cap(b.stripped) > mostFieldsKept {
		b.stripped = nil
	}
	if len(x.room.entries) > 0 {
		x.room.empty()
	}
	entries, run, lane := x.room.entries, x.run, x.lane
	*x = exchange{} // a literal with fields would be made beside x, and copied
	x.buffers, x.room.entries, x.run, x.lane = b, entries, run, lane
}
