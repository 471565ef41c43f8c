package proxy

import (
	"io"
	"net"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/cachekey"
)

// assembly is an answer made of stored parts of a representation (RFC 9111 section
// 3.4). The zero assembly is none.
type assembly struct {
	// entries are the parts in order, without gaps, from the one that holds the first
	// byte sent to the one that holds the last. The first one's head is the answer's.
	entries []*cache.Object
	part    rfc9111.Part // the part that the first entry is
	divided
}

// assembly returns the stored parts that x is answered from; nil where that is something else.
func (x *content) assembly() *assembly {
	a, _ := x.from.(*assembly)
	return a
}

// assemble looks for stored parts that are the answer to x together, all of them fresh
// or allowed to be stale, and reports whether it found them; x.fwd says if it found
// some. It is called after lookup, which looked for the whole.
func (p *Proxy) assemble(x *exchange) bool {
	if x.asks.precondition || x.fwd != fwdURIMiss && x.fwd != fwdVaryMiss && x.fwd != fwdPartial {
		return false
	}
	size := x.route.SliceBytes
	first, single := x.firstAsked()
	if !single || size == 0 && !x.asks.ranged {
		return false
	}
	number := int64(0)
	if size > 0 {
		number = first / size
	}
	a := &x.room
	if p.addPart(x, a, number) && p.gatherParts(x, a) {
		x.from, x.fwd = a, fwdNone
		return true
	}
	if len(a.entries) > 0 {
		x.fwd = fwdPartial
	}
	x.dropAssembly(a)
	return false
}

// dropAssembly empties a, which was to be the answer to x.
func (x *exchange) dropAssembly(a *assembly) {
	a.empty()
	x.result, x.refresh = resultHit, false
}

// empty lets go of the entries, which may have left the cache.
func (a *assembly) empty() {
	clear(a.entries)
	a.entries = a.entries[:0]
}

// firstAsked returns the place of the first byte that x wants, as far as it is known
// before the size is; single is false if it asks for several ranges.
func (x *incoming) firstAsked() (first int64, single bool) {
	if !x.asks.ranged || !x.asks.get {
		return 0, true
	}
	lines := x.clientLines("Range")
	if len(lines) != 1 {
		return 0, len(lines) == 0
	}
	first, several := rfc9111.FirstOf(lines[0])
	return first, !several
}

// gatherParts adds the parts that the answer needs to the one that tells the size, and reports
// whether all of them are there.
func (p *Proxy) gatherParts(x *exchange, a *assembly) bool {
	tells := a.entries[0]
	a.part = partOf(tells)
	a.rep, a.whole = wholeOf(tells), a.part.Size
	a.choose(x)
	if a.cut.headOnly() || x.asks.head {
		return true
	}
	want := rfc9111.Range{First: a.cut.first, Last: a.cut.first + a.cut.length - 1}
	size := x.route.SliceBytes
	if size == 0 {
		return a.cut.status != 0 && a.part.Holds(want)
	}
	number := want.First / size
	if a.part.First != number*size { // the end was asked for, or all of it
		x.dropAssembly(a)
	} else {
		number++
	}
	for ; number <= want.Last/size; number++ {
		if !p.addPart(x, a, number) {
			return false
		}
		if e := a.entries[len(a.entries)-1]; !follows(e, number*size, tells) {
			p.Store.Discard(older(tells, e)) // or the answer would break off there
			return false
		}
	}
	a.part = partOf(a.entries[0])
	return true
}

// follows reports whether e is the part from first on of the same bytes as those that
// other is a part of.
func follows(e *cache.Object, first int64, other *cache.Object) bool {
	part, whole := partOf(e), partOf(other)
	return part.Size > 0 && part.First == first && part.Size == whole.Size && rfc9111.SameStrongly(wholeOf(other), wholeOf(e))
}

// partOf returns which part e is; the zero Part where it does not say.
func partOf(e *cache.Object) rfc9111.Part {
	var room [usualFields]field.Field
	part, _ := rfc9111.PartOf(e.Header().AppendTo(room[:0]))
	return part
}

// older returns which of the two was received first.
func older(a, b *cache.Object) *cache.Object {
	if b.ResponseTime().Before(a.ResponseTime()) {
		return b
	}
	return a
}

