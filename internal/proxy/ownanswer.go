package proxy

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// OwnAnswer is what a route answers itself, in place of an origin. It is immutable.
type OwnAnswer struct {
	// Status is final, and neither 206 nor 304. With 444 nothing is sent, and the connection ends, or with HTTP/2 the stream.
	Status int
	// Fields are those of the head but Date, Via, Location and what frames the body. They are made by fieldrules.ForAnswers, and go
	// before those of Route.Generated.
	Fields fieldrules.Rules
	// Location is where the client should go instead; the zero Location is no such field.
	Location template.Location
	// Body is sent as it is; a 204 has none.
	Body []byte
}

// ownAnswer is an OwnAnswer ready to be sent.
type ownAnswer struct {
	*OwnAnswer
	fields fieldrules.Lines
}

func newOwnAnswer(a *OwnAnswer, generated *fieldrules.Rules) *ownAnswer {
	if a == nil {
		return nil
	}
	o := &ownAnswer{OwnAnswer: a}
	o.fields.Add(generated, func(name string) bool { return !a.Fields.Drops(name) })
	o.fields.Add(&a.Fields, func(string) bool { return true })
	if o.fields.OfClient() && !o.fields.SetsLifetime() { // caches in front of us may keep it, for others
		o.fields.AddLine("Cache-Control", "private")
	}
	if len(a.Body) > 0 && !a.Fields.Drops("Content-Type") {
		o.fields.AddLine("Content-Type", "text/plain; charset=utf-8")
	}
	return o
}

func (o *ownAnswer) heading(x *exchange) heading {
	b := append(x.answer.Lines, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, x.p.via...)
	b = append(b, "\r\n"...)
	if !o.Location.IsZero() {
		b = append(b, "Location: "...)
		b = o.Location.Append(b, x.askedURL())
		b = append(b, "\r\n"...)
	}
	x.answer.Lines = o.fields.Append(b, x.askedURL(), x)
	return heading{status: o.Status, size: int64(len(o.Body))}
}

func (o *ownAnswer) send(x *exchange, _ selection) {
	x.bytes = int64(len(o.Body))
	x.answer.Say(o.Body)
}

func (*ownAnswer) leave(*exchange) {}

func (*ownAnswer) abandon() {}

// answerItself makes what the route of x says itself the answer.
func (x *exchange) answerItself() {
	x.from, x.status, x.result = x.route.answer, x.route.answer.Status, resultPass
	if x.status == statusNoAnswer {
		x.closing, x.answer.Silent = true, true
	}
}

// ownText answers with a short text of our own: an error, with the reason in Cache-Status, or what a
// purge or a challenge gets. Nothing of the inside leaks. A route may have a page in place of the text of an error,
// and the operator fields of each (fieldrules.Lines).
type ownText struct{}

func (ownText) heading(x *exchange) heading {
	b := append(x.answer.Lines, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, x.p.via...)
	content, kind := x.ownContent()
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, kind...)
	b = append(b, "\r\nCache-Control: no-store\r\n"...)
	switch x.status {
	case statusServiceUnavailable, statusTooManyRequests:
		b = appendInt(b, "Retry-After: ", seconds(x.retryAfter))
	case statusUnauthorized:
		if x.purges() {
			b = append(b, "WWW-Authenticate: Bearer realm=\"edgeproxy purge\"\r\n"...)
		} else {
			b = x.appendAuthenticate(b)
		}
	case statusMethodNotAllowed:
		b = append(b, "Allow: "+allowedMethods+"\r\n"...)
	case statusOK:
		if x.asksOptions() {
			b = append(b, "Allow: "+allowedMethods+"\r\n"...)
		}
	}
	x.answer.Lines = x.appendGeneratedFields(b)
	return heading{status: x.status, size: int64(len(content))}
}

func (ownText) send(x *exchange, _ selection) {
	content, _ := x.ownContent()
	x.bytes = int64(len(content))
	x.answer.Say(content)
}

func (ownText) leave(*exchange) {}

func (ownText) abandon() {}

