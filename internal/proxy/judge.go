package proxy

import (
	"slices"
	"strconv"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/queryrules"
	"edgeproxy/internal/route/fieldrules"
)

// outcome is what is known of an origin's response once its header is here. The readers of a
// flight share it. Only its trailers are written after judge.
type outcome struct {
	status int
	fields field.List // gathered, as forwarded to the client whose request the origin answered; for others see clientHead
	length int64      // bytes of the body, -1 if unknown
	here   bool       // all of it came with the head

	// announced are the names of trailers that may come; trailers are those that came
	// through a flight, set before its end and to be read behind it by its leader. Neither
	// is stored.
	announced string
	trailers  field.List

	why    reason.Reason // why the response may not be stored; None if it may
	policy rfc9111.Policy
	age    time.Duration    // when it came
	strip  []string         // fields that are not kept with it
	cookie bool             // it has Set-Cookie, and is for one client only
	part   bool             // it is kept as the part that it is
	coding string           // its content coding, where Accept-Encoding does not select it; see refusesCoding
	only   string           // the one target that it answers, where that need not be its leader's; see newShared
	from   field.List       // the fields as the origin sent them
	at     time.Time        // when they came
	entry  *cache.Entry     // all but the body, if it may be stored
	rule   *queryrules.Rule // under which; nil is the key of the target itself

	// counts is what the request counts as that the origin answered, where its response
	// has shown that to be another key than the request was counted by; else nil.
	counts *sighting

	// held is the answer in place of what the origin sent: a stored response that
	// it has confirmed (as is revalidated) or failed to (as is stale).
	held *cache.Object
	as   result

	// resp is what the origin has sent, for the log; nil: nothing.
	resp *origin.Response

	// own is held as the client may have it whose request brought the confirmation:
	// with the fields that are not kept. Nil is held itself.
	own *cache.Object
}

// selected is what a later request has to select.
type selected struct {
	key      cache.Key
	name     []byte   // all of the key
	baseName []byte   // the part before Vary
	vary     []string // canonical names
}

func selectedOf(o *cache.Object) selected {
	return selected{o.Key(), o.Name(), o.URLName(), o.Vary()}
}

// selected returns that of the stored response that h is about, or of the one in the making.
func (h *outcome) selected() selected {
	if h.held != nil {
		return selectedOf(h.held)
	}
	if e := h.entry; e != nil {
		return selected{e.Key, e.Name, e.Name[:e.URLLen], e.Vary}
	}
	return selected{}
}

// rep is what conditions and Range are compared with. Few answers need it.
func (h *outcome) rep() rfc9111.Representation {
	return rfc9111.RepresentationOf(h.status, h.from, h.at)
}

// storable reports whether the response may be stored, admission aside.
func (h *outcome) storable() bool { return h.why == reason.None }

// shareable reports whether other clients may have the response. They may not where it would
// have to be validated for each of them.
func (h *outcome) shareable() bool {
	return h.storable() && !h.cookie && usable(h.entry.Policy, h.entry.InitialAge)
}

// usable reports whether a response may be an answer without validation at the moment of its arrival.
func usable(p rfc9111.Policy, initialAge time.Duration) bool {
	return p.Use(initialAge, rfc9111.RequestDirectives{}, false) != rfc9111.UseAfterValidation
}

// judge decides whether the response to a GET or HEAD that asked the cache may be stored, and
// prepares the fields that are forwarded and those that are stored.
func (p *Proxy) judge(j *job, resp *origin.Response) *outcome {
	h := p.forwardHead(j, resp)
	h.only = onlyTarget(j, resp)
	h.why = p.storable(j, resp, h)
	switch {
	case h.storable():
		p.prepare(j, resp, h)
	case j.facts.Method == "HEAD":
		p.countHead(j, resp, h)
	}
	if h.fillable() && j.facts.Method != "HEAD" {
		j.route.metrics.fills.storable.Add(1)
	}
	return h
}

// prepare makes the entry of a storable response, or sets why there is none.
func (p *Proxy) prepare(j *job, resp *origin.Response, h *outcome) {
	e := p.entryWithoutBody(j, resp, h)
	if e != nil {
		p.countByEntry(j, h, e)
	}
	switch {
	case e == nil:
		h.why = reason.VaryStar
	case !p.Store.TakesVary(e):
		h.why = reason.VaryLimit
	case !p.Store.Takes(max(h.length, 0), e, true):
		h.why = reason.TooLarge
	default:
		h.entry, h.coding = e, codingNotInVary(h.fields, e.Vary)
	}
}

