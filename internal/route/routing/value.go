package routing

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// ValueMatch is a condition on a value that requests have by a name.
type ValueMatch struct {
	Name string
	// Value is compared byte for byte.
	Value []byte
	// AnyBefore and AnyBehind let anything stand before and behind Value. With both and an empty
	// Value the name only has to be there.
	AnyBefore, AnyBehind bool
}

// ParseValues reads conditions from the texts of values by their names, sorted by name. A * at the beginning or the end of a text
// stands for anything, a * alone for any value.
func ParseValues(texts map[string]string) (out []ValueMatch) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		out = append(out, ValueMatch{
			Name: name, Value: []byte(strings.Trim(text, "*")), AnyBefore: strings.HasPrefix(text, "*"), AnyBehind: strings.HasSuffix(text, "*"),
		})
	}
	return out
}

// String returns the text of the value that m wants; see ParseValues.
func (m *ValueMatch) String() string {
	text := string(m.Value)
	switch {
	case m.Any():
		return "*"
	case m.AnyBefore:
		text = "*" + text
	}
	if m.AnyBehind {
		text += "*"
	}
	return text
}

// Any reports whether any value will do.
func (m *ValueMatch) Any() bool { return len(m.Value) == 0 && (m.AnyBefore || m.AnyBehind) }

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
