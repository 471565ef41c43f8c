package fieldrules

import (
	"bytes"
	"slices"

	"edgeproxy/internal/route/template"
)

// Lines are fields of answers that the proxy makes itself, ready to be written. They are built by Add and AddLine, and then do not change.
// The zero Lines are none.
type Lines struct {
	lines    []byte // lines whose value is the same in each answer
	made     []madeField
	lifetime bool // one of them says how long the answer may be kept
}

// Add adds the fields that r sets and for whose canonical name keep returns true.
func (l *Lines) Add(r *Rules, keep func(name string) bool) {
	for _, f := range r.fixed {
		if keep(f.Name) {
			l.AddLine(f.Name, f.Value)
			l.lifetime = l.lifetime || AboutLifetime(f.Name)
		}
	}
	for _, f := range r.made {
		if keep(f.name) {
			l.made = append(l.made, f)
			l.lifetime = l.lifetime || AboutLifetime(f.name)
		}
	}
}

// AddLine adds one field that is the same in each answer. Name and value must be valid (field.ValidName, field.ValidValue).
func (l *Lines) AddLine(name, value string) {
	l.lines = append(append(append(append(l.lines, name...), ": "...), value...), "\r\n"...)
}

// SetsLifetime reports whether one of the fields says for how long the answer may be kept (AboutLifetime).
func (l *Lines) SetsLifetime() bool { return l.lifetime }

// OfTexts returns the fields of r for error texts and error pages. Fields about how long an answer may be kept are left out, since
// errors must not be cached.
func OfTexts(r *Rules) (l Lines) {
	l.Add(r, func(name string) bool { return !AboutLifetime(name) })
	return l
}

// HasRequestID reports whether a value has the id of the request.
func (l *Lines) HasRequestID() bool {
	return slices.ContainsFunc(l.made, func(f madeField) bool { return f.value.HasRequestID() })
}

// OfClient reports whether what the fields say may differ between requests for one URL.
func (l *Lines) OfClient() bool {
	return slices.ContainsFunc(l.made, func(f madeField) bool { return f.value.OfClient() })
}

// Append appends the fields as lines of an answer about u to who, each with CR and LF. One whose value is empty is left out.
func (l *Lines) Append(b []byte, u template.URL, who template.Client) []byte {
	for i := range l.made {
		var room [128]byte
		if value := bytes.Trim(l.made[i].value.Append(room[:0], u, who), " \t"); len(value) > 0 {
			b = append(append(b, l.made[i].name...), ": "...)
			b = append(append(b, value...), "\r\n"...)
		}
	}
	return append(b, l.lines...)
}
