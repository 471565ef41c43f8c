package fieldrules

import (
	"errors"
	"maps"
	"slices"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/template"
)

// ForRequests returns rules for fields on their way to the origin. Names may be in any case, and one of remove or only may end in *.
// If only is not empty, what it does not name is removed. The values may have all placeholders. Fields that are not Keyable, or may be
// taken for one, are refused: the proxy alone says or evaluates them. The error joins a *field.RuleError for each mistake.
func ForRequests(remove, only []string, set map[string]string) (Rules, error) {
	return newRules(remove, only, set, template.All, func(name string) bool { return !Keyable(field.Hyphenated(name)) })
}

// ForResponses is ForRequests for fields on their way from the origin, with placeholders of the URL alone: they apply before a
// response is stored.
func ForResponses(remove []string, set map[string]string) (Rules, error) {
	return newRules(remove, nil, set, template.OfURL, reservedInResponses)
}

// ForAnswers returns the rules for the fields of an answer in place of an origin, which is not stored, so all placeholders are
// allowed. The error is that of ForRequests.
func ForAnswers(set map[string]string) (Rules, error) {
	return newRules(nil, nil, set, template.All, reservedInResponses)
}

// ForGenerated returns the rules for fields of all answers that the proxy makes itself, errors included. They only set fields, and their
// values may have all placeholders. The error is that of ForRequests.
func ForGenerated(set map[string]string) (Rules, error) {
	var problems []error
	rest := maps.Clone(set)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if want := wantInstead(field.Hyphenated(field.Canonical(name))); want != "" {
			problems = append(problems, &field.RuleError{Rule: "set", Name: name, Want: want})
			delete(rest, name)
		}
	}
	rules, err := newRules(nil, nil, rest, template.All, reservedInResponses)
	if err = errors.Join(append(problems, err)...); err != nil {
		return Rules{}, err
	}
	return rules, nil
}

func reservedInResponses(name string) bool {
	switch name = field.Hyphenated(name); name {
	case "Content-Length", "Content-Range", "Content-Encoding", "Age", "Date", "Via", "Cache-Status":
		return true
	}
	return rfc9111.HopByHop(name)
}

// wantInstead says what is wanted in place of a field that edgeproxy sets itself in these answers; "" means that it may be set.
func wantInstead(name string) string {
	switch name {
	case "Allow", "Location", "Retry-After", "Www-Authenticate":
		return "another field: this one depends on the status, and edgeproxy sets it itself"
	}
	if AboutContent(name) {
		return "another field: this one describes the content of one response; for the response of a route use respond.headers"
	}
	return ""
}

func newRules(remove, only []string, set map[string]string, allowed template.Placeholders, reserved func(name string) bool) (Rules, error) {
	texts, made := map[string]string{}, map[string]template.Template{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(set)) {
		t, err := template.Parse(set[name], allowed)
		switch texts[name] = set[name]; {
		case err != nil:
			problems = append(problems, &field.RuleError{Rule: "set", Name: name, Want: err.Error()})
		case t.HasPlaceholders():
			made[field.Canonical(name)] = t
		default:
			texts[name] = t.Text()
		}
	}
	rules, err := field.NewRules(remove, only, texts, reserved)
	if err = errors.Join(append(problems, err)...); err != nil {
		return Rules{}, err
	}
	out := Rules{Rules: rules}
	for _, f := range rules.Set() {
		if t, ok := made[f.Name]; ok {
			out.made = append(out.made, madeField{f.Name, t})
		} else {
			out.fixed = append(out.fixed, f)
		}
	}
	return out, nil
}
