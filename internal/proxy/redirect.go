package proxy

import (
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// This file sends a request on whose flight has brought a response that is not for it: to the
// flight of its variant, or of its own target.

// followOwn takes a seat in a flight for the exact target of x, if there is one: it began
// before the rule of the path was known, or the rule does not hold for its request.
func (p *Proxy) followOwn(x *exchange, admit bool) *reader {
	if x.rule == nil || x.redirected || x.base == x.exact.base {
		return nil
	}
	r, _ := p.flights.Follow(x.exact.key, flight.Admission{Following: admit, Client: x.who})
	return r
}

// onlyTarget returns the target that was asked for, where that was made by a rule
// that the response does not have: then it answers that target, and says nothing of others.
// Else it returns "".
func onlyTarget(j *job, resp *origin.Response) string {
	if j.by == nil || j.by.SaidBy(resp.Header) {
		return ""
	}
	return string(j.resource.Target)
}

// isForOtherTarget reports whether h, which x has had fetched, is the response to another
// target than that of x.
func (h *outcome) isForOtherTarget(x *exchange) bool {
	return h.only != "" && h.only != string(x.keyed)
}

// dropQueryRule has x go on as if its path had no rule.
func (x *exchange) dropQueryRule() {
	x.keying, x.rule, x.exactOnly, x.redirected, x.stale = x.exact, nil, true, true, nil
}

// baseKeyOf returns the key before Vary by which x would have the response that h is
// about; nil if none.
func (p *Proxy) baseKeyOf(x *exchange, h *outcome) []byte {
	switch _, part := wire.SearchKey(h.selected().name); {
	case part == nil:
		return x.exact.name[:x.exact.baseLen]
	case h.rule != nil:
		return p.keyingFor(x, h.rule).name
	case x.rule != nil: // stored before, and found by the rule of the flight
		return x.byRule.name[:x.byRule.baseLen]
	}
	return nil
}

// redirectFlight sends x from a flight whose response is not its own on to another: that of
// its variant, or of its own target.
func (p *Proxy) redirectFlight(x *exchange, h *outcome) {
	e := h.selected()
	x.redirected, x.renews = true, false
	_, byRule := wire.SearchKey(e.name)
	mine := string(p.baseKeyOf(x, h)) == string(e.base)
	switch {
	case !mine, byRule == nil:
		x.keying, x.rule, x.exactOnly = x.exact, nil, true
	case h.rule != nil && h.rule != x.rule: // learned meanwhile
		x.rule, x.byRule = h.rule, p.keyingFor(x, h.rule)
		x.keying = x.byRule
	}
	if mine {
		x.selectVariant(p, e.vary)
		p.recount(x, nil)
	}
}
