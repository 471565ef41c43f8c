package proxy

import (
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// This file applies the rules of a route for fields (internal/route/fieldrules), and says which URL a message is about.

// RequestRules returns the rules of a route for fields on their way to the origin: those of fieldrules.ForRequests, which cannot
// change what is ours to say or to evaluate.
func RequestRules(remove, only []string, set map[string]string) (fieldrules.Rules, error) {
	return fieldrules.ForRequests(remove, only, set, func(name string) bool {
		name = field.Hyphenated(name)
		return framing(name) || ours(name) || dropRangeAndConditions(name) || precondition(name)
	})
}

// responseFields returns the fields of an answer to request by the rules of r for responses.
func (r *route) responseFields(l field.List, request *origin.Request) field.List {
	if !r.Response.HasPlaceholders() {
		return r.Response.Apply(l)
	}
	scheme, _ := request.Header.Get("X-Forwarded-Proto")
	host, _ := request.Header.Get("X-Forwarded-Host")
	return r.Response.AppendSet(l.Without(r.Response.Drops), template.URL{Scheme: scheme, Host: []byte(host), Target: []byte(request.Keyed)}, nil)
}

// askedURL is what the client of x asks for, for the fields of our own answers.
func (x *exchange) askedURL() template.URL {
	return template.URL{Scheme: x.scheme, Host: x.host, Target: x.target.Raw}
}

// originURL is what x asks the origin for, for the rules of requests.
func (x *exchange) originURL() template.URL {
	return template.URL{Scheme: x.scheme, Host: x.host, Target: x.forwarded()}
}

// keyedOrNormal is the target of x as it is keyed, or in its normal form where x has no key.
func (x *exchange) keyedOrNormal() []byte {
	if x.keyed != nil {
		return x.keyed
	}
	return x.target.Normal
}

// makeAnew has the fields that j sets be about another target than that of x.
func (j *job) makeAnew(x *exchange, target []byte) {
	if rules := &j.route.Request; rules.HasPlaceholders() {
		u := x.originURL()
		u.Target = target
		j.request.Header = rules.MakeAnew(j.request.Header, u, x)
	}
	if j.request.Keyed != "" {
		j.request.Keyed = string(target)
	}
}

// applyRules takes out of x what its route takes from requests before anything is made
// of them. The fields of rules are looked at where fields are forwarded and keyed.
func (x *exchange) applyRules() {
	rules := &x.route.Request
	x.asks.authorization = x.asks.authorization && !rules.Drops("Authorization")
	x.asks.cookie = x.asks.cookie && !rules.Drops("Cookie")
	x.stripCookies()
}
