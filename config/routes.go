package config

import (
	"slices"
	"strconv"
	"strings"

	"edgeproxy/internal/admission/policy"
)

// routes checks each route, and that there is one.
func (v *validator) routes() {
	c := v.c
	if !v.src.given("routes") {
		if len(c.Origins) > 1 && !v.incomplete {
			v.fail("routes", missing("routes that say which requests go to which of the origins"))
		}
		return
	}
	if len(c.Routes) == 0 && v.noErrorAt("routes") {
		v.fail("routes", "must be at least one route, or remove the key if there is one origin")
	}
	names, origins := map[string]string{}, v.originNames()
	for i := range c.Routes {
		r, path := &c.Routes[i], c.Routes[i].path
		v.routeName(child(path, "name"), r.Name, names)
		v.match(child(path, "match"), &r.Match)
		v.redirectAndRespond(path, r)
		v.rewrite(child(path, "rewrite"), r)
		v.ownInherited(path, r)
		v.routeOrigin(child(path, "origin"), r, origins)
		if at := child(path, "cache"); v.src.given(at) {
			v.caching(at, &r.ownCache)
		}
	}
}

// noRoute is the label of requests that match no route, in metrics.
const noRoute = "-"

// routeName checks a route's name; names maps the names so far to the paths of their routes.
func (v *validator) routeName(path, name string, names map[string]string) {
	if !v.src.given(path) && v.noErrorAt(path) {
		v.fail(path, missing("the route: the name is its label in metrics"))
		return
	}
	v.name(path, name)
	if name == noRoute && v.noErrorAt(path) {
		v.fail(path, "must be another name: this one is the label of requests without a route")
	}
	if other, ok := names[name]; ok && v.noErrorAt(path) {
		v.fail(path, "must be a unique name: this is the name of "+other+v.otherFile(path, other))
	}
	names[name] = strings.TrimSuffix(path, ".name")
}

// otherFile says where other is if that is in another file than path.
func (v *validator) otherFile(path, other string) string {
	here, _ := v.src.locate(path)
	there, _ := v.src.locate(other)
	if here.file == there.file {
		return ""
	}
	return " in " + v.src.text(there)
}

// originNames returns the names of the origins, sorted.
func (v *validator) originNames() []string {
	names := make([]string, len(v.c.Origins))
	for i := range v.c.Origins {
		names[i] = v.c.Origins[i].Name
	}
	slices.Sort(names)
	return names
}

// routeOrigin checks the origin of a route. known are the names of the origins, sorted.
func (v *validator) routeOrigin(path string, r *Route, known []string) {
	switch {
	case !v.noErrorAt(path):
	case r.AnswersItself():
		if r.Origin != "" {
			v.fail(path, "must have no origin beside redirect or respond")
		}
	case !v.src.given(path):
		v.fail(path, missing("an origin, or write redirect or respond in its place"))
	case len(known) == 0 || v.incomplete || isIn(known, r.Origin):
	default:
		v.fail(path, "must be the name of an origin: "+oneOf(atMostNamed(known)))
	}
}

// maxNamedOrigins is the largest number of origins that an error names. A file with thousands may have as many errors.
const maxNamedOrigins = 20

// atMostNamed returns names for an error, the first ones of many.
func atMostNamed(names []string) []string {
	if len(names) <= maxNamedOrigins {
		return names
	}
	return append(slices.Clone(names[:maxNamedOrigins]), strconv.Itoa(len(names)-maxNamedOrigins)+" others")
}

// isIn reports whether sorted has name.
func isIn(sorted []string, name string) bool {
	_, found := slices.BinarySearch(sorted, name)
	return found
}

// unusedSections refuses a filter's section if no route uses its policy: the operator
// expects an effect.
func (v *validator) unusedSections() {
	if v.incomplete || !v.noErrorAt("admission.policy") || v.src.given("routes") && len(v.c.Routes) == 0 {
		return
	}
	for i := range v.c.Routes {
		if !v.noErrorAt(child(child(v.c.Routes[i].path, "admission"), "policy")) {
			return
		}
	}
	for _, p := range policy.All() {
		if at := child("admission", p.Section()); p.Section() != "" && v.src.given(at) && !v.c.uses(p) && !v.c.shadows(p) {
			v.addError(at, "", "remove the section: no route uses the policy "+p.String())
		}
	}
}

// unusedMoreThan refuses a route's more_than if its policy is not counting.
func (v *validator) unusedMoreThan() {
	for _, r := range v.c.Routes {
		path := child(r.path, "admission")
		policyAt, moreThan := child(path, "policy"), child(path, "more_than")
		rule := v.c.rule(r.ownRule)
		if v.src.given(moreThan) && rule.Policy != policy.Counting && v.noErrorAt(policyAt, moreThan, "admission.policy") {
			v.fail(moreThan, "remove it: the route's policy is "+rule.Policy.String()+", not counting")
		}
	}
}
