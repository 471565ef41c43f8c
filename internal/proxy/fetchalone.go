package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/sliced"
	"edgeproxy/internal/route/cachekey"
)

// fetchAlone fetches for x only: other requests do not share the fetch. With admit the response may be stored; then Range and
// conditions of x are evaluated on it.
func (p *Proxy) fetchAlone(x *exchange, admit bool) {
	x.waitsFor(false)
	f := p.newFill(x, admit)
	f.request.Interim, f.request.TakesTrailers = p.interimSender(x), x.asksTrailers()
	if admit {
		f.leadUnjoinable(x, x.key)
	} else {
		f.presence = x.presence
	}
	p.answerByFill(x, f)
}

// leadUnjoinable gives f a flight that nobody can join, before the fetch begins. A purge reaches it by that flight.
func (f *fill) leadUnjoinable(x *exchange, key cache.Key) {
	x.flightReader = f.p.flights.Lead(key, f.urlKey, true, x.who)
	x.presence.Ends(x.flightReader)
	f.flight = x.flightReader.Flight()
}

// answerByFill fetches and judges f in the goroutine of x, and answers x with its response. A response that is stored goes
// through the flight of f; any other goes to x directly.
func (p *Proxy) answerByFill(x *exchange, f *fill) {
	x.fill = f
	err := f.fetchAndJudge()
	if err == nil && f.isDoubtful() {
		f.confirm()
	}
	switch h := f.head; {
	case err != nil:
		f.endFlight(x, err)
		p.fail(x, err)
		return
	case h.held != nil:
		f.endFlight(x, errUnshared)
		x.answerFrom(h, true)
		return
	}
	x.countByOutcome(f.head)
	if f.span == nil {
		if p.costsTooMuch(x, f.head, f.flight != nil) {
			p.passRange(x, f)
			return
		}
	} else {
		x.onResult = !f.head.part && f.head.status == statusOK // the origin has sent the whole
	}
	if f.flight != nil && f.head.storable() {
		p.storeFor(x, f)
		return
	}
	f.endFlight(x, errUnshared)
	if f.wholeIsTooLarge() && x.asks.ranged {
		_ = f.resp.Body.Close()
		f.account(f.head.why, 0)
		p.fetchPart(x) // rather than the whole, for a part of it
		return
	}
	x.presence.Ends(f.resp.Body)
	x.from = fromOrigin{f}
}

// wholeIsTooLarge reports whether f was to store the whole, which is too large.
func (f *fill) wholeIsTooLarge() bool {
	return f.flight != nil && f.span == nil && f.head.why == reason.TooLarge
}

// passRange leaves the response of f to the origin, for all that x wants is a small range of it, and asks for that.
func (p *Proxy) passRange(x *exchange, f *fill) {
	f.endFlight(x, errUnshared)
	_ = f.resp.Body.Close()
	f.account(cmp.Or(f.head.why, reason.SmallRange), 0)
	x.onResult = false
	p.fetchAlone(x, false)
}

// endFlight ends the flight of f, if it has one: x is answered otherwise.
func (f *fill) endFlight(x *exchange, err error) {
	if f.flight != nil {
		f.flight.Finish(err)
		_ = x.flightReader.Close()
	}
}

// storeFor stores the response of f in the goroutine of its flight. f is judged, and x is the only reader of the flight.
func (p *Proxy) storeFor(x *exchange, f *fill) {
	f.admit()
	x.from, x.fill = fromFlight{x.flightReader}, nil
	begun := p.flights.Go(x.flightReader, func(*inflight) {
		defer f.abandon()
		f.store()
	}, p.panicked)
	if !begun { // shutting down
		_ = f.resp.Body.Close()
		f.account(reason.Incomplete, 0)
	}
}

// errClientGone ends a fetch that is for one client alone when that client leaves.
var errClientGone = errors.New("the client closed the connection")

// canceler is a context that ends by Close.
type canceler context.CancelCauseFunc

func (c canceler) Close() error {
	c(errClientGone)
	return nil
}

// askForOneClient sends what f asks for one client alone. It ends when the client leaves, and so does what reads
// the body.
func (f *fill) askForOneClient(waiting *presence.Client) (*origin.Response, error) {
	return roundTripIn(&f.asking, waiting, f.route, f.request)
}

func roundTripFor(waiting *presence.Client, route *route, r *origin.Request) (*origin.Response, error) {
	return roundTripIn(&origin.Asking{}, waiting, route, r)
}

func roundTripIn(asking *origin.Asking, waiting *presence.Client, route *route, r *origin.Request) (*origin.Response, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	waiting.Ends(canceler(cancel))
	asking.Context = ctx
	resp, err := route.ask(asking, r)
	if err != nil {
		return nil, err
	}
	waiting.Ends(resp.Body)
	return resp, nil
}

