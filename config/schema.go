package config

import "maps"

// ref is a reference to one of the definitions.
func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// orVariable is a shape or a text with a variable in it.
func orVariable(shape object) object {
	return object{"anyOf": []any{maps.Clone(shape), ref("variable")}}
}

// schema is that of a section.
func (t table) schema() object {
	properties := object{}
	var required []string
	for _, s := range t {
		if !s.told() {
			continue
		}
		properties[s.name] = s.schema()
		if s.required {
			required = append(required, s.name)
		}
	}
	out := object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	return out
}

func (s setting) schema() object {
	out := s.value.schema()
	out["description"] = s.about
	return out
}
