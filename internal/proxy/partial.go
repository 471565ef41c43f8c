package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/rfc9111"
)

// fetchPart answers a Range of what is too large to be stored: the origin gets the request as
// it is, and the part that it sends is kept, one for each URL (RFC 9111 section 3.3).
// What x gets is stored if it can be, as always with an admitted request.
func (p *Proxy) fetchPart(x *exchange) {
	if x.route.SliceBytes > 0 { // one that slices do not suit; they alone are looked for
		p.alone(x, false)
		return
	}
	j := p.newJob(x, false)
	j.request.Interim = p.teller(x)
	j.span = p.newSpan(j.exact.name, 0, 0)
	j.facts.Range, j.url, j.flight = true, j.span.key, x.exact.url
	r := p.flights.Lead(j.span.key, x.exact.url, true, x.who) // before the fetch, so that a purge finds it
	x.seat = r
	f := r.Flight()
	x.guest.Ends(r)
	resp, err := x.route.ask(f.Context(), j.request)
	x.got = resp
	if err != nil {
		f.Finish(err)
		_ = r.Close()
		p.fail(x, err)
		return
	}
	h := p.judge(j, resp)
	x.adopt(h)
	x.onResult = !h.part && h.status == statusOK // the origin has sent the whole
	if !h.storable() {
		f.Finish(errUnshared)
		_ = r.Close()
		x.guest.Ends(resp.Body)
		x.response, x.head = resp, h
		return
	}
	f.Publish(h, h.response(false))
	p.carryAlone(x, r, j, h, resp)
}

// refreshParts is refresh for an answer in parts.
func (p *Proxy) refreshParts(x *exchange) {
	for _, e := range x.assembled.entries {
		if _, fresh := x.use(e, x.start); fresh {
			continue
		}
		p.refreshBy(x, e.Key, func() *job {
			j := p.newRefresh(x, e)
			j.askFor(e, x.route.SliceBytes > 0)
			return j
		})
	}
}

// askFor makes j ask for the part that e is.
func (j *job) askFor(e *cache.Entry, slice bool) {
	part, _ := rfc9111.PartOf(e.Header)
	j.span = &span{name: e.Name[:e.URLLen], key: e.URL, slice: slice, Range: part.Range}
	j.facts.Range, j.url = true, fillKey(e)
	j.request.Header.Add("Range", j.span.rangeField())
}
