package accesslog

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Format says how a line is written. Nil is JSON. It is immutable, and safe for concurrent
// use.
type Format struct {
	parts []part // nil: combined
}

// part is a piece of a template: literal text, or a field.
type part struct {
	text  string // "": field
	field id
}

// Form is what an operator chooses of formats.
type Form uint8

// The forms.
const (
	FormJSON     Form = iota // one object with all fields
	FormCombined             // the format of Apache and nginx
	FormTemplate             // see Template
)

// String returns the word of f in the configuration.
func (f Form) String() string { return [...]string{"json", "combined", "template"}[f] }

// Format returns the format of f. template is that of FormTemplate; one that Template refuses is as FormJSON.
func (f Form) Format(template string) *Format {
	switch f {
	case FormCombined:
		return Combined()
	case FormTemplate:
		if f, err := Template(template); err == nil {
			return f
		}
	case FormJSON:
	}
	return nil
}

// Combined is the combined format of Apache and nginx.
func Combined() *Format { return &Format{} }

// Template returns the format of a template: text in which {name} stands for a field of Fields, and
// {{ and }} for braces. Other text is written unchanged. Values are escaped as in Combined; an empty
// value is a hyphen. The error says what is wrong and what is wanted.
func Template(template string) (*Format, error) {
	f := &Format{parts: []part{}}
	if strings.ContainsFunc(template, unicode.IsControl) {
		return nil, errors.New("must be text without control characters: one request is one line")
	}
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			f.parts = append(f.parts, part{text: text.String()})
			text.Reset()
		}
	}
	named := false
	for rest := template; rest != ""; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			text.WriteString(rest)
			break
		}
		text.WriteString(rest[:at])
		brace := rest[at]
		if rest = rest[at+1:]; rest != "" && rest[0] == brace {
			text.WriteByte(brace)
			rest = rest[1:]
			continue
		}
		name, behind, closed := strings.Cut(rest, "}")
		if brace == '}' || !closed {
			return nil, fmt.Errorf("must be {name} for a field, and two for a brace: %q has one of its own", string(brace))
		}
		field, known := fieldNamed(name)
		if !known {
			return nil, fmt.Errorf("unknown field {%s}, must be one of %s", name, names())
		}
		flush()
		f.parts = append(f.parts, part{field: field})
		rest, named = behind, true
	}
	flush()
	if !named {
		return nil, errors.New("must be at least one field, such as {client}")
	}
	return f, nil
}

// names lists the fields.
func names() string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return strings.Join(out, ", ")
}

// append appends l and a line feed.
func (f *Format) append(b []byte, c *clock, l *Line) []byte {
	switch {
	case f == nil:
		b = l.appendLine(b, c)
	case f.parts == nil:
		b = l.appendCombined(b, c)
	default:
		for i := range f.parts {
			if p := &f.parts[i]; p.text != "" {
				b = append(b, p.text...)
			} else {
				b = l.appendValue(b, c, p.field)
			}
		}
	}
	return append(b, '\n')
}
