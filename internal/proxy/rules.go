package proxy

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/template"
)

// FieldRules are the rules of a route for fields. The zero FieldRules are none. They are immutable.
//
// Beside those of internal/field they set fields whose values have places: these are made anew for each message.
// What keys are made of is the template in their stead (Value, Set): its places of the URL say nothing that the URL of the key does
// not say, and by one of the client nothing is selected (unselectable).
type FieldRules struct {
	*field.Rules
	fixed field.List // that are set to the same value in each message
	made  []madeField
}

// madeField is a field with a value that is made.
type madeField struct {
	name  string // canonical
	value template.Template
}

// RequestRules returns rules for fields on their way to the origin. Their values may have all places. Its
// error joins a *field.RuleError for all that is wrong.
func RequestRules(remove []string, set map[string]string) (FieldRules, error) {
	return newFieldRules(remove, set, template.All, func(name string) bool {
		name = field.Hyphenated(name)
		return rfc9111.HopByHop(name) || framing(name) || ours(name) || forKeeps(name) || precondition(name)
	})
}

// ResponseRules is RequestRules for fields on their way from the origin, with places of the URL alone: they apply before a
// response is stored.
func ResponseRules(remove []string, set map[string]string) (FieldRules, error) {
	return newFieldRules(remove, set, template.OfURL, fixedInResponses)
}

// AnswerRules are those for the fields of an OwnAnswer, which nobody else gets: all places are good.
func AnswerRules(set map[string]string) (FieldRules, error) {
	return newFieldRules(nil, set, template.All, fixedInResponses)
}

func fixedInResponses(name string) bool {
	switch name = field.Hyphenated(name); name {
	case "Content-Length", "Content-Range", "Content-Encoding", "Age", "Date", "Via", headerCacheStatus:
		return true
	}
	return rfc9111.HopByHop(name)
}

func newFieldRules(remove []string, set map[string]string, places template.Places, fixed func(name string) bool) (FieldRules, error) {
	texts, made := map[string]string{}, map[string]template.Template{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(set)) {
		t, err := template.Parse(set[name], places)
		switch texts[name] = set[name]; {
		case err != nil:
			problems = append(problems, &field.RuleError{Rule: "set", Name: name, Want: err.Error()})
		case t.Open():
			made[field.Canonical(name)] = t
		default:
			texts[name] = t.Text()
		}
	}
	rules, err := field.NewRules(remove, texts, fixed)
	if err = errors.Join(append(problems, err)...); err != nil {
		return FieldRules{}, err
	}
	out := FieldRules{Rules: rules}
	for _, f := range rules.Set() {
		if t, ok := made[f.Name]; ok {
			out.made = append(out.made, madeField{f.Name, t})
		} else {
			out.fixed = append(out.fixed, f)
		}
	}
	return out, nil
}

// identify reports whether a value has the id of the request.
func (r *FieldRules) identify() bool {
	return slices.ContainsFunc(r.made, func(f madeField) bool { return f.value.Identifies() })
}

// unselectable reports whether the field of this canonical name is made of what no later request can have in common with
// an earlier one by its URL: of the client.
func (r *FieldRules) unselectable(name string) bool {
	return slices.ContainsFunc(r.made, func(f madeField) bool { return f.name == name && f.value.OfClient() })
}

// appendSet appends the fields that are set, in a message about u to or from who. One whose value is empty there is left out, as
// field values of nginx are.
func (r *FieldRules) appendSet(list field.List, u template.URL, who template.Client) field.List {
	return r.appendMade(append(list, r.fixed...), u, who)
}

func (r *FieldRules) appendMade(list field.List, u template.URL, who template.Client) field.List {
	for i := range r.made {
		var room [128]byte
		if value := bytes.Trim(r.made[i].value.Append(room[:0], u, who), " \t"); len(value) > 0 {
			list.Add(r.made[i].name, string(value))
		}
	}
	return list
}

// applyTo returns the fields of an answer to request by the rules.
func (r *FieldRules) applyTo(l field.List, request *origin.Request) field.List {
	if len(r.made) == 0 {
		return r.Apply(l)
	}
	scheme, _ := request.Header.Get("X-Forwarded-Proto")
	host, _ := request.Header.Get("X-Forwarded-Host")
	return r.appendSet(l.Without(r.Drops), template.URL{Scheme: scheme, Host: []byte(host), Target: []byte(request.Keyed)}, nil)
}

// originURL is what x asks the origin for, for the rules of requests.
func (x *exchange) originURL() template.URL {
	return template.URL{Scheme: x.scheme, Host: x.host, Target: x.forwarded()}
}

// keyedOrRaw is the target of x as it is keyed, or as it came where x has no key.
func (x *exchange) keyedOrRaw() []byte {
	if x.keyed != nil {
		return x.keyed
	}
	return x.target.Raw
}

// makeAnew has the fields that j sets be about another target than that of x.
func (j *job) makeAnew(x *exchange, target []byte) {
	if rules := &j.route.Request; len(rules.made) > 0 {
		list := j.request.Header.Without(func(name string) bool {
			return slices.ContainsFunc(rules.made, func(f madeField) bool { return f.name == name })
		})
		u := x.originURL()
		u.Target = target
		j.request.Header = rules.appendMade(list, u, x)
	}
	if j.request.Keyed != "" {
		j.request.Keyed = string(target)
	}
}

// applyRules takes out of x what its route takes from requests before anything is made
// of them. The fields of rules are looked at where fields are forwarded and keyed.
func (x *exchange) applyRules() {
	rules := &x.route.Request
	x.asks.authorization = x.asks.authorization && !rules.Drops("Authorization")
	x.asks.cookie = x.asks.cookie && !rules.Drops("Cookie")
	x.stripCookies()
}
