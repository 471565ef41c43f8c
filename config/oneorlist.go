package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// oneOrList is a text or a list of texts. An empty text is an empty list. A text that is one variable may hold several.
func oneOrList(field *[]string, byDefault []string, want string) *scalar[[]string] {
	s := texts(field, "", "")
	s.byDefault = byDefault
	s.kindText = "text, or list of texts"
	s.yaml = func(all []string) string {
		switch len(all) {
		case 0:
			return `""`
		case 1:
			return quoted(all[0])
		}
		return quotedList(all)
	}
	s.decode = func(d *decoder, f *[]string) func(node) {
		several := elements(d, want, f, func(s *string) func(node) { return d.text(s) })
		return func(n node) {
			_, isList := n.Node.(*ast.SequenceNode)
			if _, isVariable := variableText(n.Node); isList || isVariable {
				several(n)
				return
			}
			if text, _, ok := d.scalar(n, want); ok {
				*f = nil
				if text != "" {
					*f = []string{text}
				}
			}
		}
	}
	s.shape = func() object {
		return object{"anyOf": []any{ref("text"), object{"type": "array", "items": ref("text")}}}
	}
	return s
}

func quotedList(all []string) string {
	parts := make([]string, len(all))
	for i, text := range all {
		parts[i] = quoted(text)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// elementPath returns the path of the i-th of the texts at path, or path itself if it is no list.
func (s *source) elementPath(path string, i int) string {
	if at := item(path, i); s.given(at) {
		return at
	}
	return path
}

// isList reports whether a list was given at path.
func (s *source) isList(path string) bool {
	p, given := s.places.at(path)
	return given && !p.scalar
}
