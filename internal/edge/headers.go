package edge

import (
	"fmt"
	"maps"
	"slices"

	"edgeproxy/config"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/fieldrules"
)

// headerRules returns a route's header rules. Its error joins a
// *field.RuleError for each fault of the first bad section: request, response, own.
func headerRules(h config.Headers) (request, response, generated fieldrules.Rules, err error) {
	if request, err = fieldrules.ForRequests(h.Request.Remove, h.Request.Only, h.Request.Set); err != nil {
		return request, response, generated, fmt.Errorf("headers.request: %w", err)
	}
	if response, err = fieldrules.ForResponses(h.Response.Remove, h.Response.Set); err != nil {
		return request, response, generated, fmt.Errorf("headers.response: %w", err)
	}
	if generated, err = fieldrules.ForGenerated(h.Generated.Set); err != nil {
		return request, response, generated, fmt.Errorf("headers.generated: %w", err)
	}
	return request, response, generated, nil
}

// generatedRules returns the top-level headers.generated rules, for generated responses without a route. They were checked when the
// file was loaded.
func generatedRules(c *config.Config) fieldrules.Rules {
	generated, err := fieldrules.ForGenerated(c.Headers.Generated.Set)
	if err != nil {
		return fieldrules.Rules{}
	}
	return generated
}

// headerFaults checks the top-level header rules, and the effective ones of each route.
func headerFaults(c *config.Config) (faults config.Errors) {
	top := c.Headers
	_, err := fieldrules.ForRequests(top.Request.Remove, top.Request.Only, top.Request.Set)
	faults = append(faults, headerFaultsAt(c, "", "headers.request", top.Request.Remove, top.Request.Remove, top.Request.Only, err)...)
	_, err = fieldrules.ForResponses(top.Response.Remove, top.Response.Set)
	faults = append(faults, headerFaultsAt(c, "", "headers.response", top.Response.Remove, top.Response.Remove, nil, err)...)
	_, err = fieldrules.ForGenerated(top.Generated.Set)
	faults = append(faults, headerFaultsAt(c, "", "headers.generated", nil, nil, nil, err)...)
	for i := range c.Routes {
		r, at := &c.Routes[i], fmt.Sprintf("routes[%d].", i)
		request, err := fieldrules.ForRequests(r.Headers.Request.Remove, r.Headers.Request.Only, r.Headers.Request.Set)
		faults = append(faults, headerFaultsAt(c, at, "headers.request", r.Headers.Request.Remove, top.Request.Remove, r.Headers.Request.Only, err)...)
		_, err = fieldrules.ForResponses(r.Headers.Response.Remove, r.Headers.Response.Set)
		faults = append(faults, headerFaultsAt(c, at, "headers.response", r.Headers.Response.Remove, top.Response.Remove, nil, err)...)
		_, err = fieldrules.ForGenerated(r.Headers.Generated.Set)
		faults = append(faults, headerFaultsAt(c, at, "headers.generated", nil, nil, nil, err)...)
		faults = append(faults, keyedFieldFaults(c, at, r, &request)...)
	}
	return withoutDuplicates(faults)
}

// keyedFieldFaults returns a fault for each field that the key of r uses and its rules for requests drop. at is the path of r.
func keyedFieldFaults(c *config.Config, at string, r *config.Route, request *fieldrules.Rules) (faults config.Errors) {
	used := map[string]string{} // field names by the setting that uses them
	for _, name := range r.Cache.Key.Headers {
		used[name] = "cache.key.headers"
	}
	if len(r.Cache.Key.Cookies) > 0 {
		used["Cookie"] = "cache.key.cookies"
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !request.Drops(field.Canonical(name)) {
			continue
		}
		want := "must have no rule for " + name
		if len(r.Headers.Request.Only) > 0 {
			want = "needs " + name + " let through by the rules"
		}
		faults = append(faults, c.Fault(c.Given(at+"headers.request", "headers.request"), want+": "+used[name]+" uses it"))
	}
	return faults
}

// headerFaultsAt returns the faults of the rules of a route. Its list to remove has its own entries first, and then those of top; its list
// of the only fields is its own or the one at the top.
func headerFaultsAt(c *config.Config, route, path string, remove, top, only []string, err error) (faults config.Errors) {
	for _, e := range joinedErrors[*field.RuleError](err) {
		at := path + "." + e.Rule
		own := route + at
		switch i := slices.Index(remove, e.Name); {
		case e.Name == "":
		case e.Rule == "set":
			at += "." + e.Name
			own = route + at
		case e.Rule == "only":
			i = slices.Index(only, e.Name)
			at, own = fmt.Sprintf("%s[%d]", at, i), fmt.Sprintf("%s[%d]", own, i)
		case i >= 0:
			at = fmt.Sprintf("%s[%d]", at, slices.Index(top, e.Name))
			own = fmt.Sprintf("%s[%d]", own, i)
		}
		faults = append(faults, c.Fault(c.Given(own, at), "must be "+e.Want))
	}
	return faults
}

// withoutDuplicates leaves out repeated faults: one inherited setting can be at fault for several routes.
func withoutDuplicates(faults config.Errors) (out config.Errors) {
	seen := make(map[config.FieldError]bool, len(faults))
	for _, f := range faults {
		if !seen[*f] {
			seen[*f] = true
			out = append(out, f)
		}
	}
	return out
}

// fieldFaultsAt returns the faults of a section that maps field names to values.
func fieldFaultsAt(c *config.Config, path string, err error) (faults config.Errors) {
	for _, e := range joinedErrors[*field.RuleError](err) {
		faults = append(faults, c.Fault(path+"."+e.Name, "must be "+e.Want))
	}
	return faults
}
