package proxy

import (
	"math"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/cachekey"
)

// This file bounds what a Range can make an origin send. To store a response, or a slice of one, all of it is fetched: for a range of one byte that
// is millions of bytes. So a small range of what is not stored goes to the origin as it is, and is not stored. Once the ranges of
// a URL, or of a slice, have asked for one byte in each RangeAmplification of what the fetch would bring, all of it is fetched as before. The bytes are
// spent then. So of what ranges ask for, the origin never sends more than that many times as much.

// leastAsked is what a range counts as at least, in bytes. That much its request and the head of its answer cost anyway.
const leastAsked = 1 << 10

// weighing is how the cost of a range is weighed against what was asked for.
type weighing struct {
	weighed    bool      // what x asks for was added to weighedKey
	weighedKey cache.Key // the key of what is not stored
	cost       int64     // bytes that its fetch costs, as far as known
	small      bool      // not enough had added up for that: x goes to the origin as it is
}

// rangeLine returns the Range of x, if there is one that is to be weighed.
func (x *incoming) rangeLine() (line []byte, ok bool) {
	if x.settings.RangeAmplification == 0 || !x.asks.ranged || !x.asks.get {
		return nil, false
	}
	lines := x.clientLines("Range")
	if len(lines) != 1 {
		return nil, false // the whole is sent
	}
	return lines[0], true
}

// smallRange reports whether x, which may be stored, goes to the origin as it is instead: it asks for a small range of what is not stored. Where the size is
// not known yet, costsTooMuch decides. What is stale is validated, which costs little.
func (p *Proxy) smallRange(x *exchange) bool {
	line, ok := x.rangeLine()
	size := int64(0)
	if ok && x.stale == nil {
		size = p.asked.size(x.key)
	}
	if size == 0 {
		return false
	}
	asked, ok := rfc9111.AskedOf(line, size)
	return ok && !p.enough(x, x.key, asked, size)
}

// smallRangeOfSlices is smallRange for what is fetched in slices.
func (p *Proxy) smallRangeOfSlices(x *exchange) bool {
	line, ok := x.rangeLine()
	if !ok {
		return false
	}
	whole := p.asked.size(x.key)
	if whole == 0 {
		whole = math.MaxInt64
	}
	first, last, kind := rfc9111.ParseRange(line, whole)
	if kind == rfc9111.RangeNone {
		return false
	}
	cost, key := p.missingSlices(x, first, last, whole)
	return cost > 0 && !p.enough(x, key, last-first+1, cost)
}

// mostMissing is how many slices are looked for. A range of more of them is not small.
const mostMissing = 16

// missingSlices returns how many bytes the slices have that a range touches and that are neither stored nor on their way, and the key of the first of
// them. whole is the size of the representation; where that is not known, math.MaxInt64.
func (p *Proxy) missingSlices(x *exchange, first, last, whole int64) (bytes int64, key cache.Key) {
	size := x.route.SliceBytes
	from, to := first/size, last/size
	if told, _ := x.firstAsked(); told == 0 && from > 0 { // the end was asked for: slice 0 says where that is
		if p.missesSlice(x, 0, &key) {
			bytes = size
		}
		if whole == math.MaxInt64 {
			return bytes + size, key // which the last one is, is not known
		}
	}
	if to-from >= mostMissing {
		return 0, key
	}
	for n := from; n <= to; n++ {
		var k cache.Key
		if !p.missesSlice(x, n, &k) {
			continue
		}
		if bytes == 0 {
			key = k
		}
		bytes += min(size, whole-n*size)
	}
	return bytes, key
}

// missesSlice reports whether the slice of this number is neither stored, no matter how old, nor on its way. It sets its key.
func (p *Proxy) missesSlice(x *exchange, number int64, key *cache.Key) bool {
	n := len(x.scratch)
	defer func() { x.scratch = x.scratch[:n] }()
	x.scratch = append(x.scratch, x.exact.name[:x.exact.baseLen]...)
	x.scratch = cachekey.AppendPart(x.scratch, x.route.SliceBytes, number)
	name := x.scratch[n:]
	*key = p.Hasher.Sum(name)
	lists := p.Store.Vary(*key, name)
	if !p.missesPart(*key, name) {
		return false
	}
	for i := range lists.Len() {
		m := len(x.scratch)
		x.scratch = append(x.scratch, name...)
		x.scratch = x.appendVariant(x.scratch, lists.At(i))
		if *key = p.Hasher.Sum(x.scratch[m:]); !p.missesPart(*key, x.scratch[m:]) {
			return false
		}
	}
	return true
}

// missesPart reports whether nothing is stored under a key, and nothing on its way.
func (p *Proxy) missesPart(key cache.Key, name []byte) bool {
	return !p.Store.Holds(key) && !p.Store.OnDisk(name) && !p.flights.Has(key)
}

// enough adds what x asks for to what was asked for under key, and reports whether that is enough for a fetch of cost bytes.
func (p *Proxy) enough(x *exchange, key cache.Key, asked, cost int64) bool {
	x.weighing = weighing{weighed: true, weighedKey: key, cost: cost}
	x.small = !p.asked.spend(key, max(asked, leastAsked), cost/int64(x.settings.RangeAmplification))
	return !x.small
}

// costsTooMuch weighs the Range of x once the head of a response is here, which says the size. It reports whether the body is left to the origin,
// and x goes there as it is. whole says that the origin was asked for all of it. A part that answers a small range has that as the reason not to be stored.
func (p *Proxy) costsTooMuch(x *exchange, h *outcome, whole bool) bool {
	if x.small && h.why == reason.Partial {
		h.why = reason.SmallRange
	}
	line, ok := x.rangeLine()
	size := sizeOfWhole(h)
	if !ok || size <= 0 || h.why == reason.TooLarge { // nobody reads what is too large
		return false
	}
	p.asked.learn(x.key, size)
	asked, ok := rfc9111.AskedOf(line, size)
	switch {
	case !ok:
		return false
	case !whole:
		p.noteForwarded(x, h, asked, size)
		return false
	}
	return (!x.weighed || size > x.cost) && !p.enough(x, x.key, asked, size)
}

// noteForwarded adds what x, whose Range went to the origin, has asked for, where the size was not known before. If the origin ignores Range, x gets
// all of it.
func (p *Proxy) noteForwarded(x *exchange, h *outcome, asked, size int64) {
	key := x.key
	if x.weighed {
		key = x.weighedKey
	}
	switch {
	case h.status == statusOK:
		p.asked.add(key, size)
	case !x.weighed:
		p.asked.add(key, max(asked, leastAsked))
	}
}

// sizeOfWhole returns how long the representation is that h has or has a part of, 0 or less if h does not say.
func sizeOfWhole(h *outcome) int64 {
	switch h.status {
	case statusOK:
		return h.length
	case statusPartialContent:
		part, _ := rfc9111.PartOf(h.from)
		return part.Size
	}
	return 0
}
