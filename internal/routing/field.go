package routing

import (
	"bytes"
	"slices"
)

// FieldMatch is a condition on a field of requests: its value, several lines joined, is Value.
type FieldMatch struct {
	Name string // canonical
	// Value is compared byte for byte, without spaces around it.
	Value []byte
	// AnyBefore and AnyBehind let anything stand before and behind Value. With both and an empty
	// Value the field only has to be there.
	AnyBefore, AnyBehind bool
}

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

func (f *FieldMatch) holds(value []byte) bool {
	switch {
	case f.AnyBefore && f.AnyBehind:
		return bytes.Contains(value, f.Value)
	case f.AnyBefore:
		return bytes.HasSuffix(value, f.Value)
	case f.AnyBehind:
		return bytes.HasPrefix(value, f.Value)
	}
	return bytes.Equal(value, f.Value)
}

// GoesBy reports whether m goes by the field of this canonical name.
func (m *Match) GoesBy(name string) bool {
	return slices.ContainsFunc(m.Fields, func(f FieldMatch) bool { return f.Name == name })
}
