package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/sliced"
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
