package edge

import (
	"fmt"
	"slices"

	"edgeproxy/config"
	"edgeproxy/internal/field"
	"edgeproxy/internal/fieldrules"
	"edgeproxy/internal/proxy"
)

// headerRules returns a route's header rules. Its error joins a
// *field.RuleError for each fault of the first bad section: request, response, own.
func headerRules(h config.Headers) (request, response, own fieldrules.Rules, err error) {
	if request, err = proxy.RequestRules(h.Request.Remove, h.Request.Set); err != nil {
		return request, response, own, fmt.Errorf("headers.request: %w", err)
	}
	if response, err = fieldrules.ForResponses(h.Response.Remove, h.Response.Set); err != nil {
		return request, response, own, fmt.Errorf("headers.response: %w", err)
	}
	if own, err = fieldrules.ForOwn(h.Own.Set); err != nil {
		return request, response, own, fmt.Errorf("headers.own: %w", err)
	}
	return request, response, own, nil
}

// ownRules returns the top-level headers.own rules, for generated responses without a route. They were checked when the
// file was loaded.
func ownRules(c *config.Config) fieldrules.Rules {
	own, err := fieldrules.ForOwn(c.Headers.Own.Set)
	if err != nil {
		return fieldrules.Rules{}
	}
	return own
}

// headerFaults checks the top-level header rules, and the effective ones of each route.
func headerFaults(c *config.Config) (faults config.Errors) {
	top := c.Headers
	_, err := proxy.RequestRules(top.Request.Remove, top.Request.Set)
	faults = append(faults, headerFaultsAt(c, "", "headers.request", top.Request, top.Request, err)...)
	_, err = fieldrules.ForResponses(top.Response.Remove, top.Response.Set)
	faults = append(faults, headerFaultsAt(c, "", "headers.response", top.Response, top.Response, err)...)
	_, err = fieldrules.ForOwn(top.Own.Set)
	faults = append(faults, headerFaultsAt(c, "", "headers.own", config.FieldRules{Set: top.Own.Set}, config.FieldRules{}, err)...)
	for i, r := range c.Routes {
		at := fmt.Sprintf("routes[%d].", i)
		request, err := proxy.RequestRules(r.Headers.Request.Remove, r.Headers.Request.Set)
		faults = append(faults, headerFaultsAt(c, at, "headers.request", r.Headers.Request, top.Request, err)...)
		_, err = fieldrules.ForResponses(r.Headers.Response.Remove, r.Headers.Response.Set)
		faults = append(faults, headerFaultsAt(c, at, "headers.response", r.Headers.Response, top.Response, err)...)
		_, err = fieldrules.ForOwn(r.Headers.Own.Set)
		faults = append(faults, headerFaultsAt(c, at, "headers.own", config.FieldRules{Set: r.Headers.Own.Set}, config.FieldRules{}, err)...)
		for _, name := range r.Cache.Key.Headers {
			if request.Drops(field.Canonical(name)) {
				faults = append(faults, c.Fault(c.Given(at+"headers.request", "headers.request"), "want no rule for "+name+": cache.key.headers uses it"))
			}
		}
	}
	return withoutDuplicates(faults)
}

// headerFaultsAt returns the faults of the rules r of a route. r includes rules inherited from top. In a list the
// route's own entries come first.
func headerFaultsAt(c *config.Config, route, path string, r, top config.FieldRules, err error) (faults config.Errors) {
	for _, e := range joinedErrors[*field.RuleError](err) {
		at := path + "." + e.Rule
		own := route + at
		switch i := slices.Index(r.Remove, e.Name); {
		case e.Name == "":
		case e.Rule == "set":
			at += "." + e.Name
			own = route + at
		case i >= 0:
			at = fmt.Sprintf("%s[%d]", at, slices.Index(top.Remove, e.Name))
			own = fmt.Sprintf("%s[%d]", own, i)
		}
		faults = append(faults, c.Fault(c.Given(own, at), "want "+e.Want))
	}
	return faults
}

// withoutDuplicates leaves out repeated faults: one inherited setting can be at fault for several routes.
func withoutDuplicates(faults config.Errors) (out config.Errors) {
	for _, f := range faults {
		if !slices.ContainsFunc(out, func(o *config.FieldError) bool { return *o == *f }) {
			out = append(out, f)
		}
	}
	return out
}

// fieldFaultsAt returns the faults of a section that maps field names to values.
func fieldFaultsAt(c *config.Config, path string, err error) (faults config.Errors) {
	for _, e := range joinedErrors[*field.RuleError](err) {
		faults = append(faults, c.Fault(path+"."+e.Name, "want "+e.Want))
	}
	return faults
}
