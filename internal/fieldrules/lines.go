package fieldrules

import (
	"bytes"
	"slices"

	"edgeproxy/internal/template"
)

// Lines are fields of answers that the proxy makes itself, ready to be written. They are built by Add, and then do not change.
// The zero Lines are none.
type Lines struct {
	lines    []byte // those whose value is the same in each answer
	made     []madeField
	lifetime bool // one of them says how long the answer may be kept
}

// Add adds what r sets, as far as keep says of each name, which is canonical.
func (o *Lines) Add(r *Rules, keep func(name string) bool) {
	for _, f := range r.fixed {
		if keep(f.Name) {
			o.AddLine(f.Name, f.Value)
			o.lifetime = o.lifetime || AboutLifetime(f.Name)
		}
	}
	for _, f := range r.made {
		if keep(f.name) {
			o.made = append(o.made, f)
			o.lifetime = o.lifetime || AboutLifetime(f.name)
		}
	}
}

// AddLine adds one field that is the same in each answer. Name and value must be valid (field.ValidName, field.ValidValue).
func (o *Lines) AddLine(name, value string) {
	o.lines = append(append(append(append(o.lines, name...), ": "...), value...), "\r\n"...)
}

// SetsLifetime reports whether one of the fields says for how long the answer may be kept (AboutLifetime).
func (o *Lines) SetsLifetime() bool { return o.lifetime }

// OfTexts returns the fields of r for texts and pages of errors: without those that say how long an answer may be kept, for
// these may not be.
func OfTexts(r *Rules) (o Lines) {
	o.Add(r, func(name string) bool { return !AboutLifetime(name) })
	return o
}

// Identifies reports whether a value has the id of the request.
func (o *Lines) Identifies() bool {
	return slices.ContainsFunc(o.made, func(f madeField) bool { return f.value.Identifies() })
}

// OfClient reports whether what the fields say may differ between requests for one URL.
func (o *Lines) OfClient() bool {
	return slices.ContainsFunc(o.made, func(f madeField) bool { return f.value.OfClient() })
}

// Append appends the fields as lines of an answer about u to who, each with CR and LF. One whose value is empty is left out.
func (o *Lines) Append(b []byte, u template.URL, who template.Client) []byte {
	for i := range o.made {
		var room [128]byte
		if value := bytes.Trim(o.made[i].value.Append(room[:0], u, who), " \t"); len(value) > 0 {
			b = append(append(b, o.made[i].name...), ": "...)
			b = append(append(b, value...), "\r\n"...)
		}
	}
	return append(b, o.lines...)
}
