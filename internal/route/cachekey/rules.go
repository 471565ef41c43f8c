package cachekey

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
)

// Limits of rules: more is probably a mistake, and each request pays for each name.
const (
	maxNames     = 64
	maxNameBytes = 128
)

// Options are the rules of one route. Without rules the key does not change.
type Options struct {
	// IgnoreQuery names query parameters that are not in the key. A * at the end stands for
	// any ending: utm_* is one rule, * alone drops the whole query.
	IgnoreQuery []string
	// OnlyQuery names the only parameters in the key, in the form of IgnoreQuery. Only one
	// of the two may be given.
	OnlyQuery []string
	// SortQuery sorts the parameters by their names. Parameters of the same name keep
	// their order.
	SortQuery bool
	// Headers names request fields that select a response. Case does not matter.
	Headers []string
	// Cookies names cookies that do. Case matters.
	Cookies []string
}

// Rules are Options, prepared for requests. They are immutable. The zero Rules have no
// rule.
type Rules struct {
	query   bool // there is a query rule
	keep    bool // names are to be kept, not to be ignored
	names   patterns
	sort    bool
	headers []string // canonical, sorted
	cookies []string // sorted
	route   string   // see Within
}

// Within returns the same rules with the name of a route as a selector. They are for a route that
// shares URLs with others: a response that is stored for one route is then not found by another. The
// name must not be empty.
func (r *Rules) Within(route string) *Rules {
	own := *r
	own.route = route
	return &own
}

// RuleError says what is wrong with one rule.
type RuleError struct {
	Rule  string // name in the configuration, such as "ignore_query"
	Value string // the name it is about; "" if it is about the rule
	Want  string
}

func (e *RuleError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: must be %s", e.Rule, e.Want)
	}
	return fmt.Sprintf("%s: %q: must be %s", e.Rule, e.Value, e.Want)
}

// New returns the Rules for o. Its error joins a *RuleError for everything that is
// wrong. It copies what it keeps of o.
func New(o Options) (*Rules, error) {
	var problems []error
	check := func(rule string, names []string, want string, valid func(string) bool) {
		if len(names) > maxNames {
			problems = append(problems, &RuleError{Rule: rule, Want: fmt.Sprintf("at most %d names, not %d", maxNames, len(names))})
			return
		}
		for _, name := range names {
			if len(name) > maxNameBytes || !valid(name) {
				problems = append(problems, &RuleError{Rule: rule, Value: name, Want: fmt.Sprintf("%s, up to %d bytes", want, maxNameBytes)})
			}
		}
	}
	check("ignore_query", o.IgnoreQuery, "the decoded name of a parameter, or how it begins and *", validParameter)
	check("only_query", o.OnlyQuery, "the decoded name of a parameter, or how it begins and *", validParameter)
	check("headers", o.Headers, "the name of a header field other than Host and Cookie, without *", validHeader)
	check("cookies", o.Cookies, "the name of a cookie, without *", validCookie)
	if len(o.IgnoreQuery) > 0 && len(o.OnlyQuery) > 0 {
		problems = append(problems, &RuleError{Rule: "only_query", Want: "without ignore_query beside it: only what is listed here is kept"})
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	r := &Rules{
		query: len(o.IgnoreQuery)+len(o.OnlyQuery) > 0 || o.SortQuery,
		keep:  len(o.OnlyQuery) > 0,
		names: newPatterns(slices.Concat(o.IgnoreQuery, o.OnlyQuery)),
		sort:  o.SortQuery,
	}
	for _, name := range o.Headers {
		r.headers = append(r.headers, field.Canonical(name))
	}
	r.headers = sortedUnique(r.headers)
	r.cookies = sortedUnique(slices.Clone(o.Cookies))
	return r, nil
}

// sortedUnique sorts names and removes duplicates, so that rules with the same meaning give the
// same keys.
func sortedUnique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// validParameter accepts any decoded name of a parameter. A star is only allowed at the end:
// elsewhere it would look like a wildcard.
func validParameter(name string) bool {
	return name != "" && strings.IndexByte(name[:len(name)-1], '*') < 0
}

// validHeader refuses fields with a place of their own in the key: Host is in the URL part,
// and cookies have their own rule. The whole of Cookie would give each client its own key.
func validHeader(name string) bool {
	switch field.Canonical(name) {
	case "Host", "Cookie":
		return false
	}
	return field.ValidName(name) && !hasStar(name)
}

// validCookie refuses names that no Readable line has, and patterns.
func validCookie(name string) bool {
	return validCookieName(name) && !isAttribute(name) && !hasStar(name)
}

// hasStar reports whether name looks like a pattern. Tokens may have a star, but no
// field or cookie that is in use does.
func hasStar(name string) bool { return strings.Contains(name, "*") }
