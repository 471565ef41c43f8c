package config

import (
	"cmp"
	"slices"
)

// resolve gives c its default route and every route the rule it goes by. It may
// run again after a change.
func resolve(c *Config, src *source) {
	if !src.given("routes") && len(c.Origins) == 1 {
		c.Routes = []Route{defaultRoute(c.Origins[0].Name)}
	}
	for i := range c.Routes {
		c.Routes[i].Admission = c.rule(c.Routes[i].own)
	}
}

// rule returns what a route goes by that asks for own.
func (c *Config) rule(own Rule) Rule {
	r := Rule{Policy: cmp.Or(own.Policy, c.Admission.Policy)}
	if r.Policy == PolicyCounting {
		r.MoreThan = cmp.Or(own.MoreThan, c.Admission.Counting.MoreThan)
	}
	return r
}

// uses reports whether a route goes by the policy p; where there is no route,
// whether the one that is added would.
func (c *Config) uses(p Policy) bool {
	if len(c.Routes) == 0 {
		return c.Admission.Policy == p
	}
	return slices.ContainsFunc(c.Routes, func(r Route) bool { return c.rule(r.own).Policy == p })
}
