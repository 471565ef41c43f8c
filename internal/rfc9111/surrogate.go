package rfc9111

import "edgeproxy/internal/field"

// parseSurrogate reads Surrogate-Control (W3C note "Edge Architecture
// Specification", 4 August 2001, sections 2.2 and 4.2). Ok says that it stands in
// for Cache-Control: all of it can be read, and it gives a lifetime. One that only
// names what is to be done with the body, content="ESI/1.0", says nothing of
// caching and must not hide what Cache-Control says of it. What d forbids counts
// in any case.
//
// Directives of Cache-Control count beside the note's, as senders mix them.
func parseSurrogate(h field.List) (d ResponseDirectives, ok bool) {
	ok = true
	for i := range h {
		if h[i].Name != "Surrogate-Control" {
			continue
		}
		p := parser[string]{rest: h[i].Value}
		for len(p.rest) > 0 {
			member := trim(p.cut())
			said, targets := cutTargets(member)
			if p.read(trim(said)) {
				ok, p.words = d.applySurrogate(&p.at) && p.at.sure && ok, targets
			} else {
				ok, p.words = ok && len(member) == 0, member
			}
			for p.nextWord() { // not sure, so that it can only restrict
				d.applySurrogate(&p.at)
			}
		}
	}
	d.targeted = ok && (d.MaxAge.Present() || d.SMaxAge.Present())
	return d, d.targeted
}

// cutTargets cuts a member of the list in two: the directive, and behind the first
// semicolon the surrogates it is meant for. We have no name in the note's sense, so
// each of them may be us. A target named like a directive, "no-store" above all, is
// one behind the wrong separator.
func cutTargets(member string) (said, targets string) {
	equals, end := index(member, '='), 0
	if equals+1 < len(member) && member[equals+1] == '"' {
		end = closingQuote(member, equals+1)
	}
	end += index(member[end:], ';')
	return member[:end], member[end:]
}

// applySurrogate applies x and reports whether its argument, if it is to be a
// span of time, can be read.
func (d *ResponseDirectives) applySurrogate(x *directive[string]) (readable bool) {
	switch name := x.name; {
	case equalFold(name, "no-store-remote"): // we cannot tell how far from the origin we are
		d.NoStore = true
	case equalFold(name, "max-age"):
		return d.applyExtensible(x)
	case equalFold(name, "s-maxage"):
		d.apply(x)
		return deltaOf(x).Valid()
	default:
		d.apply(x)
	}
	return true
}

// applyExtensible applies max-age=N or max-age=N+M: fresh for N seconds, and of
// use for M more when stale, for whatever reason (section 4.2.3). What the
// operator allows beyond that does not count.
func (d *ResponseDirectives) applyExtensible(x *directive[string]) (readable bool) {
	plus := index(x.arg, '+')
	fresh, readable := digits(x.arg[:plus], maxSeconds)
	if plus < len(x.arg) {
		stale, ok := digits(x.arg[plus+1:], maxSeconds)
		extension := Delta{seconds: stale, present: true, valid: ok}
		d.StaleWhileRevalidate = stricter(d.StaleWhileRevalidate, extension)
		d.StaleIfError = stricter(d.StaleIfError, extension)
		readable = readable && ok
	}
	readable = readable && !x.quoted // the note has no quotes here
	d.MaxAge = stricter(d.MaxAge, Delta{seconds: fresh, present: true, valid: readable})
	return readable
}

// restrict adds to d what s forbids.
func (d *ResponseDirectives) restrict(s *ResponseDirectives) {
	if s.NoStore {
		d.NoStore, d.MustUnderstand = true, false // which would lift it
	}
	d.Private = d.Private || s.Private
	d.NoCache = d.NoCache || s.NoCache
	d.MustRevalidate = d.MustRevalidate || s.MustRevalidate
	d.ProxyRevalidate = d.ProxyRevalidate || s.ProxyRevalidate
	d.PrivateFields = append(d.PrivateFields, s.PrivateFields...)
	d.NoCacheFields = append(d.NoCacheFields, s.NoCacheFields...)
}
