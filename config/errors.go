package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Errors is every problem of a configuration, in the order of the file and of those that it includes. It is never
// empty. errors.As finds the first *FieldError.
type Errors []*FieldError

// Error returns the problems, a line each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems one by one.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, f := range e {
		out[i] = f
	}
	return out
}

// Unique returns e without repeated problems: one inherited setting can be at fault for several routes.
func (e Errors) Unique() (out Errors) {
	seen := make(map[FieldError]bool, len(e))
	for _, f := range e {
		if !seen[*f] {
			seen[*f] = true
			out = append(out, f)
		}
	}
	return out
}

// FieldError is one problem at one place.
type FieldError struct {
	File   string // the name that was given to Load or Parse; "" is the command line
	Line   int    // from 1; 0 is the command line
	Column int    // from 1, in characters
	Path   string // the path of the key, such as routes[0].match.hosts, or the flag; "" is the file's syntax

	// Value is the text as it stands in the file or flag, shortened, and quoted
	// where it is empty or does not print; "" is where there is no text. What a
	// variable expanded to is never in it, nor what may be a password in a URL.
	Value string

	Want string // what is wanted or what to do, with the reason
}

// Error returns FILE:LINE:COL: key: value: Want, without the parts that are empty.
func (e *FieldError) Error() string {
	return line(e.File, e.Line, e.Column, e.Path, e.Value, e.Want)
}

// Warning is a setting that is valid, but hardly as intended. Its fields are those
// of a FieldError.
type Warning struct {
	File         string
	Line, Column int
	Path, Value  string
	Text         string // what happens, and what to do
}

// String returns the warning in the form of an error.
func (w Warning) String() string {
	return line(w.File, w.Line, w.Column, w.Path, w.Value, w.Text)
}

func line(file string, row, column int, parts ...string) string {
	if row > 0 {
		file += ":" + strconv.Itoa(row) + ":" + strconv.Itoa(column)
	}
	parts = append([]string{file}, parts...)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// maxShown is the largest number of characters of a value that an error shows.
const maxShown = 80

// shown returns text in the form that FieldError.Value has.
func shown(text string) string {
	text = masked(text)
	runes := []rune(text)
	if len(runes) > maxShown {
		text = string(runes[:maxShown]) + "…"
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// masked returns text with stars in place of the user and password of a URL: all from
// the slashes to the last @. It masks in a misspelt URL as well.
func masked(text string) string {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	scheme := text[:strings.IndexByte(text[:at], '/')+1]
	if strings.HasPrefix(text[len(scheme):at], "/") {
		scheme += "/"
	}
	return scheme + "***" + text[at:]
}
