package origin

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/origin/balance"
)

const (
	// maxTries is how many connections one request may be tried on, of all servers; where none of them could be made,
	// and none was of a backup, one of a backup comes besides.
	maxTries = 3
	// maxGoAways is on how many further connections the server may say that it has not processed the request, as with
	// GOAWAY (RFC 9113 section 6.8). Such a server has not failed: under load many connections end at once.
	maxGoAways = 6
)

// tried is the result of one try: a failure, or the head of a final response, on an attempt or a stream.
type tried struct {
	x           *attempt
	stream      *stream
	head        head    // head of the stream's response
	framing     framing // framing of the stream's response
	connect     time.Duration
	failure     *Error // nil: there is a head
	told        bool   // the caller was told of an interim response
	silent      bool   // the server has not sent a byte
	retryable   bool   // the server cannot have answered, and may be asked once more
	refused     bool   // the server has not processed the request, so any method may be sent again
	stale       bool   // the connection had been given up before
	unsent      bool   // not all of the request's body was
	startedLate bool   // most of the time for the exchange was over before
}

// serverFailed reports whether the failure counts against the server. It does not if the server had
// given the connection up before, if the caller or this machine is the cause, if not all of the
// request's body was sent, or if the server had little time.
func (t *tried) serverFailed() bool {
	if t.failure == nil || t.stale || t.unsent || t.startedLate {
		return false
	}
	switch t.failure.Kind {
	case Canceled, BadRequest, Overload, Unsupported, Fault:
		return false
	case Connect, Timeout, Cut, Malformed:
	}
	return true
}

// at is when it was known what came of the try.
func (t *tried) at() time.Time {
	if t.failure == nil && t.x != nil {
		return t.x.headTime
	}
	return time.Now()
}

// status returns that of the head.
func (t *tried) status() int {
	if t.x != nil {
		return t.x.head.status
	}
	return t.head.status
}

// response returns the response that begins with the head of t.
func (o *Origin) response(t *tried) *Response {
	if t.x != nil {
		return o.answered(t.x.c, t.x)
	}
	return t.stream.answered(&t.head, t.framing, t.connect)
}

// discard gives up what comes behind the head of t.
func (o *Origin) discard(t *tried) {
	if t.x != nil {
		t.x.c.close()
	} else {
		t.stream.abandon()
	}
}

// goAway reports whether the server gave the connection up and has not processed the request.
func (t *tried) goAway() bool { return t.refused && t.stale }

// notConnected reports whether nothing was sent because there was no connection, and there is time for another try.
func (t *tried) notConnected() bool {
	return (t.failure.Kind == Connect || t.failure.Kind == Overload) && !errors.Is(t.failure, ErrTotal)
}

// repeatable reports whether sending r once more does no harm.
func (t *tried) repeatable(r *Request) bool {
	return t.retryable && (t.refused || r.isSafe() || t.stale && r.isIdempotent())
}

// attempts are the tries of one request so far.
type attempts struct {
	tries         int // without those that count as goAways
	goAways       int
	repeated      bool
	again         bool      // it was sent once more after it broke, or for its status
	failedServers []*server // to which it must not go again: no connection to these can be made, or it broke on them
	broken        []blamed
}

// blamed is a server that a request broke on.
type blamed struct {
	server  *server
	ticket  balance.Ticket
	failure *Error
}

func (a *attempts) count(t *tried) {
	if t.goAway() && a.goAways < maxGoAways {
		a.goAways++
		return
	}
	a.tries++
}

// repeat reports whether r is sent to the server of t again, after t.
func (a *attempts) repeat(t *tried, r *Request) bool {
	again := a.tries < maxTries && (t.refused || !a.repeated) && t.repeatable(r)
	a.repeated = a.repeated || again
	return again
}

// tries sends r until it is answered or may not be tried again. After a failure no
// slot is left; after success it stays with the Body. The balancer is told only the
// result of the last try on a server: a repeat is no second request.
//
// x is the first try, if that was begun by a Call; else nil.
func (o *Origin) tries(ctx context.Context, s slot, r *Request, x *attempt) (*Response, *Error) {
	var sofar attempts
	for {
		t := o.try(ctx, s, r, x)
		x = nil
		w := o.next(&t, &sofar, s.server, r)
		if w == nil && t.failure == nil {
			o.tell(o.pool.report(s, &t, r))
			o.blame(&sofar)
			return o.response(&t), nil
		}
		if w != nil {
			if t.failure == nil {
				o.discard(&t)
			} else if t.broke() {
				sofar.broken = append(sofar.broken, blamed{s.server, s.ticket, t.failure})
			}
			o.giveUp(s, &t, r)
			var failure *Error
			from := time.Now()
			if s, failure = o.pool.await(ctx, w); failure != nil {
				r.Trace.queued(from)
				return nil, failure
			}
			s = o.pool.usable(s, (*conn).usable, time.Now())
			continue
		}
		if !sofar.repeat(&t, r) && !o.sameAgain(&t, &sofar, r) {
			o.giveUp(s, &t, r)
			return nil, t.failure
		}
		s.c = nil
	}
}