// clientLeft reports whether the client of x has left. If so, the answer to x is a 499.
func (p *Proxy) clientLeft(x *exchange) bool {
	if !x.presence.Left() {
		return false
	}
	p.refuse(x, statusClientGone, reason.ClientGone)
	x.closing = true
	return true
}

// fetchPart answers a Range of what is too large to be stored: the origin gets the request as
// it is, and the part that it sends is kept, one for each URL (RFC 9111 section 3.3).
// What x gets is stored if it can be, as always with an admitted request.
func (p *Proxy) fetchPart(x *exchange) {
	if x.route.SliceBytes > 0 { // one that slices do not suit; they alone are looked for
		p.fetchAlone(x, false)
		return
	}
	f := p.newFill(x, false)
	f.request.Interim = p.interimSender(x)
	f.span = p.newSpan(f.exact.name, 0, 0)
	f.facts.Range, f.fillKey, f.urlKey = true, f.span.key, x.exact.urlKey
	f.leadUnjoinable(x, f.span.key)
	p.answerByFill(x, f)
}

// refreshParts is refresh for an answer in parts.
func (p *Proxy) refreshParts(x *exchange, a *assembly) {
	for _, e := range a.entries {
		if _, fresh := x.use(e, x.start); fresh {
			continue
		}
		p.refreshBy(x, e.Key(), func() *fill {
			f := p.newRefresh(x, e)
			f.askFor(e, x.route.SliceBytes > 0)
			return f
		})
	}
}

// askFor makes j ask for the part that e is.
func (j *job) askFor(e *cache.Object, slice bool) {
	j.span = &span{name: e.URLName(), key: e.URL(), slice: slice, Range: partOf(e).Range}
	j.facts.Range, j.fillKey = true, fillKey(e.Key(), e.URL(), e.Vary())
	j.request.Header.Add("Range", sliced.Field(j.span.Range))
}

// errOtherPart is the failure of an origin that answers a Range by another part.
var errOtherPart = errors.New("a part came that was not asked for")

// askedFor returns resp, unless it is a part that f did not ask for: a client that trusts its own question would take the
// bytes for others. In place of a slice it may be any response: that is what internal/proxy/internal/sliced compares.
func (f *fill) askedFor(resp *origin.Response) (*origin.Response, error) {
	if resp.Status != statusPartialContent || !f.retrieves() || f.span != nil && f.span.slice {
		return resp, nil
	}
	lines := f.request.Header.Values("Range")
	if len(lines) != 1 || rfc9111.AnswersRange([]byte(lines[0]), resp.Header) {
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, &origin.Error{Kind: origin.Malformed, Origin: f.route.Origin.Name(), Server: resp.Server, Op: "read the response head", Err: errOtherPart}
}

// retrieves reports whether f is a GET or HEAD.
func (f *fill) retrieves() bool { return f.facts.Method == "GET" || f.facts.Method == "HEAD" }

// span is a part of a representation that an origin is asked for, and the key before
// Vary under which it is kept.
type span struct {
	name []byte
	key  cache.Key

	// slice says that the part has to be just this range, or what is left of it at the
	// end, and such that it can be joined with others. Otherwise any part will do.
	slice bool
	rfc9111.Range
}

// newSpan returns the span of the slice of this number, where slices have size bytes;
// with size 0, that of the one part that is kept of what baseName names.
func (p *Proxy) newSpan(baseName []byte, size, number int64) *span {
	s := &span{name: cachekey.AppendPart(bytes.Clone(baseName), size, number), slice: size > 0}
	s.key = p.Hasher.Sum(s.name)
	s.Range = sliced.Span(size, number)
	return s
}

// keepPart says why a 206 that answers s cannot be kept as a part, None if it can. What
// turns out to be all there is becomes the whole: its status is that of a 200 from here
// on (RFC 9110 section 15.3.7.3).
func (h *outcome) keepPart(s *span, resp *origin.Response) reason.Reason {
	part, ok := rfc9111.PartOf(resp.Header)
	if !ok || part.Length() != resp.ContentLength {
		return reason.Partial
	}
	if part.Whole() {
		h.status = 200
		h.fields = h.fields.Without(func(name string) bool { return name == "Content-Range" })
		return reason.None
	}
	if s.slice && !(sliced.Matches(s.Range, part) && joinable(resp)) {
		return reason.Partial
	}
	h.part = true
	return reason.None
}

// joinable reports whether others can be told to be parts of the same bytes.
func joinable(resp *origin.Response) bool {
	rep := rfc9111.RepresentationOf(resp.Status, resp.Header, resp.ResponseTime)
	return rfc9111.SameStrongly(rep, rep)
}
