package config

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Schema returns the JSON Schema of the file (draft 2020-12), for editors. It has keys,
// types and the ranges of numbers. Conditions between settings are left to edgeproxy check.
func Schema() []byte {
	root := new(Config).table().schema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "edgeproxy"
	root["description"] = "The configuration file of edgeproxy. What is left out has its default."
	delete(root, "required") // --origin may stand in for origins
	root["$defs"] = object{
		"variable": object{"description": "a text with a variable: ${VAR} or ${VAR:-default}", "type": "string", "pattern": `\$\{`},
		routeShape: sample((*Route).table).schema(),
		"text":     object{"type": []string{"string", "number", "boolean"}},
		"size": orVariable(object{
			"description": "a size: B, KB, KiB, MB, MiB, GB or GiB, such as 256MiB",
			"anyOf":       []any{object{"const": 0}, object{"type": "string", "pattern": `^([0-9]*\.?[0-9]+ ?([KkMmGg][Ii]?)?[Bb]|0)$`}},
		}),
		"duration": orVariable(object{
			"description": "a duration with units: ms, s, m, h, d or w, such as 30s or 1h30m",
			"type":        "string", "pattern": `^\+?([0-9]*\.?[0-9]+(ns|us|µs|μs|ms|s|m|h|d|w))+$`,
		}),
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err) // it holds nothing that JSON does not
	}
	return out.Bytes()
}

// ref is a reference to one of the definitions.
func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// orVariable is a JSON Schema of shape or a text with a variable.
func orVariable(shape object) object {
	return object{"anyOf": []any{maps.Clone(shape), ref("variable")}}
}

// schema returns the JSON Schema of a section.
func (t table) schema() object {
	properties := object{}
	var required []string
	for _, s := range t {
		if !s.isDocumented() {
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

// schema returns the JSON Schema of a setting. Its description has the range and the default.
func (s row) schema() object {
	out := s.value.schema()
	about := s.about
	if bounds := s.value.bounds(); bounds != "" {
		about += " Range: " + bounds + "."
	}
	if text := s.defaultText(); text != "" {
		about += " Default: " + text + "."
	}
	if s.effect() != "" {
		about += " Takes effect: " + s.effect() + "."
	}
	out["description"] = about
	return out
}