// ownContent is what x is answered with, and of which type.
func (x *exchange) ownContent() (content []byte, kind string) {
	const text = "text/plain; charset=utf-8"
	if x.challenge != "" {
		return []byte(x.challenge), text
	}
	if x.explained != "" {
		return []byte(x.explained + "\n"), text
	}
	if page := x.ownPage(); page != nil {
		return page.Body, page.Type
	}
	if x.reason == reason.PlainHTTP {
		return []byte("Bad Request: this port expects TLS: use a URL that begins with https\n"), text
	}
	return []byte(statusText(x.status) + "\n"), text
}

// answerText makes the answer of x a text of our own.
func (x *exchange) answerText(status int, r result) {
	x.from, x.status, x.result = ownText{}, status, r
}

// appendGeneratedFields appends the operator's fields of a text of ours for x, as lines of its head. A request without a route has those
// of its settings.
func (x *routed) appendGeneratedFields(b []byte) []byte {
	generated := &x.settings.generated
	if x.route != nil {
		generated = &x.route.generated
	}
	return generated.Append(b, x.askedURL(), x)
}

// What follows puts a page of the operator's in the place of a text of ours, or of what an origin says with an error. It comes in where
// the answer is delivered: what is stored stays as the origin sent it, and status, result and reason stay what they are. Where
// something stale may stand in for a failure, there is no error.

// ErrorPage is what a client reads with an error. It is immutable.
type ErrorPage struct {
	Type string // the Content-Type of its content
	Body []byte
}

// ErrorPages are those of a route. They are immutable; nil are none.
type ErrorPages struct {
	// ByStatus is asked first; ByClass has 4 and 5, for 4xx and 5xx.
	ByStatus, ByClass map[int]*ErrorPage
	// Intercept has them stand for what origins answer with such a status, too.
	Intercept bool
}

// forStatus returns the page for a status, nil if there is none.
func (e *ErrorPages) forStatus(status int) *ErrorPage {
	if page := e.ByStatus[status]; page != nil {
		return page
	}
	return e.ByClass[status/100]
}

// ownPage returns the page for an error of ours, nil for the usual text. Before its route is known a request has none.
func (x *exchange) ownPage() *ErrorPage {
	if x.result != resultError || x.route == nil || x.route.ErrorPages == nil {
		return nil
	}
	return x.route.ErrorPages.forStatus(x.status)
}

// intercepted returns the page in place of what h is about, nil where that is sent. What we say ourselves is not intercepted.
func (x *exchange) intercepted(h *heading) *ErrorPage {
	switch x.from.(type) {
	case ownText, *ownAnswer:
		return nil
	}
	return x.route.ErrorPages.forStatus(h.status)
}

// keptWithPage are the fields of an origin that stay where its content is replaced. Others may be about the content, or
// tell of the inside.
var keptWithPage = []string{"Date", "Via", "Allow", "Proxy-Authenticate", "Retry-After", "Www-Authenticate", headerCacheStatus}

// pageFields are what is left of an origin's fields where a page stands for its content, what the rules of the route add to each of its
// responses, and what they add to our own answers, which goes before: the page is one. What they say of content, or of how long it may be
// kept, is not about the page.
func (x *routed) pageFields(from field.List) field.List {
	rules := &x.route.Response
	out := from.Without(func(name string) bool { return !slices.Contains(keptWithPage, name) || rules.Drops(name) })
	generated := &x.route.Generated
	for _, f := range rules.AppendSet(nil, template.URL{Scheme: x.scheme, Host: x.host, Target: x.keyedOrNormal()}, nil) {
		if !fieldrules.AboutContent(f.Name) && !fieldrules.AboutLifetime(f.Name) && !generated.Drops(f.Name) {
			out.Add(f.Name, f.Value)
		}
	}
	for _, f := range generated.AppendSet(nil, x.askedURL(), x) {
		if !fieldrules.AboutLifetime(f.Name) {
			out.Add(f.Name, f.Value)
		}
	}
	return out
}

