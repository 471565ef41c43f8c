package proxy

import (
	"io"
	"slices"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// This file puts a page of the operator's in the place of a text of ours, or of what an origin says with an error. It comes in where
// the answer is delivered: what is stored stays as the origin sent it, and status, result and reason stay what they are. Where
// something stale may stand in for a failure, there is no error.

// ErrorPage is what a client reads with an error. It is immutable.
type ErrorPage struct {
	Type string // of its content, for Content-Type
	Body []byte
}

// ErrorPages are those of a route. They are immutable; nil are none.
type ErrorPages struct {
	// ByStatus is asked first; ByClass has 4 and 5, for 4xx and 5xx.
	ByStatus, ByClass map[int]*ErrorPage
	// Intercept has them stand for what origins answer with such a status, too.
	Intercept bool
}

// of returns the page for a status, nil if there is none.
func (e *ErrorPages) of(status int) *ErrorPage {
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
	return x.route.ErrorPages.of(x.status)
}

// intercepted returns the page in place of what h is about, nil where that is sent. What we say ourselves is not intercepted.
func (x *exchange) intercepted(h *heading) *ErrorPage {
	if x.route == nil || x.route.ErrorPages == nil || !x.route.ErrorPages.Intercept {
		return nil
	}
	switch x.from.(type) {
	case ownText, *ownAnswer:
		return nil
	}
	return x.route.ErrorPages.of(h.status)
}

// keptWithPage are the fields of an origin that stay where its content is replaced. Others may be about the content, or
// tell of the inside.
var keptWithPage = []string{"Date", "Via", "Allow", "Proxy-Authenticate", "Retry-After", "Www-Authenticate", headerCacheStatus}

// pageFields are what is left of an origin's fields where a page stands for its content, what the rules of the route add to each of its
// responses, and what they add to our own answers, which goes before: the page is one. What they say of content, or of how long it may be
// kept, is not about the page.
func (x *exchange) pageFields(from field.List) field.List {
	rules := &x.route.Response
	out := from.Without(func(name string) bool { return !slices.Contains(keptWithPage, name) || rules.Drops(name) })
	own := &x.route.Own
	for _, f := range rules.AppendSet(nil, template.URL{Scheme: x.scheme, Host: x.host, Target: x.keyedOrNormal()}, nil) {
		if !fieldrules.AboutContent(f.Name) && !fieldrules.AboutLifetime(f.Name) && !own.Drops(f.Name) {
			out.Add(f.Name, f.Value)
		}
	}
	for _, f := range own.AppendSet(nil, x.askedURL(), x) {
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
