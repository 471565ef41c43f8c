package config

import (
	"slices"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/fieldrules"
)

func keyTable(k *cachekey.Options) table {
	const want = "must be a list of names, such as [lang]"
	return table{
		live("ignore_query", texts(&k.IgnoreQuery, "parameter names", want),
			"Parameters to drop, also from the request.").withExample("[utm_*, fbclid]"),
		live("only_query", texts(&k.OnlyQuery, "parameter names", want), "The only parameters to keep, in place of ignore_query.").withExample("[q, page]"),
		live("sort_query", boolean(&k.SortQuery, false), "true sorts parameters by name."),
		live("headers", texts(&k.Headers, "field names", want), "Request fields that select a response.").withExample("[X-Lang]"),
		live("cookies", texts(&k.Cookies, "cookie names", want), "Cookies that select a response.").withExample("[currency]"),
	}
}

// wantForwarded is the error for a field that a rule may not select by.
const wantForwarded = "must be a field that reaches the origin as the client sent it"

// keyRules checks the key rules at the top and, if they are valid, those in force of each route.
func (v *validator) keyRules() Errors {
	found := v.keyRulesAt("cache.key", &v.c.Cache.Key)
	if len(found) > 0 {
		return found
	}
	for i := range v.c.Routes {
		found = append(found, v.keyRulesAt(descendant(v.c.Routes[i].path, "cache.key"), &v.c.Routes[i].Cache.Key)...)
	}
	return found
}

func (v *validator) keyRulesAt(path string, k *cachekey.Options) (found Errors) {
	_, err := cachekey.New(*k)
	for _, e := range Joined[*cachekey.RuleError](err) {
		at := child(path, e.Rule)
		names := map[string][]string{"ignore_query": k.IgnoreQuery, "only_query": k.OnlyQuery, "headers": k.Headers, "cookies": k.Cookies}[e.Rule]
		if i := slices.Index(names, e.Value); i >= 0 {
			at = item(at, i)
		}
		found = append(found, v.src.fault(at, "must be "+e.Want))
	}
	for i, name := range k.Headers {
		if field.ValidName(name) && !fieldrules.Keyable(field.Canonical(name)) {
			found = append(found, v.src.fault(item(child(path, "headers"), i), wantForwarded))
		}
	}
	return found
}

// keysWithUsers refuses Authorization in the key of a route with users: the route does not forward it.
func (v *validator) keysWithUsers() (found Errors) {
	for i := range v.c.Routes {
		r := &v.c.Routes[i]
		for n, name := range r.Cache.Key.Headers {
			if r.Access.BasicAuth.UsersFile != "" && field.Canonical(name) == "Authorization" {
				at := v.src.firstGiven(item(descendant(v.c.Routes[i].path, "cache.key.headers"), n), item("cache.key.headers", n))
				found = append(found, v.src.fault(at, "must be another field: a route with basic_auth does not forward it"))
			}
		}
	}
	return found
}