// next finds another server after t. Nil: there is none, or none is to be asked.
func (o *Origin) next(t *tried, sofar *attempts, from *server, r *Request) *waiter {
	if t.failure != nil {
		sofar.count(t)
		if t.notConnected() {
			return o.elsewhere(t, sofar, from, r)
		}
	}
	return o.another(t, sofar, from, r)
}

// blame tells the balancer of the servers that the request broke on, which another has answered.
func (o *Origin) blame(sofar *attempts) {
	if len(sofar.broken) == 0 {
		return
	}
	for _, c := range o.pool.blame(sofar.broken) {
		o.tell(c, true)
	}
}

// elsewhere finds another server after t, a try for which no connection to from could be made. It finds
// one that was not tried, while tries are left, and then once a backup. Nil: there is none.
func (o *Origin) elsewhere(t *tried, sofar *attempts, from *server, r *Request) *waiter {
	if sofar.tries > maxTries {
		return nil
	}
	if !slices.Contains(sofar.failedServers, from) {
		sofar.failedServers = append(sofar.failedServers, from)
	}
	if sofar.tries == maxTries && !o.pool.onlyBackups(&sofar.failedServers) {
		return nil
	}
	return o.pool.elsewhere(sofar.failedServers, t.failure, o.pool.target(r))
}

// giveUp reports t, the last try on the server of s, to the balancer, and frees the slot.
func (o *Origin) giveUp(s slot, t *tried, r *Request) {
	o.tell(o.pool.report(s, t, r))        // first: the slot must not go to a waiter if the server is out now
	o.pool.free(s.server, netip.Prefix{}) // the client may go on to another
}

// tell calls OnChange if the state of a server has changed.
func (o *Origin) tell(c Change, changed bool) {
	if changed && o.options.OnChange != nil {
		o.options.OnChange(c)
	}
}

// try makes one try, on a fresh connection if the slot has none. After a failure or a
// panic no connection is left. x is the attempt, if it has begun; nil: it has not.
func (o *Origin) try(ctx context.Context, s slot, r *Request, x *attempt) (t tried) {
	if s.server.h2 != nil {
		return o.tryStream(ctx, s.server, r)
	}
	if x == nil {
		x = &attempt{origin: o, c: s.c, r: r}
	}
	defer func() {
		if v := recover(); v != nil {
			t = tried{failure: o.fail(Fault, "send the request", o.options.Panics.Caught(v))}
			r.Trace.unanswered(x.begun, x.firstByte)
			o.drop(x)
		}
	}()
	r.Trace.tried(s.server)
	if x.c == nil {
		var failure *Error
		from := time.Now()
		if x.c, failure = o.connect(ctx, s.server, r.Connect); failure != nil {
			r.Trace.connected(from)
			return o.connectFailed(failure, s.server, r, from)
		}
		r.Trace.connected(from)
		x.connect = time.Since(from)
	}
	return o.tryOn(ctx, x)
}

// connectFailed returns the result of a try that began at from, and for which no connection could be made.
func (o *Origin) connectFailed(failure *Error, on *server, r *Request, from time.Time) tried {
	if r.totalOver(time.Now()) && failure.Timeout() {
		failure = o.fail(Connect, "connect", ErrTotal)
	}
	failure.Server = on.Address
	again := failure.Kind == Connect && !failure.Timeout() && !untrusted(failure) && !errors.Is(failure, errNotOffered)
	return tried{failure: failure, retryable: again, startedLate: r.startedLate(failure, from)}
}

