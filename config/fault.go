package config

import "errors"

// Warn returns a warning of the value at path, for a reason that this package does not check.
func (c *Config) Warn(path, text string) Warning {
	f := c.Fault(path, text)
	return Warning{File: f.File, Line: f.Line, Column: f.Column, Path: f.Path, Value: f.Value, Text: text}
}

// Fault returns an error of the value at path, for a reason that this package does
// not check. path is the value's key, with dots. want is as in FieldError.
func (c *Config) Fault(path, want string) *FieldError { return c.src.fault(path, want) }

// Given returns the first of paths that has a value in the file or by a flag, or the last
// one if none has. So it finds the place of a value that a route has or inherits.
func (c *Config) Given(paths ...string) string { return c.src.firstGiven(paths...) }

// fault returns an error of the value at path, at its place or at that of the section around it.
func (s *source) fault(path, want string) *FieldError {
	p, exact := s.locate(path)
	e := &FieldError{File: s.fileOf(p), Line: p.line, Column: p.column, Path: path, Want: want}
	if exact && p.scalar {
		e.Value = shown(p.text)
	}
	return e
}

// firstGiven returns the first of paths that was given, or the last one.
func (s *source) firstGiven(paths ...string) string {
	for _, path := range paths {
		if s.given(path) {
			return path
		}
	}
	return paths[len(paths)-1]
}

// Joined returns the errors of one type that err joins.
func Joined[E error](err error) (out []E) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			out = append(out, Joined[E](e)...)
		}
		return out
	}
	if one, ok := errors.AsType[E](err); ok {
		out = append(out, one)
	}
	return out
}
