package origin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"edgeproxy/internal/http/field"
)

// Origin is the servers of one origin and the connections to them. It is safe for
// concurrent use.
type Origin struct {
	options Options
	metrics *originMetrics
	pool    *pool
	checks  *checks  // nil: none
	before  *legacy  // what servers go on with
	follows []func() // each ends a Follow

	beside sync.Mutex // is held to start and to end what goes on for a server beside requests
	alone  bool       // nothing is started any more; guarded by beside
}

// Response is the answer of an origin. The caller owns it, and must read Body
// to its end or close it.
type Response struct {
	Status int    // 200 to 999; 101 where Upgraded is not nil
	Reason string // reason phrase that was sent, often empty
	// Header has canonical names, in the order received, hop-by-hop fields
	// included, without Transfer-Encoding, and with one Content-Length at most.
	// Its strings share memory with each other, not with any connection.
	Header field.List
	// ContentLength is the length of the body that follows; -1: not known. It is
	// 0 for HEAD, 204 and 304, whatever the header says.
	ContentLength int64
	// Here says that all of Body, whose length is known, has come with the head: no Read waits.
	Here bool
	Body *Body // never nil
	// Upgraded is the connection where the origin has switched to a protocol that
	// Request.Upgrade asked for; nil otherwise. The caller owns it, and must close it.
	// Body is then empty.
	Upgraded *Upgraded
	// RequestTime is when sending the request began, ResponseTime when the head
	// was complete (RFC 9111 section 4.2.3).
	RequestTime, ResponseTime time.Time
	// FirstByteTime is when the first byte of the head came.
	FirstByteTime time.Time
	// Server is the address of the server that answered. Connect is how long the connection
	// took that it answered on, TLS included; 0: the connection existed before.
	Server  string
	Connect time.Duration

	// TagWeakened is for the caller, who may encode the body: the strong entity tag of the header has become weak.
	TagWeakened bool

	answer *answer // the answer that contains it; nil: none
}

// Abandon closes what the caller owns of the response. It is for a caller that does not know
// what has been done so far, such as one that recovers a panic.
func (r *Response) Abandon() {
	_ = r.Body.Close()
	if r.Upgraded != nil {
		_ = r.Upgraded.Close()
	}
}

// New returns an Origin, or everything that is wrong with the options. It makes
// no connection yet, but for health checks. The Origin must be closed.
func New(options Options) (*Origin, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("origin %s: %w", options.Name, err)
	}
	options.setDefaults()
	metrics := options.Metrics.of(options.Name)
	before := legacyOf(options.Before)
	options.Before = nil // it may go
	o := &Origin{options: options, metrics: metrics, before: before, pool: newPool(&options, metrics, before)}
	o.checks = newChecks(o)
	for _, s := range o.pool.servers {
		o.prepare(s)
		o.begin(s)
	}
	for i, s := range options.Servers {
		if s.Follow != nil {
			o.follows = append(o.follows, s.Follow(func(members []Member, failure error) { o.setMembers(i, members, failure) }))
		}
	}
	return o, nil
}

// Name is the one of its options.
func (o *Origin) Name() string { return o.options.Name }

// FirstByteTimeout is the one of its options.
func (o *Origin) FirstByteTimeout() time.Duration { return o.options.FirstByteTimeout }

// RoundTrip sends r to one of the servers and returns the head of the final
// response; interim ones go to Request.Interim. The error is an *Error. When ctx
// ends, RoundTrip stops at once whatever it does; once it has returned, ctx has no
// say, and Body.Close stops. The end of Request.Total stops both.
//
// If no connection to the server can be made, nothing was sent. Then RoundTrip tries the next
// server, or waits for one if those that are left are full. maxTries bounds all tries together.
//
// A request of a safe method, whose Body is nil or Whole, is sent once more to the same server, on a fresh connection, in two
// cases. First, no connection could be made, there is no other server, and the certificate was not
// at fault. Second, a connection used before was closed without a byte of response: the origin had
// given it up. The second goes for a PUT or DELETE without a condition, too.
//
// If a server breaks a request of a safe method before the head is whole, or answers with a status of Options.Retry,
// another server is asked, once and within the budget (retry.go). It is not sent again after an interim response, which the
// caller would get twice, nor to the same server after a timeout: an origin too slow for one request must not get two.
// With HTTP2 the server may say that it has not processed a request. That request is sent again,
// whatever its method, unless some of its Body was read.
func (o *Origin) RoundTrip(ctx context.Context, r *Request) (*Response, error) {
	r.Trace.begin(r)
	ctx, over := r.withTotal(ctx)
	defer over()
	s, failure := o.takeSlot(ctx, r)
	if failure != nil {
		o.metrics.failed(failure.Kind)
		r.Trace.failed(failure)
		return nil, failure
	}
	return o.finish(ctx, s, r, nil)
}

// takeSlot returns a slot for r, after a wait in the queue if need be.
func (o *Origin) takeSlot(ctx context.Context, r *Request) (slot, *Error) {
	if err := r.validate(); err != nil {
		return slot{}, o.fail(BadRequest, "send the request", err)
	}
	if ctx.Err() != nil {
		return slot{}, o.ended(ctx, "send the request")
	}
	if r.Upgrade != "" && o.options.HTTP2 {
		return slot{}, o.fail(Unsupported, "send the request", errNoUpgrade)
	}
	return o.pool.take(ctx, r.Client, o.pool.target(r), r.Trace)
}

// finish is RoundTrip once there is a slot. x is the first try, if it has begun; else nil.
func (o *Origin) finish(ctx context.Context, s slot, r *Request, x *attempt) (*Response, error) {
	res, failure := o.tries(ctx, s, r, x)
	if failure != nil {
		o.pool.giveShare(r.Client)
		o.metrics.failed(failure.Kind)
		r.Trace.failed(failure)
		return nil, failure
	}
	return res, nil
}

// Retire is for an Origin that gets no new requests. It ends the health checks and closes the idle
// connections. Requests that still hold the Origin are answered, on connections that are closed
// after each. Nobody has to know when the last request is over. A retired Origin has to be closed
// like any other where something else than its requests waits for it.
func (o *Origin) Retire() {
	o.endBeside()
	o.pool.retire()
}

// Close ends the health checks, closes the idle connections and refuses further requests with
// ErrClosed, those in the queue too. A request under way goes on; its
// connection is closed when its Body ends, and one that was switched to another
// protocol when its owner closes it.
func (o *Origin) Close() {
	o.endBeside()
	o.pool.close()
}

func (o *Origin) fail(kind Kind, op string, err error) *Error {
	return &Error{Kind: kind, Origin: o.options.Name, Op: op, Err: err}
}
