package proxy

import (
	"edgeproxy/internal/field"
	"edgeproxy/internal/rfc9111"
)

// RequestRules returns rules for fields on their way to the origin, nil for none. Its
// error joins a *field.RuleError for all that is wrong.
func RequestRules(remove []string, set map[string]string) (*field.Rules, error) {
	return field.NewRules(remove, set, func(name string) bool {
		name = field.Hyphenated(name)
		return rfc9111.HopByHop(name) || framing(name) || ours(name) || forKeeps(name) || precondition(name)
	})
}

// ResponseRules is RequestRules for fields on their way from the origin.
func ResponseRules(remove []string, set map[string]string) (*field.Rules, error) {
	return field.NewRules(remove, set, func(name string) bool {
		switch name = field.Hyphenated(name); name {
		case "Content-Length", "Content-Range", "Content-Encoding", "Age", "Date", "Via", headerCacheStatus:
			return true
		}
		return rfc9111.HopByHop(name)
	})
}

// applyRules takes out of x what its route takes from requests before anything is made
// of them. The fields of rules are looked at where fields are forwarded and keyed.
func (x *exchange) applyRules() {
	rules := x.route.Request
	x.asks.authorization = x.asks.authorization && !rules.Drops("Authorization")
	x.asks.cookie = x.asks.cookie && !rules.Drops("Cookie")
	x.stripCookies()
}
