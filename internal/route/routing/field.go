package routing

import "slices"

// Fields are those of a request.
type Fields interface {
	// FieldValue returns the one value of the field of a canonical name, which is valid until the
	// next call; ok is false where the request does not have the field.
	FieldValue(name string) (value []byte, ok bool)
}

// TakesFields reports whether the fields are those that m is for.
func (m *Match) TakesFields(fields Fields) bool {
	for i := range m.Fields {
		f := &m.Fields[i]
		value, ok := fields.FieldValue(f.Name)
		if !ok || !f.holds(value) {
			return false
		}
	}
	return true
}

// GoesBy reports whether m goes by the field of this canonical name.
func (m *Match) GoesBy(name string) bool {
	return slices.ContainsFunc(m.Fields, func(f ValueMatch) bool { return f.Name == name })
}