// tryOn is try on the connection of x.
func (o *Origin) tryOn(ctx context.Context, x *attempt) tried {
	c := x.c
	c.idle, c.end = cmp.Or(x.r.Idle, o.options.IdleTimeout), x.r.deadline()
	release := x.release
	if release == nil {
		release = afterFunc(ctx, c.closeFunc)
	}
	failure := x.run()
	if !release() {
		failure = o.ended(ctx, "wait for the response")
	}
	if failure != nil {
		failure.Server = c.server.Address
		x.r.Trace.unanswered(x.begun, x.firstByte)
		c.close()
		stale := failure.Kind == Cut && x.noBytes && c.reused
		t := tried{failure: failure, told: x.interims.passed > 0, silent: x.noBytes, retryable: stale, stale: stale, unsent: x.unsent, startedLate: x.r.startedLate(failure, x.begun.Add(-x.connect))}
		if t.serverFailed() {
			o.reportBadConn(c.server, c.socket)
		}
		return t
	}
	if x != &c.x {
		c.x = *x // x is on the caller's stack
	}
	return tried{x: &c.x, told: x.interims.passed > 0}
}

// answered returns the response of x, to whose Body c belongs from then on. x may not be used any more: it
// may be that of c.
func (o *Origin) answered(c *conn, x *attempt) *Response {
	h := &x.head
	c.client = x.r.Client
	o.metrics.waited(x.firstByte.Sub(x.begun))
	if h.status == statusSwitching {
		return o.upgrade(c, h, x)
	}
	keep := time.Duration(0)
	if x.keep {
		keep = keepFor(h.fields, o.options.KeepAlive)
	}
	a := x.answer()
	a.Response = Response{
		Status: h.status, Reason: h.reason, Header: h.fields,
		ContentLength: x.framing.length, Here: x.framing.length >= 0 && x.framing.length <= int64(c.br.Buffered()),
		RequestTime: x.begun, ResponseTime: x.headTime, FirstByteTime: x.firstByte,
		Server: c.server.Address, Connect: x.connect,
	}
	a.Body, a.answer, a.body.trace = &a.body, a, x.r.Trace.answered(c.server, h.status, x.begun, x.firstByte)
	framing := x.framing
	c.x = attempt{c: c} // an idle connection keeps no request or response alive
	a.begin(o, c, framing, keep)
	return &a.Response
}

// drop ends what a panic has left of a try.
func (o *Origin) drop(x *attempt) {
	if x.c != nil {
		o.options.Panics.Quietly(x.c.close)
	}
	if x.upload != nil {
		o.options.Panics.Quietly(func() { _ = x.upload.stop() })
	}
}

// connect makes a connection within limit, with TLS where it is wanted; 0 is ConnectTimeout.
func (o *Origin) connect(ctx context.Context, s *server, limit time.Duration) (*conn, *Error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(limit, o.options.ConnectTimeout))
	defer cancel()
	c, err := o.dial(limited, s)
	if err != nil {
		return nil, o.connectError(ctx, err)
	}
	c.idle, c.server, c.address = o.options.IdleTimeout, s, addressOf(c.socket)
	if life := o.options.lifetime(); life > 0 {
		c.ends = time.Now().Add(life)
	}
	s.made(c.address)
	return c, nil
}

// connectError returns the Error for err, with which making a connection failed.
func (o *Origin) connectError(ctx context.Context, err error) *Error {
	switch {
	case ctx.Err() != nil:
		return o.ended(ctx, "connect")
	case faulty(err):
		return o.fail(Fault, "connect", err)
	case local(err):
		o.metrics.localFailure()
		return o.fail(Overload, "connect", err)
	}
	return o.fail(Connect, "connect", err)
}

// socket makes a connection, without TLS.
func (o *Origin) socket(ctx context.Context, s *server) (net.Conn, error) {
	network, address := "tcp", s.Address
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		network, address = "unix", path
	}
	return o.options.Dial(ctx, network, address)
}

func (o *Origin) dial(ctx context.Context, s *server) (*conn, error) {
	nc, err := o.socket(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.TLS == nil {
		return newConn(nc), nil
	}
	c, err := secure(ctx, nc, s.TLS)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		o.reportBadConn(s, nc)
	}
	return c, err
}

// reportBadConn tells DialFailed that a connection was made but of no use.
func (o *Origin) reportBadConn(s *server, c net.Conn) {
	if o.options.DialFailed != nil {
		o.options.DialFailed(s.Address, c.RemoteAddr())
	}
}

// afterFunc is context.AfterFunc. A context that has that as a method is asked at once, without
// another context in between.
func afterFunc(ctx context.Context, f func()) (stop func() bool) {
	if c, ok := ctx.(interface {
		AfterFunc(f func()) (stop func() bool)
	}); ok {
		return c.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}
