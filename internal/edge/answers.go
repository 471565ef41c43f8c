package edge

import (
	"fmt"
	"strconv"

	"edgeproxy/config"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// ownAnswer returns the response that a route generates itself (redirect or respond), nil if it has an origin.
// Its error joins a *field.RuleError for each bad field.
func ownAnswer(r *config.Route) (*proxy.OwnAnswer, error) {
	switch {
	case r.Redirect.To != "":
		to, err := template.ParseLocation(r.Redirect.To)
		if err != nil {
			return nil, fmt.Errorf("redirect: %w", err)
		}
		status, err := strconv.Atoi(string(r.Redirect.Status))
		return &proxy.OwnAnswer{Status: status, Location: to}, err
	case r.Respond.Status != 0:
		rules, err := fieldrules.ForAnswers(r.Respond.Headers)
		if err != nil {
			return nil, fmt.Errorf("respond: %w", err)
		}
		return &proxy.OwnAnswer{Status: r.Respond.Status, Fields: rules, Body: []byte(r.Respond.Body)}, nil
	}
	return nil, nil
}
