package proxy

import (
	"bytes"
	"strings"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/queryrules"
	"edgeproxy/internal/route/fieldrules"
)

// inflight is the fetching side of a flight; reader is the other one.
type inflight = flight.Flight[cache.Key, *outcome]

// fill is one fetch and what is done with its response. A miss, a validation, a slice, a part, a POST whose answer is kept, and
// a fetch for one client only are all fills:
//
//	fetch    asks the origin. A 304 renews the stored response; a failure may be answered by a stale one.
//	judge    decides what may be done with the response (RFC 9111), and whether it is worth what would have to leave for it.
//	confirm  asks again where an error would take the place of an answer.
//	admit    gives the head to the clients that wait for it.
//	store    reads the body, and puts it into the cache.
//	account  counts the fill, once, however it ends.
//
// The steps have a file each. Three functions take them: run, in the goroutine of a flight;
// Begin, in that of its leader, as far as nothing else wants that goroutine; and answerByFill, which
// begins in the goroutine of the one client that gets the response. A fill
// belongs to one goroutine at a time.
type fill struct {
	p *Proxy
	job
	asks   origin.Request // the memory of job.request, as a rule
	asking origin.Asking  // in which the origin is asked

	// flight takes the head and the body to readers, and the body to the store. If it is nil the response goes to one client
	// directly and is not stored; the fetch ends when that client leaves.
	flight   *inflight
	presence *presence.Client
	shared   bool // other clients may read the flight
	refresh  bool // it validates in the background what has been sent stale

	call      *origin.Call     // the first request to the origin, if it has begun; else nil
	resp      *origin.Response // what the origin has sent; nil where the answer is a stored response
	head      *outcome         // nil until it is judged
	accounted bool

	// Of one that has concluded (fillhere.go).

	body      *buffer.Buffer // nil: none was taken
	err       error          // what ended the reading of body
	concluded bool           // only the leader was in the flight
	why       reason.Reason  // it is not stored though it was admitted; None: it is
}

// start runs f in the flight that r leads. Interim responses go to t until the client has left.
func (f *fill) start(r *reader, t sendInterim, waiting *presence.Client) {
	f.interims = handOver(f.request, t)
	if f.p.flights.Go(r, f.run, f.p.panicked) {
		f.interims.relay(t, r.Undecided, waiting.Gone())
	}
}

// run is f in the goroutine of a flight. The flight ends only when the body is stored.
func (f *fill) run(to *inflight) {
	f.route.metrics.busy.Add(1)
	defer f.route.metrics.busy.Add(-1)
	defer f.abandon()
	f.flight, f.shared = to, true
	if f.fetchInFlight() {
		f.finish()
	}
}

// finish admits and stores the judged response, which is asked for again where it is doubtful.
func (f *fill) finish() {
	if f.isDoubtful() {
		if f.confirm(); f.head.held != nil {
			f.flight.Answer(f.head)
			return
		}
	}
	f.admit()
	f.store()
}

// fetchInFlight asks the origin and judges the response. It reports whether that has to be admitted; else the flight has ended.
func (f *fill) fetchInFlight() bool {
	switch err := f.fetchAndJudge(); {
	case err != nil:
		f.flight.Finish(err)
	case f.head.held != nil:
		f.flight.Answer(f.head)
	default:
		return true
	}
	return false
}

// fetchAndJudge asks the origin and judges its response. Without an error there is a head: that of the response, or one with the stored
// response that is the answer instead.
func (f *fill) fetchAndJudge() error {
	if err := f.fetch(); err != nil || f.head != nil {
		return err
	}
	if f.flight != nil && !f.flight.Judge() {
		return errUnshared
	}
	f.head = f.p.judge(&f.job, f.resp)
	f.compete()
	f.p.markHitForMiss(&f.job, f.head, f.resp)
	f.p.removeSuperseded(&f.job, f.head)
	return nil
}

// abandon closes the response, at whatever step f is. A fill that was judged is counted all the same.
func (f *fill) abandon() {
	if f.resp != nil {
		f.resp.Abandon()
	}
	if f.call != nil {
		f.call.Abandon()
	}
	f.account(reason.Panic, 0)
}

// job is what one fetch has to know: the request to the origin, and what is needed to judge and store the response after the
// client's request has ended.
type job struct {
	settings *settings
	route    *route
	request  *origin.Request
	facts    rfc9111.RequestFacts
	fillKey  cache.Key // its fill goes by this: the key of its sighting, or of a part of it
	sighting

	keyContext // where the response belongs

	// queryRule is the rule for queries by which the target was made that the origin is asked
	// for; nil is the client's own target.
	queryRule *queryrules.Rule

	baseKey cache.Key

	// span is the part of the representation that is asked for, with a place to keep
	// it; nil asks for the whole.
	span *span

	// resource names the same URL for purges, and born is their generation before the
	// origin was asked: what it answers is reached by those that come after.
	resource purge.URL
	born     uint64

	// stale is what the origin is asked to confirm; nil for a plain fetch.
	// directives are the request's, which may forbid to use it stale.
	stale      *cache.Object
	asked      *cache.Object // stale, also when it has turned out to be of no use
	fallback   *cache.Object // what may stand in for a failure: asked, or what is stale and was not asked about
	directives rfc9111.RequestDirectives

	// wellBefore says that the URL had an answer that is no error, and selects are the names of the fields by which the
	// request selected one.
	wellBefore bool
	selects    []string

	// interims are those of a flight's fetch whose leader is told; nil otherwise.
	interims interims

	// asker is the request, for variant; nil where selecting has copies of its fields.
	asker     *exchange
	selecting field.List

	trace *fetchTrace // nil: it is not traced

	memory fillMemory
}