// deliverPage fills the answer of x with a page in place of what h is about.
func (p *Proxy) deliverPage(x *exchange, h *heading, page *ErrorPage) {
	kept := x.pageFields(h.list())
	if h.held != nil {
		h.lines = field.Lines(field.AppendLines(nil, kept))
	} else {
		h.fields = kept
	}
	h.size = int64(len(page.Body))
	x.addLine("Content-Type: ", page.Type)
	x.addLine("Cache-Control: ", "no-store")
	p.head(x, h, selection{length: h.size})
	x.closeReplaced()
	if !x.asks.head {
		x.bytes = h.size
		x.answer.Say(page.Body)
	}
}

// closeReplaced ends the source of x, whose content is replaced. What is here of it is read, so that its connection can be used again.
func (x *exchange) closeReplaced() {
	if d, ok := x.from.(fromOrigin); ok && d.resp.Here {
		_, _ = io.Copy(io.Discard, d.resp.Body)
	}
	x.from.leave(x)
}

// refuse makes the answer an error of our own.
func (p *Proxy) refuse(x *exchange, status int, why reason.Reason) {
	x.answerText(status, resultError)
	x.reason = why
	if why == reason.OnlyIfCached || why == reason.Denied || why == reason.Unauthenticated || why == reason.Overload || why == reason.Rate || why == reason.ClientShare {
		x.fwd = fwdNone // it never went forward (RFC 9211 section 2.2)
	}
}

// levelFor keeps what a client or an overload can cause at will out of the
// default log.
func levelFor(why reason.Reason) slog.Level {
	switch why {
	case reason.OriginError, reason.OriginTimeout:
		return slog.LevelWarn
	case reason.Panic:
		return slog.LevelError
	default:
		return slog.LevelDebug
	}
}

// cutOff notes that a body broke after its header was sent.
func (p *Proxy) cutOff(x *exchange, err error) {
	if x.presence.Left() {
		x.reason = reason.ClientGone
		return
	}
	x.reason = reason.Incomplete
	if errors.Is(err, flight.ErrBehind) {
		x.reason = reason.FellBehind
	}
	x.brokeOff(err)
	if !errors.Is(err, io.ErrClosedPipe) {
		p.logCut(x, err)
	}
}

// ChallengePath is what the targets begin with by which an authority sees whose a name is
// (RFC 8555 section 8.3); the token follows.
const ChallengePath = "/.well-known/acme-challenge/"

var challengePath = []byte(ChallengePath)

// challenged answers an authority that looks whether the name is ours, and reports whether
// x is that. It comes before the routes: a name may need its certificate first. Scheme and
// host do not matter, for nobody guesses a token.
func (p *Proxy) challenged(x *exchange) bool {
	token, ok := bytes.CutPrefix(x.target.Path, challengePath)
	if !ok || !x.asks.get && !x.asks.head {
		return false
	}
	if x.challenge = p.Challenge(token); x.challenge == "" {
		return false
	}
	x.answerText(statusOK, resultPass)
	return true
}

// Max-Forwards says how many proxies may forward an OPTIONS request (RFC 9110 section 7.6.2). With other methods it says nothing; TRACE is
// refused.
const headerMaxForwards = "Max-Forwards"

// allowedMethods is the value of Allow in answers of our own.
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

func (x *incoming) asksOptions() bool { return string(x.method) == "OPTIONS" }

// answeredAsLast answers an OPTIONS request that no proxy may forward any more, and reports whether x is one.
func (x *exchange) answeredAsLast() bool {
	if !x.asksOptions() {
		return false
	}
	for _, line := range x.fieldLines(headerMaxForwards) {
		if n, err := strconv.ParseUint(string(line), 10, 64); err == nil && n == 0 {
			x.answerText(statusOK, resultPass)
			return true
		}
	}
	return false
}

// countForward takes one off each Max-Forwards of a request that is forwarded. A value that is no number stays.
func countForward(list field.List) {
	for i := range list {
		if list[i].Name != headerMaxForwards {
			continue
		}
		if n, err := strconv.ParseUint(list[i].Value, 10, 64); err == nil && n > 0 {
			list[i].Value = strconv.FormatUint(n-1, 10)
		}
	}
}
