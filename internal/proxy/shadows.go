package proxy

// recordShadows gives the shadow policies a finished request they have an eye on.
func (p *Proxy) recordShadows(x *exchange) {
	size, storable := x.object()
	p.Shadow.Request(x.demand.Hi, x.demand.Lo, size, storable, x.start)
}

// object returns what is known of the object that x asked for: its whole size,
// -1 if x did not tell, and whether a cache may store what x fetched.
func (x *exchange) object() (size int64, storable bool) {
	switch from := x.from.(type) {
	case *slicing:
		return from.whole, true
	case *assembly:
		return from.whole, true
	case stored:
		return from.Content().Size(), true
	}
	switch h := x.fetched(); {
	case h == nil:
		return -1, false
	case !h.fillable(): // also a 304 and a 206, which are not the object
		return -1, false
	case h.length >= 0:
		return h.length, x.asks.get
	case x.asks.get && !x.asks.ranged && x.body != nil && x.body.whole:
		return x.bytes, true
	default:
		return -1, x.asks.get
	}
}
