package routing

import "bytes"

// ValueMatch is a condition on a value that requests have by a name.
type ValueMatch struct {
	Name string
	// Value is compared byte for byte.
	Value []byte
	// AnyBefore and AnyBehind let anything stand before and behind Value. With both and an empty
	// Value the name only has to be there.
	AnyBefore, AnyBehind bool
}

func (m *ValueMatch) holds(value []byte) bool {
	switch {
	case m.AnyBefore && m.AnyBehind:
		return bytes.Contains(value, m.Value)
	case m.AnyBefore:
		return bytes.HasSuffix(value, m.Value)
	case m.AnyBehind:
		return bytes.HasPrefix(value, m.Value)
	}
	return bytes.Equal(value, m.Value)
}
