package config

import (
	"slices"

	"edgeproxy/internal/policy"
)

// resolve gives c its default route, every route the rule it goes by, and the filters
// their windows. It may run again after a change.
func resolve(c *Config, src *source) {
	if !src.given("routes") && len(c.Origins) == 1 {
		c.Routes = []Route{defaultRoute(c.Origins[0].Name)}
	}
	c.Admission.SecondHit.resolve(src, "admission.second_hit", fixedSecondHit)
	c.Admission.Counting.resolve(src, "admission.counting", fixedCounting)
	for i := range c.Routes {
		c.Routes[i].Inherited = c.inherited(src, item("routes", i), &c.Routes[i].ownInherited)
		c.Routes[i].Admission = c.rule(c.Routes[i].ownRule)
		c.Routes[i].Cache = c.caching(src, child(item("routes", i), "cache"), &c.Routes[i].ownCache)
		c.Routes[i].Compress = c.compress(src, child(item("routes", i), "compress"), &c.Routes[i].ownCompress)
		c.Routes[i].Rate = c.rate(src, descendant(item("routes", i), "limits.rate"), &c.Routes[i].ownRate)
		c.Routes[i].AccessLog = c.routeLog(src, child(item("routes", i), "access_log"), &c.Routes[i].ownLog)
	}
	for i, s := range c.Admission.Shadow {
		if s.Policy == "" { // which is refused
			continue
		}
		said := src.given(child(item("admission.shadow", i), "more_than"))
		if c.Admission.Shadow[i] = c.rule(s); said {
			c.Admission.Shadow[i].MoreThan = s.MoreThan
		}
	}
}

// usesAny reports whether a route goes by a policy of which the table of policies says
// this.
func (c *Config) usesAny(what func(policy.Policy) bool) bool {
	return slices.ContainsFunc(policies(), func(p Policy) bool { return p.has(what) && c.uses(p) })
}

// shadows reports whether a shadow policy is p.
func (c *Config) shadows(p Policy) bool {
	return slices.ContainsFunc(c.Admission.Shadow, func(r Rule) bool { return r.Policy == p })
}

// uses reports whether a route goes by the policy p; where there is no route,
// whether the one that is added would.
func (c *Config) uses(p Policy) bool {
	if len(c.Routes) == 0 {
		return c.Admission.Policy == p
	}
	return slices.ContainsFunc(c.Routes, func(r Route) bool { return c.rule(r.ownRule).Policy == p })
}
