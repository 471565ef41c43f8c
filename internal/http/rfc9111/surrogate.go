package rfc9111

import "edgeproxy/internal/http/field"

// parseSurrogate parses Surrogate-Control (W3C note "Edge Architecture
// Specification", 4 August 2001, sections 2.2 and 4.2). Ok says that it replaces
// Cache-Control: all of it is valid, and it gives a lifetime. A field that only
// says how to process the body, content="ESI/1.0", says nothing about caching and
// must not hide Cache-Control. What d forbids counts in any case.
//
// Directives of Cache-Control count too, since senders mix them with those of the note.
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
			for p.nextWord() { // words are not sure, so they can only restrict
				d.applySurrogate(&p.at)
			}
		}
	}
	d.targeted = ok && (d.MaxAge.Present() || d.SMaxAge.Present())
	return d, d.targeted
}

// cutTargets cuts a member of the list at the first semicolon: the directive is
// before it, the surrogates for which it is meant are after it. This cache has no
// name in the sense of the note, so every target may mean it. A target named like a
// directive, such as "no-store", is taken as a directive after a wrong separator.
func cutTargets(member string) (said, targets string) {
	equals, end := index(member, '='), 0
	if equals+1 < len(member) && member[equals+1] == '"' {
		end = closingQuote(member, equals+1)
	}
	end += index(member[end:], ';')
	return member[:end], member[end:]
}

// applySurrogate applies x. It reports false if the argument should be a span of
// time and is invalid.
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

// applyExtensible applies max-age=N or max-age=N+M: fresh for N seconds, and usable
// stale for M more, for any reason (section 4.2.3). The operator's Stale does not
// extend that.
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
		d.NoStore, d.MustUnderstand = true, false // must-understand would cancel no-store
	}
	d.Private = d.Private || s.Private
	d.NoCache = d.NoCache || s.NoCache
	d.MustRevalidate = d.MustRevalidate || s.MustRevalidate
	d.ProxyRevalidate = d.ProxyRevalidate || s.ProxyRevalidate
	d.PrivateFields = append(d.PrivateFields, s.PrivateFields...)
	d.NoCacheFields = append(d.NoCacheFields, s.NoCacheFields...)
}