// wholeOf is what conditions and Range are compared with where e is a part: the 200 that
// it is a part of.
func wholeOf(e *cache.Object) rfc9111.Representation {
	return representationAs(statusOK, e)
}

// addPart adds the part of this number to a, the answer to x, if it is stored and may be
// used. Parts are kept under the exact target.
func (p *Proxy) addPart(x *exchange, a *assembly, number int64) bool {
	n := len(x.scratch)
	x.scratch = append(x.scratch, x.exact.name[:x.exact.baseLen]...)
	x.scratch = cachekey.AppendPart(x.scratch, x.route.SliceBytes, number)
	name := x.scratch[n:]
	key := p.Hasher.Sum(name)
	m, lists := p.findMatch(x, key, name)
	if m.vary != nil {
		x.partsVary = m.vary
	} else if m.entry == nil && lists.Len() > 0 {
		x.partsVary = lists.At(0)
	}
	x.scratch = x.scratch[:n]
	e := m.entry
	if e == nil {
		return false
	}
	if x.refusesStored(e) {
		x.codingRefused = true
		return false
	}
	use, fresh := x.use(e, x.start)
	if use == rfc9111.UseAfterValidation {
		return false
	}
	if !fresh {
		x.result = resultStale
		x.refresh = x.refresh || use == rfc9111.UseNowAndRefresh
	}
	a.entries = append(a.entries, e)
	return true
}

// use returns how x may be answered from e at this time, and whether e is fresh then.
func (x *routed) use(e *cache.Object, at time.Time) (u rfc9111.Use, fresh bool) {
	age, policy := e.Age(at), e.Policy()
	return policy.Use(age, x.request, x.route.HonorRequest), rfc9111.Fresh(policy.Lifetime, age)
}

// promoteParts moves what answers x from the stage to the memory tier if the policy lets
// it in now: promote for an answer in parts.
func (p *Proxy) promoteParts(x *exchange, a *assembly) {
	for _, e := range a.entries {
		p.promoteEntry(x.route, x.verdict, e, fillKey(e.Key(), e.URL(), e.Vary()))
	}
}

// heading implements source, with the head of the first part.
func (a *assembly) heading(x *exchange) heading {
	return heading{clientHead: storedClientHead(a.entries[0]), status: statusOK, size: a.whole, at: x.start.Add(x.waited), evaluation: onParts, parts: &a.divided}
}

func (a *assembly) send(x *exchange, c selection) {
	p, e := x.p, a.entries[0]
	first := c.first - a.part.First
	switch {
	case x.opened != nil:
		p.sendRead(x, c.length, a.entries...)
	case len(a.entries) == 1:
		p.sendOne(x, e, first, c.length)
	case c.length > p.MaxObjectBytes:
		p.sendInTurn(x, a, c)
	default:
		p.sendStored(x, a.content(first), c.length, a.entries...)
	}
}

func (*assembly) leave(*exchange) {}

func (*assembly) abandon() {}

// sendInTurn sends an answer that is larger than any object slice by slice, as one that is
// fetched: nothing but the slice that is being sent is kept for it, and one that has left
// the cache until its turn comes is fetched again.
func (p *Proxy) sendInTurn(x *exchange, a *assembly, c selection) {
	s := p.newSlicing(x)
	s.start(&slice{number: a.part.First / s.way.Size(), entry: a.entries[0]})
	s.way.Select(c.first, c.length)
	s.divided, s.held = a.divided, x.result
	x.from = s
	a.empty()
	s.send(x, c)
}

// content returns what the answer sends of its parts, from first of the first one on,
// not copied. All of it lies in memory.
func (a *assembly) content(first int64) net.Buffers {
	content, left := make(net.Buffers, 0, len(a.entries)), a.cut.length
	for _, e := range a.entries {
		body, _ := e.Content().Bytes()
		body = body[first:min(first+left, int64(len(body)))]
		content, left, first = append(content, body), left-int64(len(body)), 0
	}
	return content
}

// reader returns the same to be read.
func (a *assembly) reader(first int64) io.Reader {
	all, left := make([]io.Reader, 0, len(a.entries)), a.cut.length
	for _, e := range a.entries {
		content := e.Content()
		length := min(left, content.Size()-first)
		all, left, first = append(all, content.Section(first, length)), left-length, 0
	}
	return io.MultiReader(all...)
}