// variant returns baseName, the key before Vary of the whole or a part, with what the request selects by
// names; baseName stays as it is. But for a job that outlives the request it may be called only until
// the header is published.
func (j *job) variant(baseName []byte, names []string) []byte {
	name := bytes.Clone(baseName)
	if j.asker != nil {
		return j.asker.appendVariant(name, names)
	}
	for _, n := range names {
		var lines [][]byte
		for i := range j.selecting {
			if j.selecting[i].Name == n {
				lines = append(lines, []byte(j.selecting[i].Value))
			}
		}
		name = rfc9111.AppendVariantField(name, n, lines)
	}
	return name
}

// newFill copies what the fetch for x needs. keep says that the response may be
// stored or shared: then Range and conditions stay here, for the result.
func (p *Proxy) newFill(x *exchange, keep bool) *fill {
	drop := dropNone
	if keep {
		drop, x.onResult = fieldrules.RangeOrCondition, true
	}
	f := p.acquireFill()
	j := &f.job
	j.settings, j.route = x.settings, x.route
	j.facts = rfc9111.RequestFacts{
		Method: x.methodName(), NoStore: x.request.NoStore,
		Authorization: x.asks.authorization, Cookie: x.cookieNotInKey(),
	}
	j.fillKey, j.sighting, j.baseKey, j.born, j.directives = x.countedKey, x.sighting, x.baseKey, p.Purges.Now(), x.request
	j.request = &f.asks
	j.request.Header = j.memory.header
	x.run.Watch(&f.asking.Queued)
	p.originRequest(x, j.request, drop)
	j.trace = p.traceFetch(x, j.request)
	j.wellBefore, j.selects = x.wellBefore, x.vary
	if !x.asks.precondition {
		j.fallback = x.stale
	}
	if keep && x.stale != nil && x.keyedExactly() {
		j.validate(x.stale)
	}
	if x.baseLen > 0 {
		j.exact, j.asker = x.exact, x
		j.exact.name = append(j.memory.name, x.exact.name[:x.exact.baseLen]...)
		_, host, target, _ := wire.KeyURL(j.exact.name)
		j.resource = purge.URL{Scheme: x.scheme, Host: host, Target: target}
		p.keepContext(x, j)
	}
	return f
}

// validate makes j ask whether e is still the response to send (RFC 9111 section
// 4.3.1). The client's own conditions have been left out.
func (j *job) validate(e *cache.Object) {
	j.stale, j.asked, j.fallback = e, e, e
	weakened := e.Policy().TagWeakened
	for _, f := range rfc9111.ValidationFields(e.Header().AppendTo(nil), e.ResponseTime()) {
		if weakened && f.Name == "If-None-Match" { // not every origin compares weakly
			f.Value = strings.TrimPrefix(f.Value, "W/")
		}
		j.request.Header.Add(f.Name, f.Value)
	}
}

// plain makes j ask for the whole response.
func (j *job) plain() {
	j.stale = nil
	j.request.Header = j.request.Header.Without(func(name string) bool {
		return name == "If-None-Match" || name == "If-Modified-Since"
	})
	j.trace = j.trace.again(j.request)
}

// originRequest makes r the request as the origin gets it: the target and host that
// were keyed, the client's own end-to-end fields but those taken for keyed ones, and what we say of the client.
func (p *Proxy) originRequest(x *exchange, r *origin.Request, drop func(name string) bool) {
	text := x.copied(x.atOrigin(x.forwarded()), x.host, x.peerAddress())
	r.Method, r.Target, r.Host, r.Client = x.methodName(), text.target, text.host, x.who
	r.Connect, r.FirstByte, r.Idle, r.Total = x.route.Connect, x.route.FirstByte, x.route.Idle, x.route.Total
	if x.route.HostHeader != "" {
		r.Host = x.route.HostHeader
	}
	r.Header = x.appendFields(r.Header[:0], text.fields, drop)
	if x.asksOptions() {
		countForward(r.Header)
	}
	r.Header = x.route.Request.AppendSet(r.Header, x.originURL(), x)
	if r.Keyed = ""; x.route.Response.HasPlaceholders() {
		r.Keyed = string(x.keyedOrNormal())
	}
	if addresses := x.forwardedFor(text.peer); addresses != "" {
		r.Header.Add("X-Forwarded-For", addresses)
	}
	r.Header.Add("X-Forwarded-Proto", x.scheme)
	r.Header.Add("X-Forwarded-Host", text.host)
	r.Header.Add("Via", x.forwardedList("Via", p.via))
	r.Header.Add(headerCDNLoop, x.forwardedList(headerCDNLoop, p.loop))
	p.ownBody(x, r)
}

// methodName returns the method as a string of its own.
func (x *incoming) methodName() string {
	switch {
	case x.asks.get:
		return "GET"
	case x.asks.head:
		return "HEAD"
	}
	return string(x.method)
}
