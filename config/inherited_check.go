package config

import (
	"maps"
	"slices"
	"strings"
)

// inherit checks the settings at the top that routes inherit.
func (v *validator) inherit() {
	top := &v.c.Inherited
	v.basicAuth("access.basic_auth", &top.Access.BasicAuth, &top.Access.BasicAuth)
	v.pageFiles("error_pages", top.ErrorPages)
	for path, values := range map[string]map[string]string{
		"error_pages": top.ErrorPages, "headers.request.set": top.Headers.Request.Set, "headers.response.set": top.Headers.Response.Set,
		"headers.generated.set": top.Headers.Generated.Set,
	} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if at := child(path, name); values[name] == nullValue && v.noErrorAt(at) {
				v.failWithValue(at, "nothing", "must be text: null is only for routes, and removes a value set here")
			}
		}
	}
	const intercept = "intercept_errors"
	if top.InterceptErrors && !v.incomplete && v.noErrorAt("routes", "error_pages", intercept) && !slices.ContainsFunc(v.c.Routes, func(r Route) bool { return len(r.ErrorPages) > 0 }) {
		v.fail(intercept, "needs error_pages as well, here or in a route: they replace the intercepted responses")
	}
}

// ownInherited checks the settings of a route that it would inherit otherwise.
func (v *validator) ownInherited(path string, r *Route) {
	own, top := &r.ownInherited, &v.c.Inherited
	v.timeoutsWithoutOrigin(path, r)
	v.errorPages(path, r)
	v.basicAuth(descendant(path, "access.basic_auth"), &own.Access.BasicAuth, &r.Access.BasicAuth)
	v.emptyList(descendant(path, "access.allow"), own.Access.Allow == nil, len(top.Access.Allow),
		"must be a list, or all for every client: an empty list does not say whether access.allow at the top applies")
	v.emptyList(descendant(path, "access.deny"), own.Access.Deny == nil, len(top.Access.Deny),
		"must be a list, or none: an empty list does not say whether access.deny at the top applies")
	v.nullNames(child(path, "error_pages"), own.ErrorPages, top.ErrorPages, nil)
	v.nullNames(descendant(path, "headers.generated.set"), own.Headers.Generated.Set, top.Headers.Generated.Set, nil)
	v.emptyList(descendant(path, "headers.request.only"), len(own.Headers.Request.Only) == 0, len(top.Headers.Request.Only),
		`must be names, or ["*"] for every field: an empty list does not say whether headers.request.only at the top applies`)
	for name, rules := range map[string][2]*FieldRules{"request": {&own.Headers.Request.FieldRules, &top.Headers.Request.FieldRules}, "response": {&own.Headers.Response, &top.Headers.Response}} {
		at := descendant(path, "headers."+name)
		v.nullNames(child(at, "set"), rules[0].Set, rules[1].Set, rules[1].Remove)
		v.emptyList(child(at, "remove"), len(rules[0].Remove) == 0, len(rules[1].Remove),
			"must be names, or remove the key: the names at the top apply as well, and null under set removes one")
	}
}

// emptyList refuses an empty list of a route if the one at the top is not empty: it is not clear
// which is meant to apply.
func (v *validator) emptyList(path string, empty bool, atTop int, want string) {
	if empty && atTop > 0 && v.src.given(path) && v.noErrorAt(path) {
		v.failWithValue(path, "[]", want)
	}
}

// nullNames checks that each name with null in a route stands at the top, among values or in a
// list of names. It refuses an empty section if the one at the top is not empty.
func (v *validator) nullNames(path string, own, top map[string]string, list []string) {
	if len(own) == 0 && len(top) > 0 && v.src.given(path) && v.noErrorAt(path) {
		v.failWithValue(path, "{}", "must be names, or remove the key: the names at the top apply as well, and null removes one")
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		above := named(top, name) || slices.ContainsFunc(list, func(n string) bool { return strings.EqualFold(n, name) })
		switch at := child(path, name); {
		case own[name] != nullValue || above || !v.noErrorAt(at):
		case v.src.setAround[at]: // the route around this one, whose value it does not have
			delete(own, name)
		default:
			v.failWithValue(at, "nothing", "must be text: null removes a name that is set at the top or in the route around, and this name is not set there")
		}
	}
}

// warnOfInherited warns of settings at the top that apply to no route.
func (c *Config) warnOfInherited(warn func(path, text string)) {
	top := &c.Inherited
	idle := func(path string, said bool, holds func(r *Route) bool) {
		if !said || !c.src.given(path) || slices.ContainsFunc(c.Routes, func(r Route) bool { return holds(&r) }) {
			return
		}
		warn(path, "has no effect: it applies to no route")
	}
	paths := c.routePaths()
	asks := func(r *Route, key string) bool { return !r.AnswersItself() && !c.src.given(child(paths[r.Name], key)) }
	idle("total_timeout", top.TotalTimeout > 0, func(r *Route) bool { return asks(r, "total_timeout") })
	idle("intercept_errors", top.InterceptErrors, func(r *Route) bool { return asks(r, "intercept_errors") && len(r.ErrorPages) > 0 })
	idle("allow_ambiguous_path", top.AllowAmbiguousPath, func(r *Route) bool { return asks(r, "allow_ambiguous_path") })
	idle("unusual_field_names", top.UnusualNames, func(r *Route) bool { return asks(r, "unusual_field_names") })
	idle("access.allow", len(top.Access.Allow) > 0, func(r *Route) bool { return r.ownInherited.Access.Allow == nil })
	idle("access.deny", len(top.Access.Deny) > 0, func(r *Route) bool { return !isNone(r.ownInherited.Access.Deny) })
	idle("access.basic_auth", top.Access.BasicAuth.UsersFile != "", func(r *Route) bool { return r.Access.BasicAuth.UsersFile == top.Access.BasicAuth.UsersFile })
	for _, status := range slices.Sorted(maps.Keys(top.ErrorPages)) {
		idle(child("error_pages", status), true, func(r *Route) bool { return r.ErrorPages[status] == top.ErrorPages[status] })
	}
	idle("headers.request.only", len(top.Headers.Request.Only) > 0, func(r *Route) bool {
		return !r.AnswersItself() && slices.Equal(r.Headers.Request.Only, top.Headers.Request.Only)
	})
	c.unusedFields(idle, "headers.request", &top.Headers.Request.FieldRules, func(r *Route) *FieldRules { return &r.Headers.Request.FieldRules })
	c.unusedFields(idle, "headers.response", &top.Headers.Response, func(r *Route) *FieldRules { return &r.Headers.Response })
}

// unusedFields checks for each rule at the top whether it applies to a route that asks an origin.
func (c *Config) unusedFields(idle func(string, bool, func(*Route) bool), path string, top *FieldRules, of func(*Route) *FieldRules) {
	for _, name := range slices.Sorted(maps.Keys(top.Set)) {
		idle(child(child(path, "set"), name), true, func(r *Route) bool { return !r.AnswersItself() && of(r).Set[name] == top.Set[name] })
	}
	for i, name := range top.Remove {
		idle(item(child(path, "remove"), i), true, func(r *Route) bool { return !r.AnswersItself() && slices.Contains(of(r).Remove, name) })
	}
}

// routePaths returns the path of each route of c by its name.
func (c *Config) routePaths() map[string]string {
	out := make(map[string]string, len(c.Routes))
	for i := range c.Routes {
		out[c.Routes[i].Name] = c.Routes[i].path
	}
	return out
}