// storable applies RFC 9111, and a law of this proxy: a body must prove that it is whole.
func (p *Proxy) storable(j *job, resp *origin.Response, h *outcome) reason.Reason {
	v := rfc9111.Judge(j.facts, responseFacts(resp), j.route.Options)
	h.policy, h.age, h.strip = v.Policy, v.Age, v.Strip
	h.policy.TagWeakened = resp.TagWeakened
	if v.Why == reason.None && !resp.Body.Framed() {
		return reason.Incomplete
	}
	if v.Why == reason.None && resp.Status == statusPartialContent {
		return h.keepPart(j.span, resp)
	}
	return v.Why
}

func responseFacts(resp *origin.Response) rfc9111.ResponseFacts {
	return rfc9111.ResponseFacts{
		Status: resp.Status, Header: resp.Header, RequestTime: resp.RequestTime, ResponseTime: resp.ResponseTime,
	}
}

// mostAddedByForwardHead is how many fields forwardHead adds.
const mostAddedByForwardHead = 2

// forwardHead prepares the fields for the client: the end-to-end fields, a Date where the origin
// sent none (RFC 9110 section 6.6.1), and our Via. Surrogate keys stay between origin and cache.
func (p *Proxy) forwardHead(j *job, resp *origin.Response) *outcome {
	fields := rfc9111.AppendEndToEnd(slices.Grow(j.memory.fields, len(resp.Header)+mostAddedByForwardHead), resp.Header, func(name string) bool {
		return name == "Content-Length" || !j.route.SendTags && j.route.isTagField(name)
	})
	if !fields.Has("Date") {
		fields.Add("Date", httpDate(resp.ResponseTime))
	}
	fields.Add("Via", p.via)
	fields = withOneCacheStatus(fields)
	h := j.memory.newOutcome()
	*h = outcome{
		resp: resp, status: resp.Status, fields: fields, length: resp.ContentLength, here: resp.Here, announced: announced(resp),
		cookie: fields.Has("Set-Cookie"), why: reason.Method, from: resp.Header, at: resp.ResponseTime,
	}
	if j.facts.Method == "HEAD" {
		h.length = declaredLength(resp.Header)
	}
	return h
}

