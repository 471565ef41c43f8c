package config

import (
	"slices"

	"edgeproxy/internal/admission/policy"
)

// resolve sets c's default route, the settings in force of every route, and the windows of
// the filters. It may run again after a change.
func resolve(c *Config, src *source) {
	if !src.given("routes") && len(c.Origins) == 1 {
		c.Routes = []Route{defaultRoute(c.Origins[0].Name)}
	}
	resolveWindow(&c.Admission.SecondHit, src, "admission.second_hit", fixedSecondHit)
	resolveWindow(&c.Admission.Counting.Window, src, "admission.counting", fixedCounting)
	for i := range c.Routes {
		c.Routes[i].Inherited = c.inherited(src, c.Routes[i].path, &c.Routes[i].ownInherited)
		c.Routes[i].Admission = c.rule(c.Routes[i].ownRule)
		c.Routes[i].Cache = c.caching(src, child(c.Routes[i].path, "cache"), &c.Routes[i].ownCache)
		c.Routes[i].Compress = c.compress(src, child(c.Routes[i].path, "compress"), &c.Routes[i].ownCompress)
		c.Routes[i].Rate = c.rate(src, descendant(c.Routes[i].path, "limits.rate"), &c.Routes[i].ownRate)
		c.Routes[i].AccessLog = c.routeLog(src, child(c.Routes[i].path, "access_log"), &c.Routes[i].ownLog)
	}
	for i, s := range c.Admission.Shadow {
		if s.Policy == policy.Unset { // validate refuses it
			continue
		}
		said := src.given(child(item("admission.shadow", i), "more_than"))
		if c.Admission.Shadow[i] = c.rule(s); said {
			c.Admission.Shadow[i].MoreThan = s.MoreThan
		}
	}
}

// usesAny reports whether a route has a policy with the property.
func (c *Config) usesAny(property func(policy.Policy) bool) bool {
	return slices.ContainsFunc(policy.All(), func(p policy.Policy) bool { return property(p) && c.uses(p) })
}

// shadows reports whether a shadow policy is p.
func (c *Config) shadows(p policy.Policy) bool {
	return slices.ContainsFunc(c.Admission.Shadow, func(r policy.Rule) bool { return r.Policy == p })
}

// uses reports whether a route has the policy p. If there is no route, it reports
// that for the default route.
func (c *Config) uses(p policy.Policy) bool {
	if len(c.Routes) == 0 {
		return c.Admission.Policy == p
	}
	return slices.ContainsFunc(c.Routes, func(r Route) bool { return c.rule(r.ownRule).Policy == p })
}
