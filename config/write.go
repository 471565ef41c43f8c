package config

import (
	"strings"
	"unicode/utf8"
)

// writer writes the settings of tables as a YAML file.
type writer struct {
	src      *source
	comments bool // write a comment on each setting
	include  func(s row, path string) inclusion
	note     func(path string) string // a comment behind the element of a list at path; "" is none

	out           strings.Builder
	startsElement bool // the next line is the first of a list's element
	commentIndent int  // the indentation of the section that is written as a comment; -1 is none
}

// inclusion says whether a setting stands in a file, and how.
type inclusion int

const (
	leftOut inclusion = iota
	written
	asComment
)

// Columns of the file, between which comments stand.
const (
	commentColumn = 36
	lastColumn    = 130
)

func newWriter(src *source, comments bool, of func(s row, path string) inclusion) *writer {
	return &writer{src: src, comments: comments, include: of, commentIndent: -1, note: func(string) string { return "" }}
}

// file writes the whole format, with an empty line before each section at the top.
func (w *writer) file(t table) string {
	for _, s := range t {
		before := w.out.Len()
		w.setting(s, s.name, 0)
		if text := w.out.String(); before > 0 && len(text) > before {
			w.out.Reset()
			w.out.WriteString(text[:before] + "\n" + text[before:])
		}
	}
	return w.out.String()
}

func (w *writer) table(t table, path string, indent int) {
	for _, s := range t {
		w.setting(s, child(path, s.name), indent)
	}
}

func (w *writer) setting(s row, path string, indent int) {
	of := leftOut
	if s.isDocumented() {
		of = w.include(s, path)
	}
	if of == leftOut {
		return
	}
	key := quoted(s.name) + ":"
	switch {
	case of == asComment && w.commentIndent < 0:
		w.commentIndent = indent
		defer func() { w.commentIndent = -1 }()
	case of == asComment: // one within another
		key = "# " + key
	}
	switch v := s.value.(type) {
	case *group:
		if !s.inline && (!s.override || !w.comments) {
			w.line(indent, key, s.comment())
			w.table(v.settings(), path, indent+2)
			return
		}
	case collection:
		if !v.inline() {
			w.line(indent, key, s.comment())
			w.elements(v, path, indent+2)
			return
		}
	}
	w.line(indent, key+" "+w.value(s, path), s.comment())
}

// value returns the value of a setting on one line.
func (w *writer) value(s row, path string) string {
	if w.comments && s.optional && s.example != "" {
		return s.example
	}
	if g, ok := s.value.(*group); ok { // with its defaults too
		return g.settings().flowOf(w.src, path, func(s row, at string) bool { return w.include(s, at) != leftOut })
	}
	return s.value.text(w.src, path)
}

func (w *writer) elements(c collection, path string, indent int) {
	for _, e := range c.elements(path) {
		if e.title != "" {
			w.line(indent, e.title+":", "")
			w.table(e.settings(), e.path, indent+2)
			continue
		}
		w.startsElement = true
		w.table(e.settings(), e.path, indent+2)
		if note := w.note(e.path); note != "" {
			w.line(indent+2, "# "+note, "")
		}
	}
}

// line writes one line, with a comment that may continue on further lines.
func (w *writer) line(indent int, text, comment string) {
	lead := strings.Repeat(" ", indent)
	if w.startsElement {
		lead, w.startsElement = lead[:indent-2]+"- ", false
	}
	if w.commentIndent >= 0 {
		lead = lead[:w.commentIndent] + "# " + lead[w.commentIndent:]
	}
	text = lead + text
	w.out.WriteString(text)
	if !w.comments || comment == "" {
		w.out.WriteByte('\n')
		return
	}
	at := utf8.RuneCountInString(text)
	w.out.WriteString(strings.Repeat(" ", max(2, commentColumn-at)) + "#")
	column := max(at+2, commentColumn) + 1
	for word := range strings.FieldsSeq(comment) {
		if n := utf8.RuneCountInString(word) + 1; column+n > lastColumn {
			w.out.WriteString("\n" + strings.Repeat(" ", commentColumn) + "#")
			column = commentColumn + 1
		}
		w.out.WriteString(" " + word)
		column += utf8.RuneCountInString(word) + 1
	}
	w.out.WriteByte('\n')
}

// comment returns the reference file's comment on the setting: the allowed words, the first
// sentence of about, the range, and an example.
func (s row) comment() string {
	first, _, _ := strings.Cut(s.about, ". ")
	out := strings.TrimSuffix(first, ".")
	if c, ok := s.value.(interface{ choices() string }); ok && c.choices() != "" {
		out = c.choices() + ": " + out
	}
	if n, ok := s.value.(interface{ fileBounds() string }); ok && n.fileBounds() != "" {
		out += " (" + n.fileBounds() + ")"
	}
	if s.example != "" && !s.optional {
		out += "; such as " + s.example
	}
	return out
}