// declaredLength returns what Content-Length says of the body that a GET would have got, -1
// without it.
func declaredLength(fields field.List) int64 {
	if v, ok := fields.Get("Content-Length"); ok {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}

// entryWithoutBody returns the entry without its body, nil if no later request could select it.
func (p *Proxy) entryWithoutBody(j *job, resp *origin.Response, h *outcome) *cache.Entry {
	names, star := rfc9111.VaryNames(resp.Header)
	if star {
		return nil
	}
	if slices.ContainsFunc(names, fieldrules.WrittenByProxy) || slices.ContainsFunc(names, j.route.Request.Unselectable) || j.request.TakesTrailers && slices.Contains(names, "Te") || j.trace != nil && slices.Contains(names, headerTraceparent) {
		return nil
	}
	var home keying
	if h.part {
		home = keying{name: j.span.name, baseKey: j.span.key}
	} else {
		home, h.rule = p.storageKey(j, resp)
	}
	name, key := home.name, home.baseKey
	if len(names) > 0 {
		name = j.variant(home.name, names)
		key = p.Hasher.Sum(name)
	}
	var pin *pinned.Body
	if h.length < 0 || h.length > pinned.Least { // a smaller one is not counted
		pin = p.Store.NewPin()
	}
	e := j.memory.newEntry()
	*e = cache.Entry{
		Pin: pin,
		Key: key, Name: name, URL: home.baseKey, URLLen: int32(len(home.name)), Vary: names,
		Serial: p.serial.Add(1), Born: j.born, Tags: p.tags(j, nil, resp.Header), Status: int32(h.status),
		Header:       storedFields(h.fields, h.strip, j.route),
		ResponseTime: resp.ResponseTime,
		InitialAge:   h.age,
		Policy:       h.policy,
	}
	return e
}

// storedFields returns the fields that are stored: fields itself where all are. Age is left out, for each hit
// says its own. A 304 may bring surrogate keys as well.
func storedFields(fields field.List, strip []string, r *route) field.List {
	drop := func(name string) bool {
		return name == "Age" || !r.SendTags && r.isTagField(name) || slices.Contains(strip, name)
	}
	if !slices.ContainsFunc(fields, func(f field.Field) bool { return drop(f.Name) }) {
		return slices.Clip(fields)
	}
	return fields.Without(drop)
}

func httpDate(t time.Time) string { return string(appendDate(nil, t)) }

// What follows asks the origin twice before an error takes the place of an answer. A field that is in no key may bring about an error
// that other clients would not get. A client that sends the field each time that the answer expires could have all others get the error.

// ownAgent is the User-Agent of what the proxy asks in its own words: some origins refuse requests without one.
const ownAgent = "edgeproxy"

// isDoubtful reports whether the response is an error that would be kept or shared, though the URL had an answer that was none.
func (f *fill) isDoubtful() bool {
	h := f.head
	return f.wellBefore && f.flight != nil && f.span == nil && h.held == nil && h.storable() && h.status >= leastError
}

// confirm asks the origin once more, in the proxy's own words: without the fields of the client that select nothing. What comes is
// the answer for all, if it may be stored or is no error. Otherwise the first response is for its client alone. A request that
// has no such field is not sent again.
func (f *fill) confirm() {
	first, doubted := f.resp, f.head
	if !f.inOwnWords(doubted.entry.Vary) {
		return
	}
	defer func() { // also after a panic
		if f.resp != first {
			_ = first.Body.Close()
		}
	}()
	f.route.metrics.fills.storable.Add(-1) // whatever comes is counted in its place
	f.resp, f.head, f.memory.fields = nil, nil, nil
	if err := f.ask(); err != nil {
		f.logFailure(err)
	} else {
		f.judgeConfirming()
	}
	if f.head != nil {
		return
	}
	f.dropResponse()
	doubted.why, doubted.entry = reason.Unconfirmed, nil
	f.resp, f.head = first, doubted
}

// judgeConfirming makes the response the answer, unless it says nothing of what others would get.
func (f *fill) judgeConfirming() {
	if f.stale != nil && f.resp.Status == statusNotModified {
		f.head = f.p.renewBy304(&f.job, f.resp, f.flight.Purged)
		f.dropResponse()
		return
	}
	h := f.p.judge(&f.job, f.resp)
	if h.status >= leastError && !h.fillable() {
		return
	}
	f.head = h
	f.p.markHitForMiss(&f.job, h, f.resp)
	f.p.removeSuperseded(&f.job, h)
}

// inOwnWords takes out of the request what its client has said and nothing selects by: the key, the route, what is stored, or the
// response, by the names of its Vary. It reports whether there was anything.
func (f *fill) inOwnWords(vary []string) bool {
	drop := func(name string) bool { return !f.speaksForAll(name, vary) }
	header := f.request.Header.Without(drop)
	if len(header) == len(f.request.Header) {
		return false
	}
	if f.asker != nil {
		f.outlive(f.asker, drop)
	} else {
		f.selecting = f.selecting.Without(drop)
	}
	f.facts.Authorization = f.facts.Authorization && header.Has("Authorization")
	f.facts.Cookie = f.facts.Cookie && header.Has("Cookie")
	if !header.Has("User-Agent") {
		header.Add("User-Agent", ownAgent)
	}
	f.request.Header, f.request.Interim = header, nil
	f.trace = f.trace.again(f.request)
	return true
}

// speaksForAll reports whether a request for all clients has the field of this canonical name: the proxy or a rule has written it,
// or a response is selected by it. What a trusted proxy says of the URL belongs to the URL.
func (f *fill) speaksForAll(name string, vary []string) bool {
	switch name {
	case acceptEncoding, "If-None-Match", "If-Modified-Since", headerTraceparent:
		return true
	}
	r := f.route
	return fieldrules.WrittenByProxy(name) || forwarded.Overrides(name) || r.Request.Value(name) != nil || r.Key.Reads(name) || r.GoesBy(name) ||
		slices.Contains(f.selects, name) || slices.Contains(vary, name)
}
