package proxy

import (
	"errors"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/sliced"
)

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
	f.facts.Range, f.url, f.flightURL = true, f.span.key, x.exact.url
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
	j.facts.Range, j.url = true, fillKey(e.Key(), e.URL(), e.Vary())
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
