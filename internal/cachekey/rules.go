package cachekey

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"edgeproxy/internal/field"
)

// Limits of rules: beyond them, a mistake is likelier than a need, and each request
// pays for each name.
const (
	maxNames     = 64
	maxNameBytes = 128
)

// Options are the rules of one route; none leave the key as it is.
type Options struct {
	// IgnoreQuery names query parameters that take no part in the key. A name that
	// ends in * stands for all that begin so: utm_* is one rule, * alone drops the
	// whole query.
	IgnoreQuery []string
	// OnlyQuery names those that do, as IgnoreQuery does; all others are ignored.
	// Only one of the two may be given.
	OnlyQuery []string
	// SortQuery puts the parameters in the order of their names. Parameters of the
	// same name keep theirs.
	SortQuery bool
	// Headers names request fields that select a response. Case does not matter.
	Headers []string
	// Cookies names cookies that do. Case matters.
	Cookies []string
}

// Rules are Options made ready for requests. They are immutable. The zero Rules
// have no rule.
type Rules struct {
	query   bool // there is a query rule
	keep    bool // names are those to keep, not those to ignore
	names   patterns
	sort    bool
	headers []string // canonical, sorted
	cookies []string // sorted
	route   string   // see Within
}

// Within returns rules that mean the same and add the name of a route to the selectors. They are for
// a route that shares URLs with others: what is stored for one is then not found by another. The name
// is not empty.
func (r *Rules) Within(route string) *Rules {
	own := *r
	own.route = route
	return &own
}

// RuleError says what is wrong with one rule.
type RuleError struct {
	Rule  string // as in the configuration, such as "ignore_query"
	Value string // the name it is about; "" if it is about the rule
	Want  string
}

func (e *RuleError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: want %s", e.Rule, e.Want)
	}
	return fmt.Sprintf("%s: %q: want %s", e.Rule, e.Value, e.Want)
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
		problems = append(problems, &RuleError{Rule: "only_query", Want: "no ignore_query beside it: only what is listed here is kept"})
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
	r.headers = set(r.headers)
	r.cookies = set(slices.Clone(o.Cookies))
	return r, nil
}

// set makes names sorted, each once: rules that mean the same give the same keys.
func set(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// validParameter accepts any name a parameter may decode to. A star may stand at
// the end alone; elsewhere it would look like a rule that there is not.
func validParameter(name string) bool {
	return name != "" && strings.IndexByte(name[:len(name)-1], '*') < 0
}

// validHeader refuses what has its own place in the key: Host is in the URL part,
// and single cookies have a rule of their own. All of Cookie would be a key for
// each client.
func validHeader(name string) bool {
	switch field.Canonical(name) {
	case "Host", "Cookie":
		return false
	}
	return field.ValidName(name) && !starred(name)
}

// validCookie refuses what no line has that only one reading fits.
func validCookie(name string) bool {
	return validCookieName(name) && !attribute(name) && !starred(name)
}

// starred reports whether name looks like a pattern. Tokens may have a star, but no
// field or cookie that is in use does.
func starred(name string) bool { return strings.Contains(name, "*") }
