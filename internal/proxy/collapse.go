package proxy

// collapse answers a miss: in slices where the route has them, else by the flight for
// its key where it may share one, else by a fetch of its own. A client that refuses what
// is stored has such a fetch always.
func (p *Proxy) collapse(x *exchange) {
	switch {
	case x.codingRefused:
		p.fetchAlone(x, false)
	case x.sliceable():
		if p.smallRangeOfSlices(x) {
			p.fetchAlone(x, false)
		} else if p.hitForMiss.Has(x.base, x.start) || !p.slices(x) {
			p.collapseWhole(x)
		}
	case x.severalOfSliced():
		p.fetchAlone(x, false)
	default:
		p.collapseWhole(x)
	}
}

func (p *Proxy) collapseWhole(x *exchange) {
	marked := p.hitForMiss.Has(x.base, x.start) // it was not shareable a moment ago
	switch {
	case marked && x.asks.ranged && x.verdict.Admit && x.mayStore():
		p.fetchPart(x) // most likely all of it is too much to store
	case !x.mayShare():
		p.fetchAlone(x, x.verdict.Admit && x.mayStore() && !p.smallRange(x))
	case marked:
		// Nobody queues for it. Conditions go along: most likely the origin alone can
		// answer them.
		p.fetchAlone(x, x.verdict.Admit && !x.asks.conditional)
	default:
		p.share(whole{x})
	}
}

// mayShare reports whether the request may share a flight: a GET without Range
// or Authorization.
func (x *exchange) mayShare() bool {
	a := &x.asks
	return a.get && !a.ranged && !a.authorization && !a.precondition
}

// mayStore reports whether a fetch for this request alone may be stored.
func (x *exchange) mayStore() bool { return x.asks.get && !x.asks.precondition }
