package origin

import (
	"context"
	"fmt"
	"time"

	"edgeproxy/internal/field"
)

// Origin is one origin server and the connections to it. It is safe for
// concurrent use.
type Origin struct {
	options Options
	metrics *originMetrics
	pool    *pool
}

// Response is the answer of an origin. The caller owns it, and must read Body
// to its end or close it.
type Response struct {
	Status int    // 200 to 999
	Reason string // as sent, often empty
	// Header has canonical names, in the order received, hop-by-hop fields
	// included, without Transfer-Encoding, and with one Content-Length at most.
	// Its strings share memory with each other, not with any connection.
	Header field.List
	// ContentLength is the length of the body that follows; -1: not known. It is
	// 0 for HEAD, 204 and 304, whatever the header says.
	ContentLength int64
	Body          *Body // never nil
	// RequestTime is when sending the request began, ResponseTime when the head
	// was complete (RFC 9111 section 4.2.3).
	RequestTime, ResponseTime time.Time
}

// New returns an Origin, or everything that is wrong with the options. It makes
// no connection yet.
func New(options Options) (*Origin, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("origin %s: %w", options.Name, err)
	}
	options.setDefaults()
	metrics := options.Metrics.of(options.Name)
	return &Origin{
		options: options,
		metrics: metrics,
		pool: &pool{
			name:       options.Name,
			limit:      options.MaxConnections,
			queueLimit: options.QueueRequests,
			wait:       options.QueueWait,
			metrics:    metrics,
		},
	}, nil
}

// Close closes the idle connections and refuses further requests with
// ErrClosed, those in the queue too. A request under way goes on; its
// connection is closed when its Body ends.
func (o *Origin) Close() { o.pool.close() }

// RoundTrip sends r and returns the head of the final response; interim ones
// go to Request.Interim. The error is an *Error. When ctx ends, RoundTrip stops at once
// whatever it does; once it has returned, ctx has no say, and Body.Close stops.
//
// A GET or HEAD without Body is sent once more, on a fresh connection, if no
// connection could be made (unless the certificate was at fault), or if a connection used before was closed without a
// byte of response: the origin had given it up. It is not sent again after an
// interim response, which the caller would get twice, nor after a timeout: an
// origin too slow for one request must not get two.
func (o *Origin) RoundTrip(ctx context.Context, r *Request) (*Response, error) {
	if err := r.validate(); err != nil {
		return nil, o.fail(BadRequest, "send the request", err)
	}
	if ctx.Err() != nil {
		return nil, o.fail(Canceled, "send the request", context.Cause(ctx))
	}
	c, err := o.pool.take(ctx)
	if err != nil {
		return nil, err
	}
	res, again, failure := o.try(ctx, c, r)
	if failure != nil && again && r.repeatable() {
		res, _, failure = o.try(ctx, nil, r) // in the slot of the first try
	}
	if failure != nil {
		o.pool.free()
		o.metrics.failed(failure.Kind)
		return nil, failure
	}
	return res, nil
}

// try makes one try, on a fresh connection if c is nil. After an error no
// connection is left, and again reports whether the origin cannot have answered.
// The slot stays with the caller, and with the Body after success.
func (o *Origin) try(ctx context.Context, c *conn, r *Request) (res *Response, again bool, failure *Error) {
	if c == nil {
		c, failure = o.connect(ctx)
		if failure != nil {
			return nil, failure.Kind == Connect && !failure.Timeout() && !untrusted(failure), failure
		}
	}
	x := &exchange{origin: o, c: c, r: r}
	release := context.AfterFunc(ctx, c.close)
	h, f, failure := x.run()
	if !release() {
		failure = o.fail(Canceled, "wait for the response", context.Cause(ctx))
	}
	if failure != nil {
		c.close()
		return nil, failure.Kind == Cut && x.silent && c.reused, failure
	}
	o.metrics.waited(x.firstByte.Sub(x.begun))
	keep := time.Duration(0)
	if x.keep {
		keep = keepFor(h.fields, o.options.KeepAlive)
	}
	return &Response{
		Status: h.status, Reason: h.reason, Header: h.fields,
		ContentLength: f.length, Body: newBody(o, c, h.status, f, keep),
		RequestTime: x.begun, ResponseTime: x.whole,
	}, false, nil
}

// connect makes a connection, with TLS where it is wanted.
func (o *Origin) connect(ctx context.Context) (*conn, *Error) {
	limited, cancel := context.WithTimeout(ctx, o.options.ConnectTimeout)
	defer cancel()
	c, err := o.dial(limited)
	switch {
	case err == nil:
		c.idle = o.options.IdleTimeout
		return c, nil
	case ctx.Err() != nil:
		return nil, o.fail(Canceled, "connect", context.Cause(ctx))
	}
	return nil, o.fail(Connect, "connect", err)
}

func (o *Origin) dial(ctx context.Context) (*conn, error) {
	nc, err := o.options.Dial(ctx, "tcp", o.options.Address)
	if err != nil {
		return nil, err
	}
	if o.options.TLS != nil {
		return secure(ctx, nc, o.options.TLS)
	}
	return newConn(nc), nil
}

func (o *Origin) fail(kind Kind, op string, err error) *Error {
	return &Error{Kind: kind, Origin: o.options.Name, Op: op, Err: err}
}
