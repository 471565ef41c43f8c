package edge

import (
	"fmt"
	"slices"

	"edgeproxy/config"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/fieldrules"
)

// keyFaults checks the top-level key rules and, if they are valid, the effective
// ones of each route.
func keyFaults(c *config.Config) config.Errors {
	faults := keyFaultsAt(c, "cache.key", c.Cache.Key)
	if len(faults) > 0 {
		return faults
	}
	for i := range c.Routes {
		faults = append(faults, keyFaultsAt(c, fmt.Sprintf("routes[%d].cache.key", i), c.Routes[i].Cache.Key)...)
	}
	return faults
}

func keyFaultsAt(c *config.Config, path string, k cachekey.Options) (faults config.Errors) {
	_, err := cachekey.New(k)
	for _, e := range joinedErrors[*cachekey.RuleError](err) {
		at := path + "." + e.Rule
		names := map[string][]string{
			"ignore_query": k.IgnoreQuery, "only_query": k.OnlyQuery, "headers": k.Headers, "cookies": k.Cookies,
		}[e.Rule]
		if i := slices.Index(names, e.Value); i >= 0 {
			at = fmt.Sprintf("%s[%d]", at, i)
		}
		faults = append(faults, c.Fault(at, "must be "+e.Want))
	}
	for i, name := range k.Headers {
		if field.ValidName(name) && !fieldrules.Keyable(field.Canonical(name)) {
			faults = append(faults, c.Fault(fmt.Sprintf("%s.headers[%d]", path, i),
				"must be a field that reaches the origin as the client sent it"))
		}
	}
	return faults
}
