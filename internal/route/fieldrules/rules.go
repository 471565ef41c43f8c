package fieldrules

import (
	"bytes"
	"slices"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/template"
)

// Rules are rules for the fields of one kind of message. The zero Rules are none. They are immutable.
//
// Besides fixed values they set values with placeholders, which are filled for each message. Value and Set return the
// template, and cache keys are made of that: its placeholders of the URL say nothing that the URL of the key does not say,
// and a field with one of the client never selects a response (Unselectable).
type Rules struct {
	*field.Rules
	fixed field.List // fields that are set to the same value in each message
	made  []madeField
}

// madeField is a field with a value that is made.
type madeField struct {
	name  string // canonical
	value template.Template
}

// HasRequestID reports whether a value has the id of the request.
func (r *Rules) HasRequestID() bool {
	return slices.ContainsFunc(r.made, func(f madeField) bool { return f.value.HasRequestID() })
}

// Unselectable reports whether the value of the field of this canonical name depends on the client, so that no later request
// would match it.
func (r *Rules) Unselectable(name string) bool {
	return slices.ContainsFunc(r.made, func(f madeField) bool { return f.name == name && f.value.OfClient() })
}

// HasPlaceholders reports whether any value has placeholders.
func (r *Rules) HasPlaceholders() bool { return len(r.made) > 0 }

// MakeAnew returns list with the fields that have placeholders filled again, for u and who.
func (r *Rules) MakeAnew(list field.List, u template.URL, who template.Client) field.List {
	return r.appendMade(list.Without(func(name string) bool {
		return slices.ContainsFunc(r.made, func(f madeField) bool { return f.name == name })
	}), u, who)
}

// AppendSet appends the fields that are set, in a message about u to or from who. One whose value is empty there is left out, as
// field values of nginx are.
func (r *Rules) AppendSet(list field.List, u template.URL, who template.Client) field.List {
	return r.appendMade(append(list, r.fixed...), u, who)
}

func (r *Rules) appendMade(list field.List, u template.URL, who template.Client) field.List {
	for i := range r.made {
		var room [128]byte
		if value := bytes.Trim(r.made[i].value.Append(room[:0], u, who), " \t"); len(value) > 0 {
			list.Add(r.made[i].name, string(value))
		}
	}
	return list
}
