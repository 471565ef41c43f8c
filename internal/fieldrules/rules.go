package fieldrules

import (
	"bytes"
	"slices"

	"edgeproxy/internal/field"
	"edgeproxy/internal/template"
)

// Rules are rules for the fields of one kind of message. The zero Rules are none. They are immutable.
//
// Beside those of internal/field they set fields whose values have placeholders: these are made anew for each message.
// What keys are made of is the template in their stead (Value, Set): its placeholders of the URL say nothing that the URL of
// the key does not say, and by one of the client nothing is selected (Unselectable).
type Rules struct {
	*field.Rules
	fixed field.List // that are set to the same value in each message
	made  []madeField
}

// madeField is a field with a value that is made.
type madeField struct {
	name  string // canonical
	value template.Template
}

// Identifies reports whether a value has the id of the request.
func (r *Rules) Identifies() bool {
	return slices.ContainsFunc(r.made, func(f madeField) bool { return f.value.Identifies() })
}

// Unselectable reports whether the field of this canonical name is made of what no later request can have in common with
// an earlier one by its URL: of the client.
func (r *Rules) Unselectable(name string) bool {
	return slices.ContainsFunc(r.made, func(f madeField) bool { return f.name == name && f.value.OfClient() })
}

// HasPlaces reports whether any value has placeholders.
func (r *Rules) HasPlaces() bool { return len(r.made) > 0 }

// MakeAnew returns list with the fields whose values have placeholders as they are in a message about u and who, in place of those
// that it had.
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
