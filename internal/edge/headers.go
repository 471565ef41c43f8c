package edge

import (
	"fmt"

	"edgeproxy/config"
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
