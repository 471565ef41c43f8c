package proxy

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"edgeproxy/internal/field"
	"edgeproxy/internal/template"
)

// This file adds the fields that the operator wants in the answers that we make ourselves: texts, pages of errors, and what a route
// answers in place of an origin. A request without a route has those of its settings.
//
// An error is about one client or one moment, so how long an answer may be kept is set where a route answers itself, and nowhere else:
// errors and texts say no-store. So a place of the client may stand in any of these fields.

// OwnRules are the rules for fields of our own answers. They set alone, and their values may have all places. Its error joins a
// *field.RuleError for all that is wrong.
func OwnRules(set map[string]string) (FieldRules, error) {
	var problems []error
	rest := maps.Clone(set)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if want := wantInstead(field.Hyphenated(field.Canonical(name))); want != "" {
			problems = append(problems, &field.RuleError{Rule: "set", Name: name, Want: want})
			delete(rest, name)
		}
	}
	rules, err := newFieldRules(nil, rest, template.All, fixedInResponses)
	if err = errors.Join(append(problems, err)...); err != nil {
		return FieldRules{}, err
	}
	return rules, nil
}

// wantInstead says what is wanted in place of a field that answers of ours say themselves; "" is that it may be set.
func wantInstead(name string) string {
	switch name {
	case "Allow", "Location", "Retry-After", "Www-Authenticate":
		return "another field: this one depends on the status, and edgeproxy sets it itself"
	}
	if aboutContent(name) {
		return "another field: this one describes the content of one response; for the response of a route use respond.headers"
	}
	return ""
}

// ownFields are fields of our own answers, ready to be sent.
type ownFields struct {
	lines    []byte // those whose value is the same in each answer
	made     []madeField
	lifetime bool // one of them says how long the answer may be kept
}

// add adds what r sets, as far as keep says.
func (o *ownFields) add(r *FieldRules, keep func(name string) bool) {
	for _, f := range r.fixed {
		if keep(f.Name) {
			o.lines = append(append(append(append(o.lines, f.Name...), ": "...), f.Value...), "\r\n"...)
			o.lifetime = o.lifetime || aboutLifetime(f.Name)
		}
	}
	for _, f := range r.made {
		if keep(f.name) {
			o.made = append(o.made, f)
			o.lifetime = o.lifetime || aboutLifetime(f.name)
		}
	}
}

// textFields are the fields of r in texts and pages of ours, which are not kept.
func textFields(r *FieldRules) (o ownFields) {
	o.add(r, func(name string) bool { return !aboutLifetime(name) })
	return o
}

// identify reports whether a value has the id of the request.
func (o *ownFields) identify() bool {
	return slices.ContainsFunc(o.made, func(f madeField) bool { return f.value.Identifies() })
}

// ofClient reports whether what the fields say may differ between requests for one URL.
func (o *ownFields) ofClient() bool {
	return slices.ContainsFunc(o.made, func(f madeField) bool { return f.value.OfClient() })
}

// append appends the fields as lines of an answer to x. One whose value is empty is left out.
func (o *ownFields) append(b []byte, x *exchange) []byte {
	for i := range o.made {
		var room [128]byte
		if value := bytes.Trim(o.made[i].value.Append(room[:0], x.askedURL(), x), " \t"); len(value) > 0 {
			b = append(append(b, o.made[i].name...), ": "...)
			b = append(append(b, value...), "\r\n"...)
		}
	}
	return append(b, o.lines...)
}

// askedURL is what the client of x asks for, for the fields of our own answers.
func (x *exchange) askedURL() template.URL {
	return template.URL{Scheme: x.scheme, Host: x.host, Target: x.target.Raw}
}

// ownFields are those of a text of ours for x.
func (x *exchange) ownFields() *ownFields {
	if x.route == nil {
		return &x.settings.own
	}
	return &x.route.own
}

// aboutLifetime reports whether a field says for how long an answer may be kept.
func aboutLifetime(name string) bool {
	switch name {
	case "Expires", "Pragma", "Surrogate-Control":
		return true
	}
	return strings.HasSuffix(name, "Cache-Control")
}
