package proxy

import (
	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// This file decides which key a request is a sighting of. It is the key of the URL, as long as no Vary is known, or the URL
// varies by Accept-Encoding alone, which has few normalised values. Otherwise it is the key of the variant. The fields that select the
// variant are known from what is stored of the URL, from its last response, or from the response to this request. In the last case the
// request is recorded under the variant's key as well, and that one decides. It is counted as one request.

// sighting is the key that a request is a sighting of, and what admission has decided.
type sighting struct {
	countedKey cache.Key // the key
	variant    bool      // countedKey is the key of a variant
	sighted    bool      // the sighting was recorded
	renews     bool      // a stored response is renewed, which the filter is not asked about
	verdict    admission.Verdict

	// others are keys that the request was recorded under before. It is recorded under each only once.
	others [3]recorded
}

// recorded is a key that the request was recorded under, with what the filter said then.
type recorded struct {
	key     cache.Key
	verdict admission.Verdict
}

// mayVary reports whether variants by these fields are counted each by its own key.
func mayVary(names []string) bool {
	return len(names) > 1 || len(names) == 1 && names[0] != "Accept-Encoding"
}

// fillKey returns the key under which fills of a part are counted.
func fillKey(key, urlKey cache.Key, vary []string) cache.Key {
	if mayVary(vary) {
		return key
	}
	return urlKey
}

// keyByLastVary sets the key of x, for which nothing is stored, by the Vary of the last response of its URL, or if that is not
// remembered, by the first of the lists of names by which what is stored of the URL varies. It allocates nothing.
func (p *Proxy) keyByLastVary(x *exchange, lists cache.Lists) {
	if names := p.varyFields.Names(x.baseKey.Hi, x.baseKey.Lo); names != nil {
		x.selectVariant(p, names)
		x.guessed = lists.Len() == 0
	} else if lists.Len() > 0 {
		x.selectVariant(p, lists.At(0))
	}
}

// countBy sets the key that x is a sighting of to that of its variant, if that is known before the response is. x.countedKey is the
// key of the URL until then. It allocates nothing.
func (p *Proxy) countBy(x *exchange) {
	switch {
	case mayVary(x.vary):
		x.countedKey, x.variant = x.key, true
	case mayVary(x.partsVary):
		n := len(x.scratch)
		x.scratch = append(x.scratch, x.exact.name[:x.exact.baseLen]...)
		x.scratch = x.appendVariant(x.scratch, x.partsVary)
		x.countedKey, x.variant = p.Hasher.Sum(x.scratch[n:]), true
		x.scratch = x.scratch[:n]
	}
}

// count makes the request a sighting of key, and reports whether that has changed. If it was a sighting of another key so far, it
// is recorded under key as well, unless that was done before, and key decides.
func (s *sighting) count(g *admission.Gate, r admission.Rule, key cache.Key, variant bool) bool {
	if key == s.countedKey {
		return false
	}
	last := recorded{s.countedKey, s.verdict}
	s.countedKey, s.variant = key, variant
	if !s.sighted {
		return false
	}
	v, known := s.otherVerdict(key)
	if !known {
		v = g.SightAlso(r, s.verdict, key.Hi, key.Lo)
	}
	copy(s.others[1:], s.others[:])
	s.others[0] = last
	if s.verdict = v; s.renews {
		s.verdict = admission.Verdict{Admit: true}
	}
	return true
}

func (s *sighting) otherVerdict(key cache.Key) (admission.Verdict, bool) {
	for _, o := range s.others {
		if o.key == key {
			return o.verdict, true
		}
	}
	return admission.Verdict{}, false
}

// countByEntry makes the request of j a sighting of its response's key, whose entry will be e. It remembers the Vary of the
// response.
func (p *Proxy) countByEntry(j *job, h *outcome, e *cache.Entry) {
	baseKey, key, variant := e.URL, j.countedKey, mayVary(e.Vary)
	if h.part {
		baseKey = j.exact.baseKey
	}
	if variant {
		p.varyFields.Learn(baseKey.Hi, baseKey.Lo, e.Vary)
	} else {
		p.varyFields.Learn(baseKey.Hi, baseKey.Lo, nil)
	}
	switch {
	case variant && h.part:
		key = p.Hasher.Sum(j.variant(j.exact.name, e.Vary))
	case variant:
		key = e.Key
	case j.sighting.variant:
		key = j.urlKey
	}
	switch {
	case h.part:
		j.fillKey = fillKey(e.Key, e.URL, e.Vary)
	case key != j.countedKey:
		j.fillKey = key
	}
	if j.count(p.Gate, j.route.Rule, key, variant) {
		s := j.sighting
		h.counts = &s
	}
}

// countHead is countByEntry for a HEAD, if the response to a GET would be storable.
func (p *Proxy) countHead(j *job, resp *origin.Response, h *outcome) {
	facts := j.facts
	facts.Method = "GET"
	if rfc9111.Judge(facts, responseFacts(resp), j.route.Options).Why != reason.None {
		return
	}
	if e := p.entryWithoutBody(j, resp, h); e != nil {
		p.countByEntry(j, h, e)
	}
}

// knowsVariant reports whether the response to j may be stored as the variant that it is. The request of j is no sighting. So the
// key must be the one that was decided about before, or admission must know it.
func (p *Proxy) knowsVariant(j *job, resp *origin.Response) bool {
	names, _ := rfc9111.VaryNames(resp.Header)
	key := j.exact.urlKey
	if mayVary(names) {
		key = p.Hasher.Sum(j.variant(j.exact.name, names))
	}
	return key == j.countedKey || p.Gate.Knows(j.route.Rule, key.Hi, key.Lo)
}

// countByOutcome makes x, which has led the fetch of h, a sighting of the key of h.
func (x *lookup) countByOutcome(h *outcome) {
	if h.counts != nil {
		x.sighting = *h.counts
	}
}

// recount makes x a sighting of the key that is known by now: that of e, or if e is nil, that of the variant which x selects.
func (p *Proxy) recount(x *exchange, e *selected) {
	switch {
	case e != nil && mayVary(e.vary):
		x.count(p.Gate, x.route.Rule, e.key, true)
	case e == nil && mayVary(x.vary):
		x.count(p.Gate, x.route.Rule, x.key, true)
	case x.variant:
		x.count(p.Gate, x.route.Rule, x.urlKey, false)
	}
}

// countByFlight makes x a sighting of the key of h, its answer from the flight of r. It returns false if h has to be stored for x
// and there is no memory for that.
func (p *Proxy) countByFlight(x *exchange, r *reader, h *outcome, leads bool) bool {
	switch {
	case leads && h.changesKey(): // what the answer says of itself, followers decide as well
		x.countByOutcome(h)
		r.Flight().AwaitDecisions()
	case leads:
	case h.changesKey() || x.variant:
		e := h.selected()
		p.recount(x, &e)
		return r.Admit(x.route.Rule.Joined(x.verdict).Admit)
	}
	return true
}

// changesKey reports whether requests that share h may have been sightings of another key before h arrived.
func (h *outcome) changesKey() bool {
	return h.counts != nil || mayVary(h.selected().vary)
}

// count is countByFlight for a slice. The sighting of the request is that of the slicing's job.
func (sl *slice) count(r *reader, h *outcome, leads bool) bool {
	s := sl.s
	if leads {
		if h.counts != nil {
			s.job.sighting = *h.counts
		}
		if h.changesKey() {
			r.Flight().AwaitDecisions()
		}
		return true
	}
	switch e := h.selected(); {
	case mayVary(e.vary):
		key := s.p.Hasher.Sum(s.job.variant(s.job.exact.name, e.vary))
		s.job.count(s.p.Gate, s.job.route.Rule, key, true)
	case s.job.sighting.variant:
		s.job.count(s.p.Gate, s.job.route.Rule, s.job.urlKey, false)
	}
	return r.Admit(s.admission().Following)
}

// admission returns what the flight for a slice has to know of the sighting of the request.
func (s *slicing) admission() flight.Admission {
	v := s.job.verdict
	return flight.Admission{Leading: v.Admit, Following: s.job.route.Rule.Joined(v).Admit, Client: s.client}
}
